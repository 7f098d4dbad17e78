"""Legal variations of Flight SQL: what the text leaves to a server, each with the text that permits it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa
from grpc import StatusCode

from conformance.contract.sources import PROTOBUF
from conformance.protocols.flight.contract.encoding import number, part
from conformance.protocols.flight.contract.sources import FLIGHT_PROTO, FLIGHT_SQL_PAGE, FLIGHT_SQL_PROTO
from conformance.protocols.flight.reference.register import variation
from conformance.protocols.flight.reference.service import Messages
from conformance.protocols.flight.reference.sql import metadata
from conformance.protocols.flight.reference.sql.service import Prepared, SqlFlightService
from conformance.protocols.flight.reference.store import Batch, Flight
from conformance.protocols.flight.wire.sql import ACTIONS
from conformance.reference.statuses import Refusal
from conformance.wire.protobufmessages import ProtoMessage

_KEY = b"ARROW:FLIGHT:SQL:TYPE_NAME"


@variation("flight-sql.count-unknown", FLIGHT_SQL_PROTO)
class CountUnknown(SqlFlightService):
    """The number of records of an update is unknown."""

    def counted(self, count: int) -> Messages:
        return super().counted(-1 if count else count)


@variation("flight-sql.bound-without-result", FLIGHT_SQL_PROTO)
class BoundWithoutResult(SqlFlightService):
    """Binding parameters has no result, as in earlier versions of the protocol."""

    def rebound(self, handle: bytes) -> Messages:
        del handle
        return ()


@variation("flight-sql.bound-elsewhere", FLIGHT_SQL_PROTO)
class BoundElsewhere(SqlFlightService):
    """Binding parameters gives another handle, which holds them; the old one is void."""

    def rebound(self, handle: bytes) -> Messages:
        later = handle + b"'"
        self.prepared[later] = self.prepared.pop(handle)
        return super().rebound(later)


@variation("flight-sql.no-dataset-schema", FLIGHT_SQL_PROTO)
class NoDatasetSchema(SqlFlightService):
    """A prepared statement states no schema of its results."""

    def dataset_schema(self, prepared: Prepared) -> bytes:
        del prepared
        return b""


@variation("flight-sql.is-update-stated", FLIGHT_SQL_PROTO)
class IsUpdateStated(SqlFlightService):
    """A prepared statement says whether it is an update, and has a field of a later version."""

    def dataset_schema(self, prepared: Prepared) -> bytes:
        found = super().dataset_schema(prepared)
        return found + number(4, 0 if found else 1) + number(99, 1)


@variation("flight-sql.executed-by-tickets", FLIGHT_SQL_PAGE)
class ExecutedByTickets(SqlFlightService):
    """A query is executed when its ticket is redeemed; only then is it refused."""

    def get_flight_info(self, requests: Iterator[bytes]) -> Messages:
        request = self.the_one(requests)
        try:
            yield from super().get_flight_info(iter((request,)))
        except Refusal:
            if b"CommandStatementQuery" not in request:
                raise
            yield part(3, part(1, part(1, b"refused:" + request))) + number(4, -1) + number(5, -1)


@variation("flight-sql.nothing-but-queries", FLIGHT_PROTO)
class NothingButQueries(SqlFlightService):
    """Updates, actions and metadata commands are not served."""

    def put(self, name: str, command: bytes, came: Sequence[bytes]) -> Messages:
        del command, came
        self.refuse(StatusCode.UNIMPLEMENTED, f"{name} is not served")

    def act(self, kind: str, asked: ProtoMessage) -> Messages:
        del asked
        self.refuse(StatusCode.UNIMPLEMENTED, f"{kind} is not served")

    def metadata(self, name: str, asked: ProtoMessage) -> pa.Table:
        del asked
        self.refuse(StatusCode.UNIMPLEMENTED, f"{name} is not served")


@variation("flight-sql.no-transactions", FLIGHT_SQL_PROTO)
class NoTransactions(SqlFlightService):
    """Transactions, ingestion and CancelQuery are not served, and the server says so."""

    def info_values(self) -> Mapping[int, object]:
        return {**super().info_values(), 8: 0, 9: False, 10: False}

    def act(self, kind: str, asked: ProtoMessage) -> Messages:
        if kind in ("BeginTransaction", "CancelQuery"):
            self.refuse(StatusCode.UNIMPLEMENTED, f"{kind} is not served")
        return super().act(kind, asked)

    def ingest(self, asked: ProtoMessage, rows: pa.Table) -> int:
        del asked, rows
        self.refuse(StatusCode.UNIMPLEMENTED, "ingestion is not served")


@variation("flight-sql.no-savepoints", FLIGHT_SQL_PROTO)
class NoSavepoints(SqlFlightService):
    """Transactions have no savepoints, and the server says so."""

    def info_values(self) -> Mapping[int, object]:
        return {**super().info_values(), 8: 1}

    def act(self, kind: str, asked: ProtoMessage) -> Messages:
        if kind == "BeginSavepoint":
            self.refuse(StatusCode.UNIMPLEMENTED, f"{kind} is not served")
        return super().act(kind, asked)


@variation("flight-sql.statements-are-not-cancellable", FLIGHT_SQL_PROTO)
class StatementsAreNotCancellable(SqlFlightService):
    """A statement that was executed cannot be cancelled, and its ticket stays valid."""

    def cancel(self, body: bytes) -> bytes:
        self.decode("CancelFlightInfoRequest", body)
        return number(1, 3)


@variation("flight-sql.other-type-url", PROTOBUF)
class OtherTypeUrl(SqlFlightService):
    """The Any of a result has another authority before the name of its message."""

    def result(self, kind: str, message: bytes) -> bytes:
        url = b"example.com/arrow.flight.protocol.sql." + ACTIONS[kind].result.encode()
        return part(1, part(1, url) + part(2, message))


@variation("flight-sql-metadata.nullable-freely", FLIGHT_SQL_PROTO)
class NullableFreely(SqlFlightService):
    """Columns that the text does not call "not null" are not nullable."""

    def rows(self, name: str, rows: Sequence[Mapping[str, object]]) -> pa.Table:
        table = super().rows(name, rows)
        pairs = zip(table.schema, table.columns, strict=True)
        return table.cast(pa.schema([field.with_nullable(bool(column.null_count)) for field, column in pairs]))


@variation("flight-sql-metadata.without-catalogs", FLIGHT_SQL_PROTO)
class WithoutCatalogs(SqlFlightService):
    """The server has no catalogs and no schemas: the columns of their names are null."""

    def rows(self, name: str, rows: Sequence[Mapping[str, object]]) -> pa.Table:
        if name in ("CommandGetCatalogs", "CommandGetDbSchemas"):
            return super().rows(name, ())
        return super().rows(name, [{**row, "catalog_name": None, "db_schema_name": None} for row in rows])


@variation("flight-sql-metadata.field-metadata", FLIGHT_SQL_PROTO)
class FieldMetadata(SqlFlightService):
    """The schemas of tables and results have the metadata that the text names."""

    def table_schema(self, schema: pa.Schema) -> bytes:
        return super().table_schema(pa.schema([field.with_metadata({_KEY: b"T"}) for field in schema]))

    def query(self, statement: str, transaction: bytes) -> pa.Table:
        table = super().query(statement, transaction)
        return table.cast(pa.schema([field.with_metadata({_KEY: b"T"}) for field in table.schema]))


@variation("flight-sql-metadata.more-info", FLIGHT_SQL_PROTO)
class MoreInfo(SqlFlightService):
    """CommandGetSqlInfo without numbers tells more, among it a number of the server's own."""

    def info_values(self) -> Mapping[int, object]:
        return {**metadata.INFO, 504: '"', 508: ["SELECT"], 517: [(1, [2, 3])]}


