"""The clients that ask for the results of queries in Arrow, each before a server of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from conformance.clients.givenrows import Compared, compared_with
from conformance.clients.programs import ProgramPool
from conformance.engine.corpus import load_corpus
from conformance.protocols.storage_read.clients.queries import QuerySet, Serving, healthy, serving
from conformance.readers.info import ReaderInfo
from conformance.readers.ipc.job import JobAnswer
from conformance.wire import PlainTable

__all__ = ["QueryPool"]

_OP: Final = "query"


class QueryPool(ProgramPool):
    """Programs that read query results; use as a context manager. A server starts for each answer."""

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
        program, path = self._paths[name]
        if not self.is_warm(program):
            with serving(healthy(load_corpus())) as served:
                self.warm_up(program, _request(path, served))
        with serving(asked) as served:
            return self._runners[program].fetch(asked.id, _request(path, served)), []


def _request(path: str, served: Serving) -> Mapping[str, Any]:
    addresses = {"grpc": served.server.grpc_endpoint, "rest": f"http://{served.server.rest_endpoint}"}
    return {"op": _OP, "path": path, **addresses, "project": served.project, "query": served.query}
