"""Adapters read files and streams that pyarrow wrote."""

from __future__ import annotations

import pyarrow as pa
import pytest

from conformance.engine.readerinputs import counted
from conformance.wire import Kind
from conformance.wire.plain import PlainTable, differences, plain_table
from tests.adapters.conftest import BUILT, NONE_BUILT, Program
from tests.adapters.deviations import LACKING, READING, expect
from tests.adapters.families import FAMILIES, REPLACING, stream_of

pytestmark = pytest.mark.slow(env="adapters")

if not BUILT:
    pytest.skip(NONE_BUILT, allow_module_level=True)

KINDS = ("stream", "file")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_values_are_those_that_were_written(
    request: pytest.FixtureRequest, program: Program, family: str, kind: str
) -> None:
    """Every value of every type arrives exactly, and a type that the library lacks is reported as unsupported."""
    if kind == "file" and family in REPLACING:
        pytest.skip("a file cannot replace a dictionary")
    expect(request, program, READING.get(program.name, {}).get((kind, family)))
    batches = FAMILIES[family]()

    answer = program.read(stream_of(batches, file=kind == "file"), kind)

    if family in LACKING.get(program.name, ()):
        assert answer["status"] == "unsupported"
        return
    assert answer["status"] == "ok", answer
    assert len(answer["types"]) == len(answer["names"])
    assert differences(plain_table(batches), PlainTable.from_json(answer)) == []


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
@pytest.mark.parametrize("family", ["integers", "texts", "text-views", "nested", "dictionary-delta", "thousand-rows"])
def test_compressed_buffers_are_read(program: Program, family: str, codec: str) -> None:
    """Both codecs of the format, in record batches and in dictionaries."""
    batches = FAMILIES[family]()

    answer = program.read(stream_of(batches, compression=codec))

    assert answer["status"] == "ok", answer
    assert differences(plain_table(batches), PlainTable.from_json(answer)) == []


@pytest.mark.parametrize("kind", KINDS)
def test_offsets_that_go_down_leave_the_limit_of_values(program: Program, kind: str) -> None:
    """A list that ends before it begins gives nothing back: the next one, of 2^31 values, is an error and no hang."""
    offsets = pa.array([0, -(2**31), 4], pa.int32()).buffers()[1]
    lists = pa.Array.from_buffers(pa.list_(pa.int8()), 2, [None, offsets], children=[pa.array([1, 2, 3, 4], pa.int8())])
    batch = pa.RecordBatch.from_arrays([lists], ["lists"])

    answer = program.read(stream_of([batch], file=kind == "file"), kind)

    assert answer["status"] == "error"


def test_messages_without_a_continuation_marker_are_read(program: Program) -> None:
    """The framing before Arrow 0.15."""
    batches = FAMILIES["integers"]()

    answer = program.read(stream_of(batches, use_legacy_format=True))

    assert answer["status"] == "ok", answer
    assert differences(plain_table(batches), PlainTable.from_json(answer)) == []


def test_unions_of_version_4_are_read(request: pytest.FixtureRequest, program: Program) -> None:
    """In metadata of version 4 a union has a bitmap, which a reader skips, or says that it cannot."""
    known = {"arrow-js": "the bitmap of a union is not skipped, its types are read from it: wrong values, no error"}
    expect(request, program, known.get(program.name))
    batches = FAMILIES["unions"]()

    answer = program.read(stream_of(batches, metadata_version=pa.ipc.MetadataVersion.V4))

    if program.name == "arrow-java":
        assert answer["status"] == "unsupported"
        return
    assert answer["status"] == "ok", answer
    assert differences(plain_table(batches), PlainTable.from_json(answer)) == []


def test_a_schema_and_a_batch_apart(program: Program) -> None:
    """Where the library takes single messages, it reads the two without a stream around them."""
    if "message" not in program.ask("hello")["reads"]:
        pytest.skip(f"{program.name} takes no single messages")
    batches = FAMILIES["integers"]()
    schema, data = batches[0].schema.serialize().to_pybytes(), batches[0].serialize().to_pybytes()

    answer = program.ask("read", kind="message", schema=schema, data=data)

    assert answer["status"] == "ok", answer
    assert differences(plain_table(batches), PlainTable.from_json(answer)) == []


@pytest.mark.parametrize("size", [1, 7, 64, 4096])
def test_chunks_of_any_size_make_the_same_table(program: Program, size: int) -> None:
    """Where the library can be pushed bytes, the sizes of the pieces do not show."""
    if "chunk" not in program.ask("hello")["read_options"]:
        pytest.skip(f"{program.name} is not pushed bytes")
    batches = FAMILIES["dictionary-delta"]()

    answer = program.read(stream_of(batches), chunk=size)

    assert answer["status"] == "ok", answer
    assert differences(plain_table(batches), PlainTable.from_json(answer)) == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_way_to_the_rows_gives_the_same(program: Program, family: str, kind: str) -> None:
    """Bytes that are mapped, and rows that are concatenated or exported afterwards, have the same values."""
    if program.name != "arrow-rs":
        pytest.skip(f"{program.name} has no such option")
    if kind == "file" and family in REPLACING:
        pytest.skip("a file cannot replace a dictionary")
    data = stream_of(FAMILIES[family](), file=kind == "file")
    plainly = program.read(data, kind)

    for options in ({"mapped": True}, {"chunk": 7}):
        assert program.read(data, kind, **options) == plainly, options
    for after in ("concatenated", "exported"):
        assert program.read(data, kind, after=after) == {**plainly, "ways": []}, after