@variation("flight-sql-metadata.info-lacks", FLIGHT_SQL_PROTO)
class InfoLacks(SqlFlightService):
    """CommandGetSqlInfo tells the name of the server alone."""

    def info_values(self) -> Mapping[int, object]:
        return {0: "reference"}


@variation("flight-sql-metadata.table-names-folded", FLIGHT_SQL_PROTO)
class TableNamesFolded(SqlFlightService):
    """CommandGetTables gives names in capitals, as databases do that fold them."""

    def rows(self, name: str, rows: Sequence[Mapping[str, object]]) -> pa.Table:
        return super().rows(name, [_capital(row) for row in rows])


def _capital(row: Mapping[str, object]) -> Mapping[str, object]:
    return {**row, "table_name": str(row["table_name"]).upper()} if "table_name" in row else row


@variation("flight-rows.other-widths", FLIGHT_SQL_PROTO)
class OtherWidths(SqlFlightService):
    """Results have large texts and other names of types: the dialect is the server's own."""

    def query(self, statement: str, transaction: bytes) -> pa.Table:
        table = super().query(statement, transaction)
        for at, field in enumerate(table.schema):
            if pa.types.is_string(field.type):
                large = table.column(at).cast(pa.large_string())
                table = table.set_column(at, field.with_type(large.type), large)
        return table.rename_columns([name.upper() for name in table.schema.names])


@variation("flight-rows.many-batches", FLIGHT_PROTO)
class ManyBatches(SqlFlightService):
    """Each row of a result has a batch and an endpoint of its own, and they are in order."""

    def flight(self, descriptor: bytes, table: pa.Table) -> Flight:
        batches = tuple(Batch(rows) for at in range(table.num_rows) for rows in table.slice(at, 1).to_batches())
        return Flight(descriptor, table.schema, batches)

    def endpoints(self, flight: Flight) -> Sequence[bytes]:
        parts = [flight.batches[at : at + 1] for at in range(max(1, len(flight.batches)))]
        return [self.endpoint(self.store.ticket(flight, one)) for one in parts]

    def after_info(self, flight: Flight) -> bytes:
        return super().after_info(flight) + number(6, 1)
