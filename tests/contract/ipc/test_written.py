"""A writer's input compared with its output, and extension types in fields."""

from __future__ import annotations

import inspect
from collections.abc import Sequence

import pyarrow as pa
import pytest

from conformance.contract.ipc.ipcview import Attached
from conformance.contract.ipc.judging import judge_ipc
from conformance.records import Outcome
from conformance.wire import Kind
from conformance.wire.intervals import YEAR_MONTH
from tests.contract.ipc.broken import GOOD, written
from tests.wire.corpus import batches

NESTED = pa.list_(pa.field("item", pa.struct([pa.field("a", pa.int32())])))
FIELDS = [
    pa.field("n", pa.int64(), metadata={"unit": "mm"}),
    pa.field("l", NESTED),
    pa.field("d", pa.dictionary(pa.int8(), pa.utf8(), ordered=True)),
    pa.field("e", pa.utf8(), metadata={"ARROW:extension:name": "org.example", "ARROW:extension:metadata": "{}"}),
]
ROWS = [{"n": 1, "l": [{"a": 1}], "d": "x", "e": "a"}, {"n": None, "l": None, "d": None, "e": "b"}]


def batch(*fields: pa.Field, rows: Sequence[dict[str, object]] = ROWS, **metadata: str) -> pa.RecordBatch:
    """The rows under these fields in place of those of their places."""
    schema = pa.schema([*fields, *FIELDS[len(fields) :]], metadata=metadata or {"of": "schema"})
    columns = [pa.array([row[old.name] for row in rows], new.type) for old, new in zip(FIELDS, schema, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def failures(found: pa.RecordBatch, *given: pa.RecordBatch, kind: str = "stream") -> list[str]:
    """The clauses that fail where ``found`` was written, and ``given`` was to be."""
    verdicts = judge_ipc(written(kind, found), Kind(kind), expected=list(given or (batch(),)))
    return [one.clause for one in verdicts if one.outcome is Outcome.FAIL]


N, L, D, E = FIELDS


@pytest.mark.parametrize(
    ("found", "clauses"),
    [
        (batch(), []),
        (batch(N.with_name("m")), ["written.names"]),
        (batch(N.with_type(pa.int32())), ["written.types"]),
        (batch(N, L.with_type(pa.large_list(NESTED.value_field))), ["written.types"]),
        (batch(N, L.with_type(pa.list_(pa.field("element", NESTED.value_type)))), ["written.child-names"]),
        (batch(N, L.with_type(pa.list_(pa.field("item", NESTED.value_type, nullable=False)))), ["written.nullable"]),
        (batch(N.remove_metadata()), ["written.field-metadata"]),
        (batch(N.with_metadata({"unit": "mm", "more": "too"})), []),
        (batch(of="another"), ["written.schema-metadata"]),
        (batch(N, L, D.with_type(pa.dictionary(pa.int8(), pa.utf8()))), ["written.encoding"]),
        (batch(N, L, D.with_type(pa.utf8())), ["written.encoding"]),
        (batch(N, L, D, E.remove_metadata()), ["written.extension-names", "written.field-metadata"]),
        (batch(rows=ROWS[:1]), ["written.rows"]),
        (batch(rows=[ROWS[1], ROWS[0]]), ["written.rows"]),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, list) else "",
)
def test_each_loss_has_its_clause(found: pa.RecordBatch, clauses: list[str]) -> None:
    """A difference from the input is reported once; rows are compared whatever the names of their columns."""
    assert failures(found) == clauses


@pytest.mark.parametrize(("length", "shown"), [(200, 200), (201, 200), (5000, 200)])
def test_long_metadata_is_cut(length: int, shown: int) -> None:
    """A finding shows two hundred characters of the metadata, the last of them dots if there are more."""
    value = "x" * (length - len("{b'unit': b''}"))
    given = batch(N.with_metadata({"unit": value}))

    (verdict,) = (
        one
        for one in judge_ipc(written("stream", batch(N.remove_metadata())), Kind.STREAM, expected=[given])
        if one.outcome is Outcome.FAIL
    )

    (finding,) = verdict.findings
    text = f"{{b'unit': b'{value}'}}"
    assert (verdict.clause, finding.field, finding.observed) == ("written.field-metadata", "n", "{}")
    assert finding.required == "the pairs " + (text if length == shown else f"{text[:197]}...")


def _attached(kind: str, place: str, given: dict[str, str]) -> dict[str, Outcome]:
    """The verdicts on metadata where two pairs were to be at that place, and these were ``given`` to all batches but
    the first, or to the file.
    """
    sink = pa.BufferOutputStream()
    at = {place: given}
    new = pa.ipc.new_file if kind == "file" else pa.ipc.new_stream
    of_file = {"metadata": given} if place == "file" else {}
    if of_file and "metadata" not in inspect.signature(pa.ipc.new_file).parameters:
        pytest.skip("this pyarrow writes no metadata of a file")
    with new(sink, GOOD.schema, **of_file) as writer:
        for number in range(2):
            writer.write_batch(GOOD, custom_metadata=at.get("batches") if number else PAIRS)
    attached = Attached(place, PAIRS)
    verdicts = judge_ipc(sink.getvalue().to_pybytes(), Kind(kind), expected=[GOOD] * 2, attached=attached)
    return {
        one.clause: one.outcome for one in verdicts if one.clause in ("written.batch-metadata", "written.file-metadata")
    }


PAIRS = {"größe": "7", "empty": ""}


@pytest.mark.parametrize(
    ("given", "outcome"),
    [
        (PAIRS, Outcome.PASS),
        ({**PAIRS, "more": "too"}, Outcome.PASS),
        ({"größe": "7"}, Outcome.FAIL),
        ({"größe": "7", "empty": "8"}, Outcome.FAIL),
        ({}, Outcome.FAIL),
    ],
    ids=["kept", "more", "one lost", "one changed", "all lost"],
)
@pytest.mark.parametrize(("kind", "place"), [("stream", "batches"), ("file", "batches"), ("file", "file")])
def test_metadata_is_kept_where_it_was_given(kind: str, place: str, given: dict[str, str], outcome: Outcome) -> None:
    """Each batch has its pairs, and the footer those of the file; only the place that was asked for is looked at."""
    clause = "written.batch-metadata" if place == "batches" else "written.file-metadata"

    assert _attached(kind, place, given) == {clause: outcome}


@pytest.mark.parametrize("kind", ["stream", "file"])
def test_what_pyarrow_writes_is_what_it_was_given(kind: str) -> None:
    """Every type comes back, in streams and files, divided into batches in any way."""
    for name in ("every type", "every type, sliced", "every type, no rows"):
        given = batches().get(name)
        if given is not None:
            assert failures(given, given, kind=kind) == []
    (joined,) = pa.Table.from_batches([GOOD, GOOD]).combine_chunks().to_batches()
    assert failures(joined, GOOD, GOOD, kind=kind) == []


@pytest.mark.parametrize(
    ("data", "said", "outcome"),
    [
        (written("stream", GOOD), "", Outcome.PASS),
        (written("stream", GOOD), "refused: invalid storage", Outcome.FAIL),
        (written("stream", GOOD), None, None),
        (b"no stream", "refused: no stream", None),
    ],
    ids=["read", "refused", "not asked", "no stream"],
)
def test_a_library_reads_what_it_wrote(data: bytes, said: str | None, outcome: Outcome | None) -> None:
    """An error of the writer's own library fails, unless the bytes cannot be decoded, which other clauses say."""
    verdicts = judge_ipc(data, Kind.STREAM, expected=[GOOD], read_back=said)

    assert [one.outcome for one in verdicts if one.clause == "written.reads-back"] == [*filter(None, [outcome])]


@pytest.mark.parametrize(
    ("found", "clauses"),
    [
        ('{"a":1,"b":[2]}', []),
        ('{ "b": [2], "a": 1 }', []),
        ('{"a": 1}', ["written.field-metadata"]),
        ("{", ["written.field-metadata"]),
    ],
)
def test_the_json_of_an_extension_type_may_be_spelled_anew(found: str, clauses: list[str]) -> None:
    """Spaces and the order of keys do not count; content does."""
    given, other = (
        batch(N, L, D, E.with_metadata({"ARROW:extension:name": "org.example", "ARROW:extension:metadata": text}))
        for text in ('{"a": 1, "b": [2]}', found)
    )

    assert failures(other, given) == clauses


def test_an_interval_without_a_class_in_pyarrow_is_no_extension() -> None:
    """The suite's own stand-in for the type has a name that no writer was given."""
    numbers = pa.array([1, 2], pa.int32())
    given = pa.RecordBatch.from_pydict({"n": pa.ExtensionArray.from_storage(YEAR_MONTH, numbers)})

    assert "written.extension-names" not in failures(pa.RecordBatch.from_pydict({"n": numbers}), given)


def test_nothing_is_compared_where_nothing_is_known() -> None:
    """Without batches to compare with, no clause on what was written is observed."""
    verdicts = judge_ipc(written("stream", GOOD), Kind.STREAM, writer=True)

    assert not [one for one in verdicts if one.clause.startswith("written.")]


@pytest.mark.parametrize(
    ("metadata", "clauses"),
    [
        ({"ARROW:extension:name": "org.example"}, []),
        ({"ARROW:extension:name": "arrow.json"}, []),
        ({"ARROW:extension:metadata": "{}"}, ["metadata.extension-named"]),
        ({"ARROW:extension:name": "arrow.mine"}, ["metadata.canonical-names"]),
    ],
    ids=str,
)
def test_marks_of_extension_types(metadata: dict[str, str], clauses: list[str]) -> None:
    """Parameters want a name, and names of the format's own are its own."""
    made = pa.record_batch([pa.array(["a"])], schema=pa.schema([pa.field("x", pa.utf8(), metadata=metadata)]))

    verdicts = judge_ipc(written("stream", made), Kind.STREAM, writer=True)

    assert [one.clause for one in verdicts if one.outcome is Outcome.FAIL] == clauses