@pytest.mark.parametrize("options", [{}, {"chunk": 7}, {"mapped": True}], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_selected_columns_alone_are_read(program: Program, kind: str, options: dict[str, object]) -> None:
    """A projection gives the columns in its order, however the bytes come."""
    offered = program.ask("hello")["read_options"]
    if not {"included_fields", *options} <= offered.keys():
        pytest.skip(f"{program.name} has no such options")
    batches = FAMILIES["integers"]()

    answer = program.read(stream_of(batches, file=kind == "file"), kind, included_fields=[1, 3], **options)

    assert answer["names"] == ["int16", "int64"]
    whole = plain_table(batches)
    assert answer["columns"] == [whole.columns[1], whole.columns[3]]


@pytest.mark.parametrize(
    ("kind", "way"),
    [
        ("stream", {}),
        ("stream", {"chunk": 7}),
        ("stream", {"way": "exact"}),
        ("file", {}),
        ("file", {"way": "prebuffered"}),
        ("file", {"way": "embedded"}),
    ],
    ids=str,
)
@pytest.mark.parametrize("family", ["integers", "dictionary-delta", "dictionary-replaced"])
def test_every_counter_of_arrow_cpp_is_that_of_the_bytes(
    program: Program, family: str, kind: str, way: dict[str, object]
) -> None:
    """The reader that pulls, the decoder that is pushed and the reader of files count as the strict decoder does."""
    if program.name != "arrow-cpp":
        pytest.skip(f"{program.name} does not count")
    if kind == "file" and family in REPLACING:
        pytest.skip("a file cannot replace a dictionary")
    data = stream_of(FAMILIES[family](), file=kind == "file")

    answer = program.read(data, kind, **way)

    permitted = counted(data, Kind(kind))
    assert permitted is not None
    assert answer["statistics"].keys() == permitted.keys()
    assert [name for name, count in answer["statistics"].items() if count not in permitted[name]] == []


@pytest.mark.parametrize("native", [True, False])
def test_the_byte_order_option_changes_nothing_natively(program: Program, native: bool) -> None:  # noqa: FBT001
    """Input in this machine's byte order is read the same, with or without permission to swap bytes."""
    if "native_endian" not in program.ask("hello")["read_options"]:
        pytest.skip(f"{program.name} has no such option")
    batches = FAMILIES["integers"]()

    answer = program.read(stream_of(batches), native_endian=native)

    assert differences(plain_table(batches), PlainTable.from_json(answer)) == []


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("stream", b"\0\1\0\0 bytes of metadata are announced, and this is no Arrow data"),
        ("stream", b"\xff" * 64),
        ("stream", stream_of(FAMILIES["integers"]())[:-100]),
        ("stream", stream_of(FAMILIES["integers"]())[:100]),
        ("file", stream_of(FAMILIES["integers"](), file=True)[:-7]),
    ],
    ids=["text", "ones", "body cut", "metadata cut", "file cut"],
)
def test_garbage_is_an_error_and_the_next_request_is_served(program: Program, kind: str, data: bytes) -> None:
    """An exception of the library comes back with class and message, and does not affect the next job."""
    batches = FAMILIES["integers"]()

    broken, sound = program.read(data, kind), program.read(stream_of(batches))

    assert broken["status"] == "error"
    assert broken["class"]
    assert broken["message"]
    assert differences(plain_table(batches), PlainTable.from_json(sound)) == []


def test_an_index_beyond_its_dictionary_is_no_value(program: Program) -> None:
    """Bytes that the library did not refuse are not read as if they were in bounds: no invented value, no end."""
    indices = pa.array([0, 1], pa.int32())
    whole = pa.record_batch([pa.DictionaryArray.from_arrays(indices, pa.array(["a", "b"]))], ["x"])
    data = stream_of([whole])
    at = data.rindex(b"\0\0\0\0\1\0\0\0")

    answer = program.read(data[:at] + b"\0\0\0\0\xff\0\0\0" + data[at + 8 :])

    assert answer["status"] == "error" or answer["columns"] == [["a", None]]
    assert program.ask("hello")["status"] == "ok"


def test_announced_rows_that_are_not_there_end_in_an_error(program: Program) -> None:
    """A batch of nulls needs no bytes: a count of rows alone must not fill memory with values, nor stop the program."""
    batch = pa.record_batch([pa.nulls(2**23)], ["x"])

    answer = program.read(stream_of([batch]))

    assert answer["status"] == "error"
    assert answer["stage"] == "values"
    assert program.ask("hello")["status"] == "ok"


@pytest.mark.parametrize("kind", KINDS)
def test_a_name_is_whole(program: Program, kind: str) -> None:
    """A name of the format has a length, and NUL is a character of it."""
    inner = pa.array([{"c\0d": 1}])
    batch = pa.record_batch({"a\0b": pa.array([1]), "": pa.array(["x"]), "s": inner})

    answer = program.read(stream_of([batch], file=kind == "file"), kind)

    assert answer["names"] == ["a\0b", "", "s"]
    assert PlainTable.from_json(answer) == plain_table([batch])
