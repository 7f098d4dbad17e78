"""A known flight is a case with the rows of its file."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest

from conformance.protocols.flight.engine.described import known_cases
from conformance.protocols.flight.records import Descriptor, DoGet, GetFlightInfo, GetSchema, SqlQuery
from conformance.protocols.flight.table.dialect import SqlSpec
from conformance.protocols.flight.table.spec import FlightSeeding, FlightSpec, KnownFlight
from conformance.records import BqType
from conformance.targets import TargetError, TargetSpec

TABLE = pa.table({"n": pa.array([1, None], pa.int32()), "word": ["a", None], "x": [0.5, None]})


def spec_of(here: Path, known: KnownFlight) -> TargetSpec:
    """A target with one known flight, whose file is in a directory."""
    flight = FlightSpec(FlightSeeding.KNOWN, sql=SqlSpec(), known=(known,))
    return TargetSpec("x", "flight", own=flight, file=str(here / "x.toml"))


def write(path: Path) -> None:
    """The table as a file of the kind of its suffix."""
    match path.suffix:
        case ".parquet":
            pyarrow.parquet.write_table(TABLE, path)
        case ".jsonl":
            path.write_text('{"n": 1, "word": "a", "x": 0.5}\n\n{"n": null, "word": null, "x": null}\n')
        case ".json":
            path.write_text('[{"n": 1, "word": "a", "x": 0.5}, {"n": null, "word": null, "x": null}]')
        case suffix:
            kind = pyarrow.ipc.new_file if suffix == ".arrow" else pyarrow.ipc.new_stream
            with kind(str(path), TABLE.schema) as writer:
                writer.write_table(TABLE)


@pytest.mark.parametrize("name", ["t.parquet", "t.jsonl", "t.json", "t.arrow", "t.arrows"])
def test_the_rows_are_those_of_the_file(name: str, tmp_path: Path) -> None:
    """Whatever its kind; integers and texts of any width are one type."""
    write(tmp_path / name)
    (case,) = known_cases(spec_of(tmp_path, KnownFlight("w", name, path=("a", "b"))))

    assert case.id == "flight-known.w"
    assert [column.type for column in case.table.columns] == [BqType.INT64, BqType.STRING, BqType.FLOAT64]
    assert case.table.rows == ({"n": 1, "word": "a", "x": 0.5}, {"n": None, "word": None, "x": None})


def test_it_is_asked_for_by_its_descriptor(tmp_path: Path) -> None:
    """The path is left as it is; all rows are expected."""
    write(tmp_path / "t.json")
    (case,) = known_cases(spec_of(tmp_path, KnownFlight("w", "t.json", path=("a", "b"))))
    info, schema, get = case.steps

    assert isinstance(info, GetFlightInfo)
    assert isinstance(schema, GetSchema)
    assert isinstance(get, DoGet)
    assert info.descriptor == Descriptor(path=("a", "b"), known=True)
    assert (info.expect.codes, info.expect.rows) == (("OK",), (0, 1))


def test_it_is_asked_for_by_its_statement(tmp_path: Path) -> None:
    """As the target file has it."""
    write(tmp_path / "t.json")
    (case,) = known_cases(spec_of(tmp_path, KnownFlight("w", "t.json", sql="SELECT * FROM w")))

    assert isinstance(case.steps[0], SqlQuery)
    assert case.steps[0].sql == "SELECT * FROM w"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("[1", "cannot read the rows of a known flight"), ('{"a": {"b": 1}}', "but a has struct<b: int64>")],
)
def test_a_file_that_does_not_fit_is_refused(text: str, sentence: str, tmp_path: Path) -> None:
    """In a sentence with its name."""
    (tmp_path / "t.json").write_text(text)

    with pytest.raises(TargetError, match=sentence):
        known_cases(spec_of(tmp_path, KnownFlight("w", "t.json", command="c")))
