"""The answer of a client of Arrow Flight."""

from __future__ import annotations

from conformance.contract.clientjudging import ClientAnswer, ClientRead, Situation

__all__ = ["FlightRead"]


class FlightRead(ClientRead):
    """The answer of a client in its situation; with ``metadata``, its path gives the ``app_metadata`` and no rows."""

    def __init__(self, situation: Situation, title: str, answer: ClientAnswer, *, metadata: bool = False) -> None:
        super().__init__(situation, title, answer)
        self.metadata = metadata
