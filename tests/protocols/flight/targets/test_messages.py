"""The request messages of the steps of a case."""

from __future__ import annotations

import dataclasses

import pyarrow.flight as pf
import pytest

from conformance.generate import materialise
from conformance.protocols.flight.contract.decoding import DecodedEndpoint, Info, message_of, read_data
from conformance.protocols.flight.contract.encoding import descriptor, part
from conformance.protocols.flight.records import Descriptor, DoAction, DoPut, NameForm
from conformance.protocols.flight.targets.messages import FlightNames, action_of
from conformance.protocols.flight.targets.puts import put_messages
from conformance.records import Json, Table
from tests.protocols.flight.reference.direct import PATH, ROWS, case_of

ENDPOINT = DecodedEndpoint(b"\x0a\x03\x0a\x01t", b"t", (), None)
INFO = Info(b"raw", b"", None, (ENDPOINT,), 0, 0, ordered=False)
NAMED = descriptor(Descriptor(path=("a",)))


@pytest.mark.parametrize(
    ("names", "path"),
    [
        (FlightNames("flight.put"), ("flight.put.table",)),
        (FlightNames("flight.put", ("db", "t-{name}")), ("db", "t-flight.put.table")),
        (FlightNames("flight.put", token="x1"), ("flight.put.table.x1",)),
    ],
)
def test_a_flight_is_called_after_its_case(names: FlightNames, path: tuple[str, ...]) -> None:
    """In the part of the path that the target file says; with a token where other runs may have flights."""
    assert names.descriptor(Descriptor(path=("table",))) == Descriptor(path=path)


def test_a_command_is_left_as_it_is() -> None:
    """What it means is the server's own."""
    assert FlightNames("a", token="x").descriptor(Descriptor(cmd=b"\xff")) == Descriptor(cmd=b"\xff")


def test_a_table_comes_with_its_schema_and_descriptor() -> None:
    """One message for the schema, one for each batch; only the latter have rows."""
    case = case_of()
    found = list(put_messages(case, materialise(case.table), DoPut(PATH), NAMED, b""))
    messages = [read_data(data) for data, _ in found]

    assert [rows for _, rows in found] == [False] + [True] * (len(found) - 1)
    assert [one.descriptor if one else None for one in messages] == [(1, b"", ("a",))] + [None] * (len(found) - 1)
    assert all(one is not None and one.header for one in messages)


def test_a_descriptor_may_come_ahead() -> None:
    """In a message without a header; the schema then names none."""
    case = case_of()
    first, second, *_ = (
        read_data(data) for data, _ in put_messages(case, materialise(case.table), DoPut(PATH, ahead=True), NAMED, b"")
    )

    assert first is not None
    assert second is not None
    assert (first.header, second.descriptor) == (None, None)
    assert first.descriptor == (1, b"", ("a",))


def test_a_table_without_rows_is_a_schema() -> None:
    """And nothing else."""
    case = case_of(table=dataclasses.replace(ROWS, rows=()))

    assert len(list(put_messages(case, materialise(case.table), DoPut(PATH), NAMED, b""))) == 1


def test_dictionaries_come_before_their_batch() -> None:
    """They have no rows of their own."""
    table = Table(ROWS.columns, rows=(Json({"n": 1, "word": "a"}),))
    rows = materialise(table)
    encoded = rows.set_column(1, "word", rows.column("word").combine_chunks().dictionary_encode())

    assert [has for _, has in put_messages(case_of(table=table), encoded, DoPut(PATH), NAMED, b"")] == [
        False,
        False,
        True,
    ]


def test_an_action_has_its_body_or_what_the_server_gave_out() -> None:
    """An info whole, or one of its endpoints, byte for byte; nothing if there is none."""
    cancel, renew = DoAction("c", info="i"), DoAction("r", info="i", endpoint="0")

    assert pf.Action.deserialize(action_of(DoAction("x", b"b"), None)).body == b"b"
    assert pf.Action.deserialize(action_of(cancel, INFO)).body == part(1, b"raw")
    assert pf.Action.deserialize(action_of(renew, INFO)).body == part(1, ENDPOINT.raw)
    assert action_of(cancel, None) is None
    assert action_of(dataclasses.replace(renew, endpoint="1"), INFO) is None
    assert message_of("Action", action_of(DoAction("x"), None) or b"") is not None


@pytest.mark.parametrize(
    ("form", "named"),
    [
        (NameForm.DOTTED, Descriptor(path=("db", "c.table.part.x1"))),
        (NameForm.SPLIT, Descriptor(path=("db", "c.table.x1", "part"))),
        (NameForm.SLASHED, Descriptor(path=("db", "c.table.x1/part"))),
        (NameForm.COMMAND, Descriptor(cmd=b"db/c.table.x1/part")),
    ],
)
def test_a_path_of_several_parts_has_forms(form: NameForm, named: Descriptor) -> None:
    """They look alike, and each is another descriptor."""
    names = FlightNames("c", ("db", "{name}"), "x1")

    assert names.descriptor(Descriptor(path=("table", "part"), form=form)) == named
