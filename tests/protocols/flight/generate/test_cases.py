"""A case that speaks Flight is loaded, checked and shown; an Arrow table is made of its integration form."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow as pa
import pytest

from conformance.generate import CaseFileError, load_case, materialise, save_case
from conformance.generate.casecheck import check_case
from conformance.generate.caseschema import case_schema
from conformance.protocol import DEFAULT_PROTOCOL
from conformance.protocols.flight.records import (
    Damage,
    Descriptor,
    DoAction,
    DoExchange,
    DoGet,
    DoPut,
    GetFlightInfo,
    ListFlights,
    PollFlightInfo,
)
from conformance.records import ArrowTable, Case, CreateSession, Expect, Json, Recipe, RecordError, Step, Table, to_json
from tests.protocols.flight.records.steps import ARROW, FLIGHT_CASE, INT32, WORDS


@pytest.mark.parametrize("suffix", [".yaml", ".json"])
def test_a_case_of_flight_survives_its_file(tmp_path: Path, suffix: str) -> None:
    """In either form."""
    path = tmp_path / f"case{suffix}"

    save_case(FLIGHT_CASE, path)

    assert load_case(path) == FLIGHT_CASE


def test_a_case_of_flight_is_of_the_schema() -> None:
    """So that editors know its keys; a step of no protocol is none."""
    validator = jsonschema.Draft202012Validator(case_schema())
    data = json.loads(json.dumps(to_json(FLIGHT_CASE)))

    assert list(validator.iter_errors(data)) == []
    data["steps"][0]["op"] = "handshakes"
    assert list(validator.iter_errors(data)) != []


def test_an_arrow_table_is_made_of_its_batches() -> None:
    """Types, nullability, dictionaries, metadata and values are those written."""
    table = materialise(FLIGHT_CASE.table)

    assert table.schema.field("n") == pa.field("n", pa.int32(), nullable=False, metadata={"unit": "m"})
    assert table.schema.field("word").type == pa.dictionary(pa.int32(), pa.utf8())
    assert table.schema.metadata == {b"origin": b"a test"}
    assert table.to_pylist() == [{"n": 7, "word": "b", "list": ["x"]}, {"n": 8, "word": None, "list": []}]


def test_an_arrow_table_without_batches_has_no_rows() -> None:
    """It still has its schema."""
    table = materialise(Table((), arrow=dataclasses.replace(ARROW, batches=())))

    assert (table.num_rows, table.num_columns) == (0, 3)


def arrow(**parts: Any) -> Case:
    """The case with another Arrow table."""
    return dataclasses.replace(FLIGHT_CASE, table=Table((), arrow=dataclasses.replace(ARROW, **parts)))


def steps(*steps: Step, protocol: str = "flight", table: Table = FLIGHT_CASE.table) -> Case:
    """A case of these steps."""
    return Case("a", "t", table, steps, protocol=protocol)


@pytest.mark.parametrize(
    ("case", "message"),
    [
        (
            arrow(fields=(dataclasses.replace(ARROW.fields[0], type=INT32 | {"name": Json("integer")}),)),
            "expected a type name among",
        ),
        (arrow(fields=(dataclasses.replace(ARROW.fields[0], type={}),)), "not of the integration form: KeyError"),
        (arrow(dictionaries=()), "points into a dictionary that the document does not contain"),
        (arrow(dictionaries=(Json({"ID": 0}),)), "Case.table.arrow: expected Arrow data in the integration form"),
        (arrow(batches=(Json({"count": 3}),)), "batch 0 is not of the integration form"),
        (arrow(batches=(Json(3),)), "batch 0 is not of the integration form"),
        (steps(CreateSession()), "Case.steps[0]: expected a step of flight, the protocol of the case but got 'create-"),
        (
            steps(DoPut(WORDS), protocol=DEFAULT_PROTOCOL, table=Table((), recipe=Recipe(1))),
            "Case.steps[0]: expected a step of storage-read, the protocol of the case but got 'do-put'",
        ),
        (
            steps(protocol=DEFAULT_PROTOCOL),
            "Case.table.arrow: expected columns, because the case is of storage-read",
        ),
        (steps(DoGet()), "Case.steps[0].info: expected the label of an earlier get-flight-info step but got 'i'"),
        (steps(GetFlightInfo(WORDS), DoGet(endpoint="first")), "Case.steps[1].endpoint: expected '*' or an endpoint's"),
        (steps(DoAction("CancelFlightInfo", info="i")), "Case.steps[0].info: expected the label of an earlier"),
        (
            steps(GetFlightInfo(WORDS), DoAction("CancelFlightInfo", b"x", info="i")),
            "Case.steps[1].body: expected no body where info names its content but got",
        ),
        (
            steps(DoAction("RenewFlightEndpoint", endpoint="0")),
            "Case.steps[0].endpoint: expected an endpoint's index, of the info that is named but got '0'",
        ),
        (steps(DoPut(WORDS, first=-1)), "Case.steps[0].first: expected a number of rows from 0 to 9223372036854775807"),
        (steps(DoPut(WORDS, count=1 << 63)), "Case.steps[0].count: expected a number of rows from 0 to "),
        (
            steps(DoPut(WORDS, damage=Damage.BODY_CUT)),
            "Case.steps[0].damage: expected a step that sends 3 rows or more but got",
        ),
        (
            steps(DoExchange(WORDS, damage=Damage.BODY_CUT, rows=False), table=Table((), recipe=Recipe(9))),
            "Case.steps[0].damage: expected a step that sends 3 rows or more but got",
        ),
        (steps(DoAction("\ud800")), "Case.steps[0].type: expected a text without lone surrogates but got"),
        (
            steps(DoExchange(WORDS, alone=1001)),
            "Case.steps[0].alone: expected at most 1000 messages but got 1001",
        ),
        (
            steps(GetFlightInfo(Descriptor(info="i"))),
            "Case.steps[0].descriptor.info: expected the label of an earlier step that gives an info but got 'i'",
        ),
        (
            steps(ListFlights(label="i"), PollFlightInfo(Descriptor(info="i"))),
            "Case.steps[1].descriptor: expected a path or a cmd in this step but got 'i'",
        ),
        (steps(ListFlights(nth=-2)), "Case.steps[0].nth: expected the index of a flight from 0 to 1000, or -1 but got"),
        (steps(PollFlightInfo(WORDS, most=0)), "Case.steps[0].most: expected a number of calls from 1 to 1000"),
        (steps(DoPut(WORDS), table=Table((), rows=())), "Case.steps[0]: expected a table with columns or Arrow fields"),
        (steps(DoGet(ticket=b"t", expect=Expect(rows=(2,)))), "indices into the table's 2 rows but got 2"),
    ],
)
def test_parts_that_do_not_fit_are_refused(case: Case, message: str) -> None:
    """In one sentence with the place."""
    with pytest.raises(RecordError) as error:
        check_case(case)

    assert message in str(error.value)


@pytest.mark.parametrize("parts", [{}, {"path": ("a",), "cmd": b"b"}])
def test_a_descriptor_is_a_path_or_a_command(parts: dict[str, Any]) -> None:
    """Both, or neither, say nothing that a server could know."""
    with pytest.raises(RecordError, match="either a path or a cmd"):
        Descriptor(**parts)


def test_a_table_has_columns_or_an_arrow_table() -> None:
    """Rows of columns are nowhere in an Arrow table."""
    with pytest.raises(RecordError, match="either rows, a recipe or an Arrow table"):
        Table((), rows=(), arrow=ArrowTable(()))


def test_a_file_with_broken_batches_is_no_case(tmp_path: Path) -> None:
    """The file is named, and the place inside it."""
    path = tmp_path / "case.json"
    data = json.loads(json.dumps(to_json(FLIGHT_CASE)))
    data["table"]["arrow"]["batches"][0]["count"] = 5
    path.write_text(json.dumps(data))

    with pytest.raises(CaseFileError) as error:
        load_case(path)

    said = "Case.table.arrow: expected Arrow data in the integration form (batch 0 has columns "
    assert str(error.value).startswith(f"{path}: {said}")
