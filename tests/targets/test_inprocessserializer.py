"""Functions in this process are recorded like servers: messages and refusals."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest

from conformance.records import CallEnd, CreateSession, Exchange, ReadRows, Recipe, SplitStream
from conformance.targets import TargetError, TargetSpec, load_target, open_target
from conformance.targets.handing import SerializedSteps, batches_of, place_of
from tests.targets.conftest import ROOT, Write, case_of, table_of

MODULE = "conformance_test_serializer"


@pytest.fixture
def module() -> Iterator[Any]:
    """A module that a target file can name; tests put functions into it."""
    made: Any = types.ModuleType(MODULE)
    made.serialize_schema = lambda schema: b"schema"
    made.serialize_batch = lambda batch: str(batch.num_rows).encode()
    sys.modules[MODULE] = made
    yield made
    del sys.modules[MODULE]


@pytest.fixture
def spec(target_file: Write) -> TargetSpec:
    """A target file that names the module."""
    return target_file(f'name = "x"\nkind = "serializer"\n[serializer]\nentry = "{MODULE}"')


def drive(spec: TargetSpec, rows: int = 5) -> Exchange:
    """Drive one case."""
    with open_target(spec, alone=True) as target:
        return target.drive(case_of(rows=rows), table_of(case_of(rows=rows)))


def test_a_schema_and_batches_become_messages(module: Any, spec: TargetSpec) -> None:
    """The functions' results are the responses, under the steps that they stand for."""
    assert [(call.step, call.label, call.responses) for call in drive(spec).calls] == [
        (0, "schema", (b"schema",)),
        (1, "batch/0", (b"3",)),
        (1, "batch/1", (b"2",)),
    ]


@pytest.mark.parametrize("make", [bytearray, memoryview, pa.py_buffer])
def test_every_buffer_of_bytes_is_taken(module: Any, spec: TargetSpec, make: Callable[[bytes], Any]) -> None:
    """A buffer is as good as bytes."""
    module.serialize_schema = lambda schema: make(b"abc")

    assert drive(spec).calls[0].responses == (b"abc",)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (NotImplementedError("no"), "UNIMPLEMENTED"),
        (pa.ArrowNotImplementedError("no"), "UNIMPLEMENTED"),
        (pa.ArrowInvalid("no"), "INVALID_ARGUMENT"),
        (TypeError("no"), "INVALID_ARGUMENT"),
        (KeyError("no"), "INTERNAL"),
        (SystemExit("no"), "INTERNAL"),
    ],
)
def test_an_exception_is_a_status(module: Any, spec: TargetSpec, error: BaseException, status: str) -> None:
    """An exception of a function is recorded like a server's refusal, and ends the case."""

    def refuse(_batch: object) -> bytes:
        raise error

    module.serialize_batch = refuse

    calls = drive(spec).calls

    assert [call.status for call in calls] == ["OK", status]
    assert calls[1].details == f"{type(error).__name__}: {error}"


def test_another_type_than_bytes_is_the_serializers_defect(module: Any, spec: TargetSpec) -> None:
    """Text in place of bytes is named as what it is."""
    module.serialize_schema = lambda schema: "abc"

    call = drive(spec).calls[0]

    assert (call.status, call.details) == ("INTERNAL", "expected bytes from SerializeSchema but got str")


def test_an_exception_without_a_text_is_named(module: Any, spec: TargetSpec) -> None:
    """An exception while the text is made is part of the answer."""

    class Unspeakable(BaseException):
        def __str__(self) -> str:
            raise SystemExit

    def refuse(_schema: object) -> bytes:
        raise Unspeakable

    module.serialize_schema = refuse

    (call,) = drive(spec).calls

    assert (call.status, call.details) == ("INTERNAL", "Unspeakable, whose text raised SystemExit")


