"""Legal variations of what becomes of a damaged stream: a server may read on where nothing is lost by it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from conformance.protocols.flight.contract.decoding import read_data
from conformance.protocols.flight.contract.encoding import data
from conformance.protocols.flight.contract.sources import FLIGHT_PROTO
from conformance.protocols.flight.reference.register import variation
from conformance.protocols.flight.reference.service import FlightService, Messages
from conformance.wire import Header
from conformance.wire.messages import read_apart


def _meant(came: Iterable[bytes]) -> Iterator[bytes]:
    """The messages as they are meant: without those that say nothing, a second time the same schema, a prefix before a
    header, and bytes behind a body.
    """
    schema = b""
    for at, message in enumerate(came):
        found = read_data(message)
        if at == 0 or found is None:
            yield message
            schema = bytes(found.header or b"") if found is not None else b""
            continue
        header = bytes(found.header or b"")
        header = header[8:] if header.startswith(b"\xff\xff\xff\xff") else header
        if (header and header == schema) or not (header or found.metadata):
            continue
        read = read_apart(0, header, memoryview(b""), []).message if header else None
        if read is None:
            yield message
        elif read.header is not Header.TENSOR:
            yield data(header, bytes(found.body or b"")[: read.body_length or None], metadata=found.metadata)
        schema = schema or header


@variation("flight-put.reads-on", FLIGHT_PROTO)
class PutReadsOn(FlightService):
    """A DoPut passes over what means nothing, and reads what can be read without a guess."""

    def keep(self, key: bytes, came: Sequence[bytes]) -> None:
        super().keep(key, list(_meant(came)))


@variation("flight-exchange.reads-on", FLIGHT_PROTO)
class ExchangeReadsOn(FlightService):
    """An exchange does the same."""

    def do_exchange(self, requests: Iterator[bytes]) -> Messages:
        return super().do_exchange(_meant(requests))
