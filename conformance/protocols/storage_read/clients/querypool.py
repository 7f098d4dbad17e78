"""The clients that ask for the results of queries in Arrow, each before a server of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, Self

from conformance.clients.givenrows import Compared, compared_with
from conformance.clients.programs import ProgramPool
from conformance.engine.corpus import load_corpus
from conformance.protocols.storage_read.clients.queries import QuerySet, Serving, healthy, serving
from conformance.readers.info import ReaderInfo
from conformance.readers.ipc.job import JobAnswer
from conformance.replay.certificates import CertificateError
from conformance.replay.serverproxy import ServerProxy
from conformance.wire import PlainTable

__all__ = ["QueryPool"]

_OP: Final = "query"


class QueryPool(ProgramPool):
    """Programs that read query results; use as a context manager. A server starts for each answer.

    A program that has no option for the endpoint of the Storage API reaches that server through a proxy.
    """

    def __enter__(self) -> Self:
        if self._tls:
            try:
                self._proxy = self._ends.enter_context(ServerProxy())
            except CertificateError as error:
                self._no_tls = str(error)
        return super().__enter__()

    def put(self, _name: str, asked: QuerySet) -> tuple[QuerySet, str]:
        """The situation as this path sees it, and the reason why it does not, if it does not."""
        return asked, ""

    def served_digest(self, asked: QuerySet) -> str:
        """A digest of what a situation serves."""
        return asked.digest

    def compared(self, info: ReaderInfo, asked: QuerySet, got: PlainTable) -> Compared:
        """The rows that a client gave, compared with those of the result."""
        expected = asked.expected
        return compared_with(expected, got, info, case=asked.id, schema=expected.schema, ordered=asked.ordered)

    def fetch(self, name: str, asked: QuerySet) -> tuple[JobAnswer, Sequence[dict[str, Any]]]:
        """The answer of a client in a situation. The server does not log what it was asked.

        Raises:
            Unavailable: the program cannot be started any more.
        """
        program, _ = self._paths[name]
        if not self.is_warm(program):
            with self._asking(name, healthy(load_corpus())) as request:
                self.warm_up(program, request)
        with self._asking(name, asked) as request:
            return self._runners[program].fetch(asked.id, request), []

    @contextmanager
    def _asking(self, name: str, asked: QuerySet) -> Iterator[Mapping[str, Any]]:
        """The request of a situation, whose server runs until this ends."""
        program, path = self._paths[name]
        with serving(asked) as served:
            request = _request(path, served)
            if program not in self._tls:
                yield request
                return
            with self._proxy.before(grpc=served.server.grpc_port, rest=served.server.rest_port) as address:
                yield {**request, "proxy": address, "ca": str(self._proxy.ca)}


def _request(path: str, served: Serving) -> Mapping[str, Any]:
    addresses = {"grpc": served.server.grpc_endpoint, "rest": f"http://{served.server.rest_endpoint}"}
    return {"op": _OP, "path": path, **addresses, "project": served.project, "query": served.query}
