"""Whatever records hold, their JSON text and their Arrow row give them back."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, get_type_hints

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from conformance.protocol import DEFAULT_PROTOCOL, protocol_names
from conformance.protocols.flight.records import (
    Damage,
    Descriptor,
    DoExchange,
    DoGet,
    DoPut,
    EndOfSavepoint,
    EndOfTransaction,
    FlightLogin,
    FlightMethod,
    FlightToken,
    FlightWriting,
    IfExists,
    IfNotExist,
    NameForm,
    Naming,
    Spelling,
    SqlQuery,
    SqlUpdate,
)
from conformance.protocols.flight.records.calls import DAMAGED_BATCHES
from conformance.records import (
    ArrowField,
    ArrowTable,
    Asker,
    AskerKind,
    Call,
    CallEnd,
    Case,
    Exchange,
    Expect,
    GivingUp,
    Happening,
    Json,
    KeyValue,
    MetadataEntry,
    Table,
    Turn,
    arrow_schema,
    from_json,
    from_row,
    steps_of,
    to_json,
    to_row,
)

TEXTS = st.text(st.characters(codec="utf-8"), max_size=8)
BYTES = st.binary(max_size=8)
ENTRIES = st.builds(MetadataEntry, key=TEXTS, value=BYTES)
JSONS = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
).map(Json)


@st.composite
def calls(draw: st.DrawFn) -> Call:
    """A call of any shape: plain, or with requests and responses in any order."""
    order = draw(st.text([Turn.REQUEST, Turn.RESPONSE], max_size=6))
    ended = draw(st.integers(0, len(order)) | st.none())
    if ended is not None and Turn.REQUEST not in order[ended:]:
        order = order[:ended] + Turn.HALF_CLOSE + order[ended:]
    requests = draw(st.lists(BYTES, min_size=order.count(Turn.REQUEST), max_size=order.count(Turn.REQUEST)))
    answers = order.count(Turn.RESPONSE) if order else draw(st.integers(0, 3))
    return Call(
        draw(st.integers(0, 5)),
        draw(TEXTS),
        draw(TEXTS),
        requests[0] if requests else b"",
        tuple(draw(st.lists(BYTES, min_size=answers, max_size=answers))),
        status=draw(st.sampled_from(["", "OK", "INTERNAL"])),
        details=draw(TEXTS),
        trailers=tuple(draw(st.lists(ENTRIES, max_size=2))),
        end=draw(st.sampled_from(CallEnd)),
        more_requests=tuple(requests[1:]),
        order=order,
        initial_metadata=tuple(draw(st.lists(ENTRIES, max_size=2))),
    )


ASKERS = st.just(Asker()) | st.builds(
    Asker,
    kind=st.sampled_from([AskerKind.PROXY, AskerKind.REPLAY_SERVER]),
    client=TEXTS.filter(bool),
    version=TEXTS,
)
EXCHANGES = st.builds(
    Exchange,
    case_id=TEXTS,
    target=TEXTS,
    calls=st.lists(calls(), max_size=3).map(tuple),
    untestable=TEXTS,
    skipped_steps=st.lists(st.integers(0, 9), max_size=2).map(tuple),
    now=st.integers(0, 2**62),
    protocol=st.sampled_from(protocol_names()),
    asked_by=ASKERS,
)
PAIRS = st.lists(st.builds(KeyValue, key=TEXTS, value=TEXTS), max_size=2).map(tuple)
TYPES = st.dictionaries(TEXTS, JSONS, max_size=2)


def fields(children: st.SearchStrategy[ArrowField] | None = None) -> st.SearchStrategy[ArrowField]:
    """An Arrow field over some of these."""
    return st.builds(
        ArrowField,
        name=TEXTS,
        type=TYPES,
        nullable=st.booleans(),
        children=st.just(()) if children is None else st.lists(children, max_size=2).map(tuple),
        dictionary=st.none() | TYPES,
        metadata=PAIRS,
    )


ARROW_TABLES = st.builds(
    ArrowTable,
    fields=st.lists(st.recursive(fields(), fields, max_leaves=3), max_size=2).map(tuple),
    metadata=PAIRS,
    dictionaries=st.lists(JSONS, max_size=1).map(tuple),
    batches=st.lists(JSONS, max_size=1).map(tuple),
)
DESCRIPTORS = st.builds(
    Descriptor, path=st.lists(TEXTS, min_size=1, max_size=2).map(tuple), form=st.sampled_from(NameForm)
) | st.builds(Descriptor, cmd=BYTES.filter(bool))
VALUES: dict[object, st.SearchStrategy[Any]] = {
    str: TEXTS,
    bytes: BYTES,
    bool: st.booleans(),
    int: st.integers(0, 9),
    int | None: st.none() | st.integers(0, 9),
    FlightMethod: st.sampled_from(FlightMethod),
    **{kind: st.sampled_from(kind) for kind in (Damage, FlightLogin, FlightToken, FlightWriting, Naming, Spelling)},
    **{kind: st.sampled_from(kind) for kind in (FlightMethod, EndOfTransaction, EndOfSavepoint, IfExists, IfNotExist)},
    GivingUp: st.sampled_from(GivingUp),
    Happening: st.sampled_from(Happening),
    tuple[str, ...]: st.lists(TEXTS, max_size=2).map(tuple),
    tuple[int, ...]: st.lists(st.integers(0, 9), max_size=2).map(tuple),
    bytes | None: st.none() | BYTES,
    tuple[bytes, ...]: st.lists(BYTES, max_size=2).map(tuple),
    Descriptor: DESCRIPTORS,
    Descriptor | None: st.none() | DESCRIPTORS,
    Expect: st.builds(Expect, codes=st.just(("OK", "NOT_FOUND")), reason=TEXTS),
}


def steps(kind: type) -> st.SearchStrategy[Any]:
    """Any step of a kind; a field of a type that is not among the values above is a mistake here."""
    hints = get_type_hints(kind)
    values = {field.name: VALUES[hints[field.name]] for field in dataclasses.fields(kind)}
    if kind in (SqlQuery, SqlUpdate):  # a statement, or a prepared one
        said, left = TEXTS.filter(bool), st.just("")
        alone = [{"sql": said, "prepared": left}, {"sql": left, "prepared": said}]
        if kind is SqlQuery:
            unplanned: dict[str, st.SearchStrategy[Any]] = {"plan": st.just(b"")}
            alone = [{**one, **unplanned} for one in alone]
            alone.append({"sql": left, "prepared": left, "plan": BYTES.filter(bool)})
        return st.one_of(*(st.builds(kind, **{**values, **one}) for one in alone))
    if kind in (DoPut, DoExchange):  # a client that gives up does so after some message
        values["at"] = st.integers(0, DAMAGED_BATCHES - 1)
        left_up = {"stop": st.integers(1, 9)}, {"stop": st.none(), "gives_up": st.just(GivingUp.CANCEL)}
        return st.one_of(*(st.builds(kind, **{**values, **one}) for one in left_up))
    if kind is DoGet:
        late = {"take": st.integers(0, 9), "gives_up": st.just(GivingUp.DEADLINE)}
        return st.builds(kind, **{**values, **late}) | st.builds(
            kind, **{**values, "gives_up": st.just(GivingUp.CANCEL)}
        )
    return st.builds(kind, **values)


CASES = st.builds(
    Case,
    id=TEXTS,
    title=TEXTS,
    table=st.builds(Table, columns=st.just(()), rows=st.none(), recipe=st.none(), arrow=ARROW_TABLES),
    steps=st.lists(st.one_of(*map(steps, steps_of("flight"))), max_size=3).map(tuple),
    protocol=st.just("flight"),
)


@given(EXCHANGES)
def test_an_exchange_survives_json_and_an_arrow_row(exchange: Exchange) -> None:
    """Every message in its order, all metadata, and who asked."""
    table = pa.Table.from_pylist([to_row(exchange)], schema=arrow_schema(Exchange))

    assert from_json(Exchange, json.loads(json.dumps(to_json(exchange)))) == exchange
    assert from_row(Exchange, table.to_pylist()[0]) == exchange


@given(CASES)
def test_a_flight_case_survives_json_and_an_arrow_row(case: Case) -> None:
    """Arrow fields at every depth, and every step of Flight."""
    table = pa.Table.from_pylist([to_row(case)], schema=arrow_schema(Case))

    assert from_json(Case, json.loads(json.dumps(to_json(case)))) == case
    assert from_row(Case, table.to_pylist()[0]) == case


@given(EXCHANGES)
def test_a_row_without_the_later_columns_has_their_defaults(exchange: Exchange) -> None:
    """As a file has them that was written before they were there; Spark gives null for each."""
    row = to_row(exchange)
    for name in ("protocol", "asked_by"):
        row[name] = None
    for call in row["calls"]:
        call["more_requests"], call["order"] = None, None
        del call["initial_metadata"]

    read = from_row(Exchange, row)

    assert (read.protocol, read.asked_by) == (DEFAULT_PROTOCOL, Asker())
    assert [call.responses for call in read.calls] == [call.responses for call in exchange.calls]
    assert {call.initial_metadata for call in read.calls} <= {()}
