"""Mutants of savepoints, cancelling, plans of Substrait, the order of rows, and what a server says of all this."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
from grpc import StatusCode

from conformance.protocols.flight.contract.encoding import number
from conformance.protocols.flight.reference.register import mutant
from conformance.protocols.flight.reference.service import Messages
from conformance.protocols.flight.reference.sql.service import SqlFlightService
from conformance.protocols.flight.reference.store import Batch, Flight
from conformance.wire.protobufmessages import ProtoMessage


@mutant("flight-sql.savepoint-undoes-nothing", kills="flight-rows.nothing-is-added")
class SavepointUndoesNothing(SqlFlightService):
    """What came after a savepoint stays when the transaction is rolled back to it."""

    def end_savepoint(self, savepoint: bytes, *, release: bool) -> None:
        if release:
            super().end_savepoint(savepoint, release=release)


@mutant("flight-sql.savepoint-undoes-everything", kills="flight-rows.nothing-is-lost")
class SavepointUndoesEverything(SqlFlightService):
    """A transaction that is rolled back to a savepoint loses what it did before that."""

    def end_savepoint(self, savepoint: bytes, *, release: bool) -> None:
        super().end_savepoint(savepoint, release=release)
        if not release:
            self.database.empty(savepoint)


@mutant("flight-sql.rolled-back-is-void", kills="flight-sql.end-of-statement-is-served")
class RolledBackIsVoid(SqlFlightService):
    """A savepoint that was rolled back to is not known any more."""

    def end_savepoint(self, savepoint: bytes, *, release: bool) -> None:
        super().end_savepoint(savepoint, release=release)
        if not release:
            self.database.release(savepoint)


@mutant("flight-sql.savepoint-in-silence", kills="flight-sql.actions-have-results")
class SavepointInSilence(SqlFlightService):
    """BeginSavepoint ends in OK without an id."""

    def act(self, kind: str, asked: ProtoMessage) -> Messages:
        return () if kind == "BeginSavepoint" else super().act(kind, asked)


@mutant("flight-sql.cancel-unspecified", kills="flight-sql.cancel-says-what-happened")
class CancelQueryUnspecified(SqlFlightService):
    """CancelQuery answers with the status UNSPECIFIED."""

    def act(self, kind: str, asked: ProtoMessage) -> Messages:
        found = super().act(kind, asked)
        return (self.result(kind, b""),) if kind == "CancelQuery" and list(found) else found


@mutant("flight-sql.cancel-in-silence", kills="flight-sql.cancel-says-what-happened")
class CancelQueryInSilence(SqlFlightService):
    """CancelQuery ends in OK without a result."""

    def act(self, kind: str, asked: ProtoMessage) -> Messages:
        found = list(super().act(kind, asked))
        return [] if kind == "CancelQuery" else found


@mutant("flight-sql.plans-are-empty", kills="flight-sql.nonsense-is-refused")
class PlansAreEmpty(SqlFlightService):
    """Every plan of Substrait has an empty result, whatever its bytes."""

    def info_values(self) -> Mapping[int, object]:
        return {**super().info_values(), 5: True}

    def rows_of(self, name: str, command: bytes) -> pa.Table:
        if name == "CommandStatementSubstraitPlan":
            return pa.table({"result": pa.array([], pa.string())})
        return super().rows_of(name, command)


@mutant("flight-sql.order-is-forgotten", kills="flight-rows.order-is-kept")
class OrderIsForgotten(SqlFlightService):
    """The rows of a query with ORDER BY come as they are stored."""

    def query(self, statement: str, transaction: bytes) -> pa.Table:
        return super().query(statement.partition("ORDER BY")[0], transaction)


class _Parted(SqlFlightService):
    """A service whose results have an endpoint for each row."""

    def flight(self, descriptor: bytes, table: pa.Table) -> Flight:
        batches = tuple(Batch(rows) for at in range(table.num_rows) for rows in table.slice(at, 1).to_batches())
        return Flight(descriptor, table.schema, batches)

    def endpoints(self, flight: Flight) -> Sequence[bytes]:
        parts = [flight.batches[at : at + 1] for at in range(max(1, len(flight.batches)))]
        return [self.endpoint(self.store.ticket(flight, one)) for one in parts]


@mutant(
    "flight-sql.endpoints-from-the-back",
    kills="flight-rows.order-is-kept",
    also={"flight-sql-metadata.rows-are-ordered": "an answer to a metadata command has an endpoint for each row, too"},
)
class EndpointsFromTheBack(_Parted):
    """The endpoints of a result come in the opposite order, and the info says that they are in order."""

    def endpoints(self, flight: Flight) -> Sequence[bytes]:
        return super().endpoints(flight)[::-1]

    def after_info(self, flight: Flight) -> bytes:
        return super().after_info(flight) + number(6, 1)


@mutant("flight-sql.order-is-unsaid", kills="flight-rows.order-is-said")
class OrderIsUnsaid(_Parted):
    """A result with an order has an endpoint for each row, and the info does not say that they are in order."""


_SERVED, _SUPPORTED = "flight-sql-features.supported-is-served", "flight-sql-features.served-is-supported"


class _Saying(SqlFlightService):
    """A service that says something else of its features."""

    said: Mapping[int, object] = {}

    def info_values(self) -> Mapping[int, object]:
        return {**super().info_values(), **self.said}


@mutant("flight-sql-features.says-plans", kills=_SERVED)
class SaysPlans(_Saying):
    """The server says that it executes plans of Substrait, and does not know the command."""

    said: Mapping[int, object] = {5: True}


@mutant("flight-sql-features.says-transactions", kills=_SERVED)
class SaysTransactions(_Saying):
    """The server says that it has transactions, and does not implement them."""

    def act(self, kind: str, asked: ProtoMessage) -> Messages:
        if kind == "BeginTransaction":
            self.refuse(StatusCode.UNIMPLEMENTED, f"{kind} is not served")
        return super().act(kind, asked)


@mutant("flight-sql-features.hides-transactions", kills=_SUPPORTED)
class HidesTransactions(_Saying):
    """The server says that it has no transactions, and begins them."""

    said: Mapping[int, object] = {8: 0}


@mutant("flight-sql-features.hides-ingestion", kills=_SUPPORTED)
class HidesIngestion(_Saying):
    """The server says that it loads no tables, and loads them."""

    said: Mapping[int, object] = {10: False}


@mutant("flight-sql-features.read-only", kills=_SUPPORTED)
class ReadOnly(_Saying):
    """The server says that it is read only, and makes tables."""

    said: Mapping[int, object] = {3: True}
