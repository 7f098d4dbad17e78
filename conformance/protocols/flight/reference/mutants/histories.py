"""Mutants that only a sequence of calls, or a second client, can show."""

from __future__ import annotations

import abc
import threading
from collections.abc import Iterator, Sequence

from conformance.protocols.flight.contract.decoding import Data
from conformance.protocols.flight.contract.encoding import number, part
from conformance.protocols.flight.reference.historyfreedoms import Appends
from conformance.protocols.flight.reference.register import mutant
from conformance.protocols.flight.reference.service import FlightService, Messages
from conformance.protocols.flight.reference.sessions import Options
from conformance.protocols.flight.reference.store import Flight, Store

_ROWS = "flight-history.rows-are-of-the-flight"
_LOST = "flight-history.none-is-lost"
_KEEPS = "flight-history.keeps-its-rows"


@mutant(
    "flight-history.renewed-is-the-latest",
    kills=_ROWS,
    also={"flight-expiry.renewed-is-the-same-data": "the endpoint was read before it was renewed"},
)
class RenewedIsTheLatest(FlightService):
    """A renewed endpoint has a ticket for the flight that was put last, by any client."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self._latest: list[Flight] = []

    def keep(self, key: bytes, came: Sequence[bytes]) -> None:
        super().keep(key, came)
        self._latest[:] = filter(None, [self.store.get(key)])

    def renew(self, body: bytes) -> bytes:
        super().renew(body)
        (latest,) = self._latest
        return self.endpoint(self.store.ticket(latest, latest.batches)) + part(3, self.expiry())


class _Together(FlightService, abc.ABC):
    """A service that knows which uploads are open at the same time."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self.ended: list[Sequence[bytes]] = []
        """The messages of each upload that has ended."""
        self.one_at_a_time = threading.Lock()

    def do_put(self, requests: Iterator[bytes]) -> Messages:
        self.before = len(self.ended)
        yield from super().do_put(requests)

    def keep(self, key: bytes, came: Sequence[bytes]) -> None:
        with self.one_at_a_time:
            others = self.ended[self.before :]
            self.ended.append(came)
            self.keep_beside(key, came, others)

    @abc.abstractmethod
    def keep_beside(self, key: bytes, came: Sequence[bytes], others: Sequence[Sequence[bytes]]) -> None:
        """Store an upload; ``others`` have ended since it began."""


@mutant(
    "flight-history.uploads-are-mixed",
    kills=_ROWS,
    also={"flight-put.nothing-is-added": "the batches of the other upload"},
)
class UploadsAreMixed(_Together):
    """The batches of an upload that ended while another one was open are stored with that one, too."""

    def keep_beside(self, key: bytes, came: Sequence[bytes], others: Sequence[Sequence[bytes]]) -> None:
        super(_Together, self).keep(key, [*came, *(message for other in others for message in other[1:])])


@mutant(
    "flight-history.upload-beside-is-lost",
    kills="flight-history.puts-together-are-kept",
    also={"flight-put.is-found": "nothing was stored under the descriptor before"},
)
class UploadBesideIsLost(_Together):
    """An upload during which another one has ended is accepted, and not stored."""

    def keep_beside(self, key: bytes, came: Sequence[bytes], others: Sequence[Sequence[bytes]]) -> None:
        if not others:
            super(_Together, self).keep(key, came)


@mutant(
    "flight-history.first-put-stays",
    kills=_LOST,
    also={"flight-history.puts-together-are-kept": "a further DoPut may be made at the same time as another"},
)
class FirstPutStays(FlightService):
    """A further DoPut under a descriptor is accepted, and not stored."""

    def keep(self, key: bytes, came: Sequence[bytes]) -> None:
        if self.store.get(key) is None:
            super().keep(key, came)


@mutant("flight-history.a-batch-of-the-first-stays", kills="flight-history.earlier-put-stays-whole")
class ABatchOfTheFirstStays(FlightService):
    """A further DoPut takes the place of the rows before it, except the first batch."""

    def keep(self, key: bytes, came: Sequence[bytes]) -> None:
        before = self.store.get(key)
        schema, batches = self.table_of(came)
        self.store.put(Flight(key, schema, (*batches, *(before.batches[:1] if before is not None else ()))))


@mutant("flight-history.latest-alone-after-another", kills=_KEEPS)
class LatestAloneAfterAnother(Appends):
    """A further DoPut appends, and when another flight is put, the rows before the last DoPut are gone."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self._parts: dict[bytes, int] = {}

    def keep(self, key: bytes, came: Sequence[bytes]) -> None:
        with self.one_at_a_time:
            for other, latest in self._parts.items():
                flight = self.store.get(other)
                if other != key and flight is not None:
                    self.store.put(Flight(other, flight.schema, flight.batches[len(flight.batches) - latest :]))
            self._parts[key] = len(self.table_of(came)[1])
            super().keep(key, came)


@mutant("flight-history.cancel-is-for-all", kills="flight-history.cancel-leaves-others")
class CancelIsForAll(FlightService):
    """CancelFlightInfo revokes the tickets of every info."""

    def cancel(self, body: bytes) -> bytes:
        result = super().cancel(body)
        for ticket in list(self.store.tickets):
            self.store.revoke(ticket)
        return result


@mutant("flight-history.one-query-at-a-time", kills="flight-history.poll-goes-on")
class OneQueryAtATime(FlightService):
    """A query begins again when another one was polled between."""

    def polled_info(self, flight: Flight) -> bytes:
        if flight.descriptor not in self._queries:
            self._queries.clear()
        return super().polled_info(flight)


@mutant(
    "flight-history.exchanges-are-mixed",
    kills="flight-history.exchanges-are-apart",
    also={"flight-exchange.nothing-is-added": "the batches of the other exchange"},
)
class ExchangesAreMixed(FlightService):
    """An exchange ends with the batches of another one that was open when it began."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self._open: list[list[Data]] = []

    def do_exchange(self, requests: Iterator[bytes]) -> Messages:
        self._came: list[Data] = []
        self._open.append(self._came)
        try:
            yield from super().do_exchange(requests)
        finally:
            self._open.remove(self._came)

    def answer(self, message: Data) -> Messages:
        if message.body:
            self._came.append(message)
            for other in self._open:
                if other is not self._came:
                    yield from (self.sent_back(one) for one in other)
        yield from super().answer(message)


@mutant("flight-history.options-of-later-sessions", kills="flight-history.options-are-of-the-session")
class OptionsOfLaterSessions(FlightService):
    """A client reads the options of sessions that began after its own, too."""

    def options_result(self, options: Options) -> bytes:
        names = list(self._sessions)
        later = names[names.index(self.session_id) + 1 :]
        return super().options_result({**{k: v for name in later for k, v in self._sessions[name].items()}, **options})


@mutant("flight-history.close-is-for-all", kills="flight-history.session-outlives-others")
class CloseIsForAll(FlightService):
    """CloseSession ends every session."""

    def close_session(self, body: bytes) -> bytes:
        super().close_session(body)
        self._sessions.clear()
        return number(1, 1)
