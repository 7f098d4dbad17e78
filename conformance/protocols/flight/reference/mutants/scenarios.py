"""Mutants of the servers of Arrow's integration tests: each plays one scenario."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from conformance.protocols.flight.contract import integration as fixed
from conformance.protocols.flight.contract.decoding import Data
from conformance.protocols.flight.contract.encoding import data, double, number, part
from conformance.protocols.flight.contract.sqlmessages import packed
from conformance.protocols.flight.reference.register import mutant
from conformance.protocols.flight.reference.scenarios.actions import ThreeExpiring
from conformance.protocols.flight.reference.scenarios.data import Echo, PlainTables
from conformance.protocols.flight.reference.scenarios.infos import CommandComesBack, Ordered, Reused
from conformance.protocols.flight.reference.scenarios.logins import LoggedIn, Mirrored
from conformance.protocols.flight.reference.scenarios.polls import Polled
from conformance.protocols.flight.reference.scenarios.register import numbers
from conformance.protocols.flight.reference.scenarios.sessions import Sessioned
from conformance.protocols.flight.reference.scenarios.sql import FixedSql, Ingesting
from conformance.protocols.flight.reference.service import FlightService, Messages
from conformance.protocols.flight.reference.sessions import INVALID_VALUE
from conformance.protocols.flight.reference.store import Batch, Flight
from conformance.wire.protobufmessages import ProtoMessage

KILLS: Final = "flight-scenario.answers-as-expected"

_Made = Callable[[type[FlightService]], type[FlightService]]


def _of(scenario: str, name: str) -> _Made:
    """Register a mutant of a scenario."""

    def register(service: type[FlightService]) -> type[FlightService]:
        service.scenario = scenario
        mutant(f"flight-scenario.{name}", kills=KILLS)(service)
        return service

    return register


@_of("", "acknowledges-without-metadata")
class SilentAnswers(PlainTables):
    """The results of a DoPut have no metadata."""

    def acknowledge(self, message: ProtoMessage) -> Messages:
        yield b""


@_of("", "one-batch")
class OneBatch(PlainTables):
    """Two batches come back as one, without their metadata."""

    def keep(self, key: bytes, came: Sequence[bytes]) -> None:
        schema, batches = self.table_of(came)
        whole = pa.Table.from_batches([batch.rows for batch in batches], schema).combine_chunks()
        self.store.put(Flight(key, schema, tuple(map(Batch, whole.to_batches()))))


@_of("do_exchange:echo", "echo-with-metadata")
class Talkative(Echo):
    """A batch without metadata comes back with some."""

    def sent_back(self, message: Data) -> bytes:
        return data(message.header or b"", message.body or b"", metadata=message.metadata or b"none")


@_of("ordered", "endpoints-reversed")
class Backwards(Ordered):
    """The endpoints of an ordered info come from the last to the first."""

    def endpoints(self, flight: Flight) -> Sequence[bytes]:
        return super().endpoints(flight)[::-1]


@_of("ordered", "order-not-said")
class NotSaid(Ordered):
    """The info does not say that its endpoints have an order."""

    def after_info(self, flight: Flight) -> bytes:
        return b""


@_of("location:reuse_connection", "empty-location")
class EmptyLocation(Reused):
    """The location is the empty text, which means the same connection to Flight, and not to the client."""

    locations = ("",)


@_of("app_metadata_flight_info_endpoint", "endpoint-without-metadata")
class BareEndpoint(CommandComesBack):
    """The endpoint has no metadata."""

    def endpoints(self, flight: Flight) -> Sequence[bytes]:
        return [self.endpoint(self.store.ticket(flight, flight.batches))]


@_of("auth:basic_proto", "another-name")
class AnotherName(LoggedIn):
    """The action gives the name in capitals."""

    def do_action(self, requests: Iterator[bytes]) -> Messages:
        for answer in super().do_action(requests):
            yield answer.upper()


@_of("middleware", "header-with-success-alone")
class OnlySuccess(Mirrored):
    """A call that fails has no header in its answer."""

    def flight(self, command: bytes) -> Flight:
        if command != b"success":
            self.reply.clear()
        return super().flight(command)


@_of("middleware", "failure-served")
class NeverFails(Mirrored):
    """The command that has to fail is served."""

    def flight(self, command: bytes) -> Flight:
        return numbers(pa.uint32(), [])


@_of("poll_flight_info", "ended-at-once")
class AtOnce(Polled):
    """The query has ended when it is first asked about."""

    def poll(self, flight: Flight, *, ended: bool) -> bytes:
        return part(1, self.polled_info(flight)) + double(3, 1.0)


@_of("poll_flight_info", "end-without-progress")
class NoProgress(Polled):
    """The query that has ended does not say that its progress is 1."""

    def poll(self, flight: Flight, *, ended: bool) -> bytes:
        return part(1, self.polled_info(flight)) if ended else super().poll(flight, ended=ended)


@_of("expiration_time:do_get", "no-lifetimes")
class NoLifetimes(ThreeExpiring):
    """No endpoint has an expiration time."""

    def _expires(self, ticket: bytes) -> bytes:
        return b""


@_of("expiration_time:list_actions", "more-actions")
class MoreActions(ThreeExpiring):
    """The actions of sessions are listed, too."""

    @property
    def actions(self) -> Mapping[str, tuple[str, Callable[[bytes], bytes]]]:
        return FlightService.actions.fget(self)  # type: ignore[attr-defined, no-any-return]  # it is a property


@_of("expiration_time:cancel_flight_info", "cancelled-is-read")
class StillRead(ThreeExpiring):
    """What was cancelled is read."""

    def cancel(self, body: bytes) -> bytes:
        return number(1, 1)


@_of("expiration_time:renew_flight_endpoint", "renewed-as-before")
class AsBefore(ThreeExpiring):
    """A renewed endpoint expires when it did before."""

    def renew(self, body: bytes) -> bytes:
        asked = self.decode("RenewFlightEndpointRequest", body).last("endpoint")
        assert asked is not None, "the case sends one"
        return body[asked.value_start : asked.end]


@_of("session_options", "wrong-reason")
class WrongReason(Sessioned):
    """A name that is not accepted is refused as a value that is not."""

    def error_of(self, name: str, value: ProtoMessage | None) -> int:
        return INVALID_VALUE if super().error_of(name, value) else 0


@_of("flight_sql", "count-in-transaction")
class WrongCount(FixedSql):
    """An update outside of a transaction has the count of one inside."""

    def counted(self, count: int) -> Messages:
        return super().counted(fixed.COUNTS[False, True] if count == fixed.COUNTS[False, False] else count)


@_of("flight_sql", "columns-without-metadata")
class BareColumns(FixedSql):
    """The columns of a result lack their metadata."""

    def result_schema_in(self, *, transaction: bool) -> pa.Schema:
        return super().result_schema_in(transaction=transaction).remove_metadata().set(0, pa.field("id", pa.int64()))


@_of("flight_sql", "keys-as-in-the-text")
class AsInTheText(FixedSql):
    """The columns of CommandGetPrimaryKeys have the order of FlightSql.proto, and not that of Arrow Go."""

    def metadata(self, message: bytes, name: str, asked: ProtoMessage) -> Flight:
        found = super().metadata(message, name, asked)
        if name != "CommandGetPrimaryKeys":
            return found
        fields = list(found.schema)
        return Flight(message, pa.schema([*fields[:4], fields[5], fields[4]]), ())


@_of("flight_sql:extension", "another-transaction")
class AnotherTransaction(FixedSql):
    """The id of a transaction is another one."""

    def begin_transaction(self, asked: ProtoMessage) -> bytes:
        return packed("ActionBeginTransactionResult", part(1, b"another"))


@_of("flight_sql:extension", "a-value-of-sql-info")
class OtherTimeout(FixedSql):
    """The timeouts of statements and of transactions have changed places."""

    def metadata(self, message: bytes, name: str, asked: ProtoMessage) -> Flight:
        found = super().metadata(message, name, asked)
        batches = tuple(Batch(_swapped(batch.rows)) for batch in found.batches)
        return Flight(message, found.schema, batches)


@_of("flight_sql:ingestion", "rows-not-counted")
class NotCounted(Ingesting):
    """An ingestion says that it has no rows."""

    def counted(self, count: int) -> Messages:
        return super().counted(0)


def _swapped(rows: pa.RecordBatch) -> pa.RecordBatch:
    """The codes of the last two rows, one in the place of the other."""
    codes: list[Any] = rows.column(0).to_pylist()
    codes[-2:] = codes[:-3:-1]
    return pa.RecordBatch.from_arrays([pa.array(codes, pa.uint32()), rows.column(1)], schema=rows.schema)
