"""A reference as a server in this process (:mod:`conformance.targets.hosted`), which listens only if it has to."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any, Final

import grpc

from conformance.contain.jsonhttp import Answering

__all__ = ["Hosted"]


class Hosted:
    """A server whose listeners start at the first question for their addresses."""

    def __init__(self, handlers: grpc.GenericRpcHandler[Any, Any], answering: Answering) -> None:
        self.handlers: Final = handlers
        self.answering: Final = answering
        self._stack: Final = ExitStack()
        self._addresses: tuple[str, str] | None = None

    def listen(self) -> tuple[str, str]:
        """Begin to listen, once; the address for gRPC, and the one for HTTP with its scheme."""
        if self._addresses is None:
            self._addresses = self._listen(self._stack)
        return self._addresses

    def stop(self) -> None:
        """Listen no longer."""
        self._stack.close()

    def kept(self) -> object:
        """The tables of the server, for :meth:`restore`."""
        return None

    def restore(self, kept: object) -> None:
        """Have the tables of another server."""

    def _listen(self, stack: ExitStack) -> tuple[str, str]:
        raise NotImplementedError
