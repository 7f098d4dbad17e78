"""What a FlightInfo says of a flight: its schema, its size, its descriptor, and the tickets for its data."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Final

import pyarrow as pa

from conformance import wire
from conformance.contain.text import many
from conformance.contract.clause import Role, Violation, clause
from conformance.contract.sources import SCHEMA_FBS, Inferred
from conformance.protocols.flight.contract import FLIGHT
from conformance.protocols.flight.contract.decoding import Meaning, in_words, meaning_of, message_of
from conformance.protocols.flight.contract.sources import FLIGHT_PAGE, FLIGHT_PROTO
from conformance.protocols.flight.contract.sqlsubjects import executable
from conformance.protocols.flight.contract.subjects import about, columns_differ, columns_of, infos, listed
from conformance.protocols.flight.contract.view import FlightCall, FlightView, GetView, InfoSeen
from conformance.protocols.flight.records import FlightMethod, GetFlightInfo, GetSchema
from conformance.records import Level
from conformance.wire import DecodingError, Rule

_AFTER: Final = frozenset({Rule.MESSAGE_SECOND_MESSAGE, Rule.MESSAGE_END_OF_STREAM, Rule.MESSAGE_TRAILING_BYTES})
"""Rules about bytes after the schema."""
_FLIGHT_SCHEMES: Final = ("grpc:", "grpc+", "arrow-flight-reuse-connection:")
"""The beginnings of URIs of Flight servers (https://arrow.apache.org/docs/format/Flight.html#location-uris)."""
_DIFFERENT: Final = 3
"""Infos with different columns that are compared: two, and one whose schema cannot be read."""
_PADDING: Final = Rule.METADATA_LENGTH_NOT_MULTIPLE_OF_8
"""A rule about streams: the text on this field names no padding."""


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Schema:
    """A schema that an answer states, as it was read."""

    call: int
    response: int
    data: bytes
    of: FlightCall

    @property
    def read(self) -> wire.SchemaMessage:
        return self.of.view.once(("schema", self.call, self.response), lambda: wire.read_schema(self.data))

    @property
    def arrow(self) -> pa.Schema | None:
        """The schema, None if it cannot be read."""
        try:
            return None if self.read.schema is None else wire.schema_to_arrow(self.read.schema)
        except DecodingError:
            return None


@about
def _schemas(view: FlightView) -> list[_Schema]:
    """Return the schemas of all infos and of all answers to GetSchema that state one."""
    found = [_Schema(seen.call, seen.response, seen.info.schema, seen.of) for seen in view.infos]
    for call in view.flight_calls:
        if call.ok and call.raw.method == FlightMethod.GET_SCHEMA:
            for at, data in enumerate(call.raw.responses):
                result = message_of("SchemaResult", data)
                if result is not None:
                    found.append(_Schema(call.index, at, bytes(result.data("schema")), call))
    return [one for one in found if one.data]


_FORM: Final = (
    'Flight.proto, FlightInfo and SchemaResult: "The schema of the dataset in its IPC form: 4 bytes - an optional'
    " IPC_CONTINUATION_TOKEN prefix, 4 bytes - the byte length of the payload, a flatbuffer Message whose header is the"
    ' Schema".'
)


@clause(
    "flight-info.schema-is-a-message",
    over=_schemas,
    source=FLIGHT_PROTO,
    breaks="every client that asks for the schema",
    profiles=FLIGHT,
    role=Role.LIBRARY,
    says=f"A schema that is stated is an encapsulated Schema message, with or without the continuation.\n\n{_FORM}",
)
def _schema_is_a_message(schema: _Schema) -> Iterator[Violation]:
    for fault in schema.read.violations:
        if fault.rule not in _AFTER | {_PADDING}:
            yield Violation(f"a Schema message: {fault.required}", fault.observed)
            return
    if schema.read.schema is None:
        header = "no message" if schema.read.message is None else f"a message with header {schema.read.message.header}"
        yield Violation("a Schema message", header)


@clause(
    "flight-info.schema-ends",
    over=_schemas,
    source=Inferred(FLIGHT_PROTO),
    level=Level.SHOULD,
    profiles=FLIGHT,
    role=Role.LIBRARY,
    says=f"Nothing comes after the schema.\n\n{_FORM} The text names nothing behind it.",
)
def _schema_ends(schema: _Schema) -> Iterator[Violation]:
    if schema.read.extra and schema.read.message is not None:
        after = len(schema.data) - schema.read.message.end
        yield Violation("no bytes after the Schema message", f"{after} bytes")


@clause(
    "flight-info.schema-is-that-of-the-stream",
    over=lambda view: [one for one in _schemas(view) if one.of.raw.method != FlightMethod.GET_SCHEMA],
    source=(FLIGHT_PROTO, Inferred(FLIGHT_PAGE)),
    breaks="clients that make tables or plans by the schema of the info, such as SQL engines",
    profiles=FLIGHT,
    role=Role.APPLICATION,
)
def schema_is_that_of_the_stream(schema: _Schema) -> Iterator[Violation]:
    """The schema of an info and that of each stream of its tickets have the same columns, by name and type.

    Flight.proto: "The schema of the dataset". A server that sends other columns contradicts itself. Nullability,
    metadata and dictionary encoding are not compared.
    """
    stated = schema.arrow
    if stated is None:
        return
    seen = _by_place(schema.of.view)[schema.call, schema.response]
    if not stated.names and seen.of.raw.method == FlightMethod.LIST_FLIGHTS:
        return  # a list that does not know them
    for read in seen.reads:
        if read is None or read.table is None or not read.ok:
            continue
        if said := columns_differ(stated, read.table.schema):
            yield Violation(f"the columns of the info: {listed(stated)}", said, call=read.index)


@about
def _nullable(view: FlightView) -> list[_Schema]:
    """Return the schemas of infos that can be read."""
    return [one for one in _schemas(view) if one.of.raw.method != FlightMethod.GET_SCHEMA and one.arrow is not None]


def _read_with(schema: _Schema) -> Iterator[tuple[GetView, pa.Table]]:
    """The streams of the tickets of an info that have its columns."""
    stated = schema.arrow
    for read in _by_place(schema.of.view)[schema.call, schema.response].reads:
        if stated is None or read is None or read.table is None or not read.ok:
            continue
        if columns_of(read.table.schema) == columns_of(stated):
            yield read, read.table


@clause(
    "flight-info.required-has-no-nulls",
    over=_nullable,
    source=(SCHEMA_FBS, FLIGHT_PROTO),
    breaks="clients that leave out validity by the schema of the info, such as those that make tables with NOT NULL",
    profiles=FLIGHT,
    role=Role.APPLICATION,
)
def required_has_no_nulls(schema: _Schema) -> Iterator[Violation]:
    """A column that an info calls not nullable has no NULL in the streams of its tickets.

    Schema.fbs, Field: "Whether or not the field is nullable." Flight.proto: "The schema of the dataset". A stream whose
    own schema says the same is judged as a stream.
    """
    assert schema.arrow is not None
    for read, table in _read_with(schema):
        for field, came, column in zip(schema.arrow, table.schema, table.columns, strict=True):
            if not field.nullable and came.nullable and not pa.types.is_null(field.type) and column.null_count:
                yield Violation(f"no NULL in {field.name!r}", many(column.null_count, "NULL"), call=read.index)
                break


@clause(
    "flight-info.nullable-as-in-the-stream",
    over=_nullable,
    source=(Inferred(FLIGHT_PROTO), SCHEMA_FBS),
    level=Level.SHOULD,
    breaks="adbc-driver-flightsql 1.13.0 refuses the result: `[FlightSQL] endpoint 0 returned inconsistent schema`",
    profiles=FLIGHT,
    role=Role.APPLICATION,
)
def nullable_as_in_the_stream(schema: _Schema) -> Iterator[Violation]:
    """A column is nullable in the schema of an info if it is in the streams of its tickets, and only then.

    Flight.proto: "The schema of the dataset". The text does not say that both schemas are equal to the last flag;
    clients that compare them whole refuse the stream. A NULL that the info excludes is a defect of its own.
    """
    assert schema.arrow is not None
    for read, table in _read_with(schema):
        for field, came in zip(schema.arrow, table.schema, strict=True):
            if field.nullable != came.nullable:
                yield Violation(_nullability(field), _nullability(came), field.name, call=read.index)
                break


def _nullability(field: pa.Field) -> str:
    return "a nullable column" if field.nullable else "a column that is not nullable"


def _by_place(view: FlightView) -> Mapping[tuple[int, int], InfoSeen]:
    """The infos by call and response."""
    return view.once(_by_place, lambda: {(one.call, one.response): one for one in infos(view)})


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Pair:
    """An answer to GetSchema and one to GetFlightInfo under the same descriptor."""

    call: int
    response: int
    asked: _Schema
    stated: _Schema


@about
def _pairs(view: FlightView) -> list[_Pair]:
    """Return each answer to GetSchema with the first infos of its descriptor that state different columns.

    Two that can be read are enough: no answer agrees with both.
    """
    stated: dict[bytes, list[_Schema]] = {}
    for one in _schemas(view):
        if isinstance(one.of.step, GetFlightInfo):
            found = stated.setdefault(one.of.raw.request, [])
            if len(found) < _DIFFERENT and not any(_agree(one, other) for other in found):
                found.append(one)
    asked = (one for one in _schemas(view) if isinstance(one.of.step, GetSchema))
    return [_Pair(one.call, one.response, one, other) for one in asked for other in stated.get(one.of.raw.request, ())]


def _agree(one: _Schema, other: _Schema) -> bool:
    """True if the columns are the same, and for two schemas that cannot be read."""
    if one.data == other.data or one.arrow is None or other.arrow is None:
        return one.data == other.data or one.arrow is other.arrow
    return columns_of(one.arrow) == columns_of(other.arrow)


@clause(
    "flight-info.get-schema-agrees",
    over=_pairs,
    source=FLIGHT_PROTO,
    breaks="clients that ask for the schema first, and then read by it",
    profiles=FLIGHT,
    role=Role.APPLICATION,
)
def get_schema_agrees(pair: _Pair) -> Iterator[Violation]:
    """GetSchema and GetFlightInfo state the same columns for one descriptor.

    Flight.proto, GetSchema: "This is used when a consumer needs the Schema of flight stream".
    """
    asked, stated = pair.asked.arrow, pair.stated.arrow
    if asked is not None and stated is not None and (said := columns_differ(stated, asked)):
        yield Violation(f"the columns of GetFlightInfo: {listed(stated)}", said)


def _came(seen: InfoSeen) -> int:
    """The number of records that came from all endpoints."""
    return sum(read.table.num_rows for read in seen.whole or () if read.table is not None)


@about
def _counted(view: FlightView) -> list[InfoSeen]:
    """Return the infos whose endpoints were all read, without the flights of the server's own that change."""
    whole = [one for one in infos(view) if one.whole is not None and one.info.endpoints]
    counts: dict[Meaning | None, set[int]] = {}
    for one in whole:
        counts.setdefault(one.name, set()).add(_came(one))
    return [one for one in whole if not one.found or len(counts[one.name]) == 1]


@clause(
    "flight-info.total-records",
    over=_counted,
    source=(FLIGHT_PROTO, FLIGHT_PAGE),
    level=Level.SHOULD,
    breaks="clients that reserve memory, or show progress",
    profiles=FLIGHT,
    role=Role.APPLICATION,
)
def total_records(seen: InfoSeen) -> Iterator[Violation]:
    """A number of records that is stated is that of all endpoints together; an unknown one is -1, and 0 means none.

    Flight.proto: "Set these to -1 if unknown." The page calls the size an estimate, so that this is no MUST.
    """
    came = _came(seen)
    if seen.info.records not in (-1, came):
        yield Violation(f"total_records {came}, or -1", str(seen.info.records))


@clause(
    "flight-info.totals-from-minus-one",
    over=infos,
    source=FLIGHT_PROTO,
    level=Level.SHOULD,
    profiles=FLIGHT,
    role=Role.APPLICATION,
)
def totals_from_minus_one(seen: InfoSeen) -> Iterator[Violation]:
    """The number of records and that of bytes are -1 if they are unknown, and otherwise not negative.

    Flight.proto: "Set these to -1 if unknown."
    """
    for name, value in (("total_records", seen.info.records), ("total_bytes", seen.info.bytes)):
        if value < -1:
            yield Violation(f"{name} of -1 or more", str(value))


@clause(
    "flight-info.descriptor-is-the-one-asked-for",
    over=lambda view: [one for one in infos(view) if one.of.raw.method == FlightMethod.GET_FLIGHT_INFO],
    source=FLIGHT_PROTO,
    level=Level.SHOULD,
    breaks="clients that keep infos by their descriptors",
    profiles=FLIGHT,
    role=Role.APPLICATION,
)
def descriptor_is_the_one_asked_for(seen: InfoSeen) -> Iterator[Violation]:
    """An info that names a descriptor names that of the request. It may name none.

    Flight.proto: "The descriptor associated with this info."
    """
    asked, named = message_of("FlightDescriptor", seen.of.raw.request), seen.info.descriptor
    if asked is not None and named is not None and meaning_of(asked) != named:
        yield Violation(f"the descriptor of the request, {in_words(meaning_of(asked))}, or none", in_words(named))


@about
def _redeemed(view: FlightView) -> list[GetView]:
    """Return the first call for each ticket of an info, before its tickets were cancelled.

    Whether a ticket can be redeemed again, or after its expiration time, is the application's choice (the page, on
    expiration times), and a statement that cannot be executed may be refused only there. Those of the server's own
    flights are judged by ``flight-listed.tickets-are-redeemed``.
    """
    redeemed: dict[bytes | None, GetView] = {}
    for get in view.gets:
        redeemed.setdefault(get.ticket, get)
    first = [get for get in redeemed.values() if get.info is not None and get.info.read_of(get.ticket) is get]
    first = [get for get in first if get.info is not None and executable(get.info) and not get.may_be_over]
    first = [get for get in first if get.info is not None and not get.info.found and not get.info.put_until(get)]
    actions = (at for at, call in enumerate(view.calls) if call.raw.method == FlightMethod.DO_ACTION)
    until = next(actions, len(view.calls))
    return [get for get in first if get.answered and get.index <= until]


@clause(
    "flight-info.tickets-are-redeemed",
    over=_redeemed,
    source=(FLIGHT_PROTO, FLIGHT_PAGE),
    breaks="every client: a part of the flight is missing",
    profiles=FLIGHT,
    role=Role.APPLICATION,
)
def tickets_are_redeemed(get: GetView) -> Iterator[Violation]:
    """The ticket of each endpoint is redeemed by DoGet where the endpoint says; without a location, by the same server.

    Flight.proto: "If the list is empty, the expectation is that the ticket can only be redeemed on the current service
    where the ticket was generated." The page: "The client must consume all endpoints to retrieve the complete data
    set."
    """
    if not get.ok:
        yield Violation("status OK for a ticket that was just given out", f"{get.raw.status}: {get.raw.details}")


@clause(
    "flight-info.endpoints-have-tickets",
    over=infos,
    source=FLIGHT_PROTO,
    breaks="every client: the endpoint cannot be read",
    profiles=FLIGHT,
    role=Role.APPLICATION,
)
def endpoints_have_tickets(seen: InfoSeen) -> Iterator[Violation]:
    """Each endpoint has a ticket, unless it names a location that is no Flight server: HTTP needs none, for example.

    Flight.proto, FlightEndpoint: "Token used to retrieve this stream."
    """
    for number, endpoint in enumerate(seen.info.endpoints):
        if endpoint.ticket is None and all(not uri or uri.startswith(_FLIGHT_SCHEMES) for uri in endpoint.locations):
            yield Violation("a ticket", "none", field=f"endpoint[{number}].ticket")
