"""Clients of Arrow Flight."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from conformance.clients.plugin import ClientsPlugin
from conformance.protocols.flight.clients.pool import FlightPool
from conformance.protocols.flight.clients.situations import FlightSet, scripted


def _situations(_corpus: Path, selected: Callable[[str], bool]) -> Iterator[FlightSet]:
    return (one for one in scripted() if selected(one.id))


PLUGIN: Final = ClientsPlugin(pool=FlightPool, situations=_situations)