def test_more_than_the_limit_of_a_message_is_not_taken(module: Any, target_file: Write) -> None:
    """Beyond what the table explains; the call says how much came."""
    spec = target_file(f'name = "x"\nkind = "serializer"\n[serializer]\nentry = "{MODULE}"\n[limits]\nmessage = 1000')
    module.serialize_schema = lambda schema: bytes(2000)

    (call,) = drive(spec).calls

    assert (call.end, call.responses) == (CallEnd.OVER_BUDGET, ())
    assert call.details == "SerializeSchema returned 2000 bytes, and at most 1040 are taken"


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            "no_such_module:x",
            "target.serializer.entry: cannot import 'no_such_module': No module named 'no_such_module'",
        ),
        (f"{MODULE}:nothing", f"target.serializer.entry: module '{MODULE}' has no 'nothing'"),
        ("json", "target.serializer.entry: expected a function serialize_schema in 'json', which has none"),
    ],
)
def test_a_wrong_entry_is_one_sentence(module: Any, target_file: Write, entry: str, message: str) -> None:
    """An entry that cannot be used is refused with what is missing."""
    spec = target_file(f'name = "x"\nkind = "serializer"\n[serializer]\nentry = "{entry}"')

    with pytest.raises(TargetError) as raised, open_target(spec, alone=True):
        pytest.fail("opened")
    assert message in str(raised.value)


def test_an_entry_may_stand_beside_its_file(target_file: Write, tmp_path: Any) -> None:
    """``path`` makes a directory next to the target file importable, for this import only."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "beside_the_file.py").write_text(
        "class Mine:\n    serialize_schema = staticmethod(lambda schema: b's')\n"
        "    serialize_batch = staticmethod(lambda batch: b'b')\n"
    )
    spec = target_file('name = "x"\nkind = "serializer"\n[serializer]\nentry = "beside_the_file:Mine"\npath = ["code"]')

    assert drive(spec).calls[0].responses == (b"s",)
    assert not any(entry.endswith("/code") for entry in sys.path)


def test_pyarrow_is_a_target() -> None:
    """The shipped serializer gives messages that pyarrow reads back, and its own version."""
    with open_target(load_target(ROOT / "targets" / "pyarrow.toml")) as target:
        exchange = target.drive(case_of(rows=3), table_of(case_of(rows=3)))
        version = target.version

    schema, *batches = [call.responses[0] for call in exchange.calls]
    read = [pa.ipc.read_record_batch(batch, pa.ipc.read_schema(pa.py_buffer(schema))) for batch in batches]
    assert pa.Table.from_batches(read).equals(table_of(case_of(rows=3)))
    assert version == pa.__version__


@pytest.mark.parametrize(
    ("steps", "place"),
    [
        ((CreateSession(), ReadRows()), SerializedSteps(0, 1)),
        ((CreateSession(max_stream_count=3, omit_options=True), SplitStream(), ReadRows()), SerializedSteps(0, 2)),
        (
            (CreateSession(label="a", row_restriction="x"), CreateSession(label="b"), ReadRows(session="b")),
            SerializedSteps(1, 2),
        ),
        ((CreateSession(data_format="AVRO"), ReadRows()), None),
        ((CreateSession(buffer_compression="ZSTD"), ReadRows()), None),
        ((CreateSession(), ReadRows(take=1)), None),
        ((CreateSession(),), None),
    ],
)
def test_a_serializer_stands_for_the_plain_read_of_a_case(steps: Any, place: SerializedSteps | None) -> None:
    """Only a whole, unrestricted read in Arrow can be put to a serializer."""
    assert place_of(case_of(*steps)) == place


@pytest.mark.parametrize(
    ("rows", "counts"), [(0, [0]), (1, [1]), (2, [1, 1]), (5, [3, 2]), (10_000, [4096, 4096, 1808])]
)
def test_a_table_is_cut_into_batches(rows: int, counts: list[int]) -> None:
    """Two rows make two batches, so that slices are among them; no rows make one empty batch."""
    table = pa.table({"a": pa.array(range(rows), pa.int64())})

    batches = batches_of(table)

    assert [batch.num_rows for batch in batches] == counts
    assert pa.Table.from_batches(batches, schema=table.schema).equals(table)


@pytest.mark.parametrize(
    ("rows", "seed", "counts"),
    [(5, 7, [3, 2]), (5, (1 << 29) - 1, [3, 2]), (5, 1 << 29, [5]), (4097, 1 << 31, [4096, 1]), (0, 1 << 31, [0])],
)
def test_most_drawn_tables_are_handed_over_whole(rows: int, seed: int, counts: list[int]) -> None:
    """A small seed, as written by hand, has its table cut, and so has every eighth of 32 bits."""
    table = pa.table({"a": pa.chunked_array([list(range(rows // 2)), list(range(rows - rows // 2))], pa.int64())})

    batches = batches_of(table, Recipe(rows, seed=seed))

    assert [batch.num_rows for batch in batches] == counts
    assert pa.Table.from_batches(batches, schema=table.schema).equals(table)
