"""The proxy of :mod:`.front` for servers other than the replay server, each for the time that a client asks it."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from conformance.readers.byteserver import Loop
from conformance.replay.certificates import certify
from conformance.replay.front import Front
from conformance.targets.splice import Splice

__all__ = ["ServerProxy"]

HOST: Final = "127.0.0.1"


class ServerProxy:
    """An authority and its certificate, used as a context manager; ``ca`` is the PEM file of the authority.

    Raises:
        CertificateError: there is no openssl, or it failed.
    """

    def __init__(self) -> None:
        self._ends = contextlib.ExitStack()

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as ends:
            folder = Path(ends.enter_context(tempfile.TemporaryDirectory(prefix="proxy-")))
            self.ca, self._tls = certify(folder)
            self._loop = Loop("server-proxy")
            ends.callback(self._loop.close)
            self._ends = ends.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ends.close()

    @contextmanager
    def before(self, *, grpc: int, rest: int) -> Iterator[str]:
        """A proxy whose connections to the storage host reach the port ``grpc``, and those to other hosts ``rest``.

        Yields its address. When it ends, so do all connections through it: what a client has left open asks no server
        that comes later.
        """
        front, splices, port = self._loop.run(self._opened(grpc, rest))
        try:
            yield f"http://{HOST}:{port}"
        finally:
            self._loop.run(_closed(front, splices))

    async def _opened(self, grpc: int, rest: int) -> tuple[Front, tuple[Splice, ...], int]:
        storage, others = Splice(HOST, grpc, framed=True), Splice(HOST, rest)
        front = Front(self._tls, grpc=storage, rest=others, asked=lambda _host, _known: None)
        return front, (storage, others), await front.listen(HOST)


async def _closed(front: Front, splices: tuple[Splice, ...]) -> None:
    await front.close()
    for splice in splices:
        await splice.close()
