"""Adapters write the rows that pyarrow wrote; the suite judges the result, and pyarrow reads it again."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from conformance.readers.ipc.job import METADATA
from conformance.wire import read_stream
from conformance.wire.faults import Severity
from conformance.wire.file import read_file
from conformance.wire.plain import differences, plain_table
from tests.adapters.conftest import BUILT, NONE_BUILT, Program
from tests.adapters.deviations import LACKING, WRITING, expect
from tests.adapters.families import FAMILIES, REPLACING, stream_of

pytestmark = pytest.mark.slow(env="adapters")

if not BUILT:
    pytest.skip(NONE_BUILT, allow_module_level=True)

OF_EVERY_FILE = {"arrow-js": {"stream.schema-first"}}
"""Faults in every file of a library; each has a test of its own."""


def violations(data: bytes, kind: str) -> dict[str, str]:
    """The violations in the bytes, by rule; choices that the format leaves to the writer are not tested here."""
    reading = read_stream(data) if kind == "stream" else read_file(data)
    found = [*reading.faults, *reading.violations]
    return {str(one.rule): str(one) for one in found if one.severity is Severity.VIOLATION}


def reread(data: bytes, kind: str) -> list[pa.RecordBatch]:
    """The batches, by pyarrow."""
    if kind == "stream":
        return list(pa.ipc.open_stream(data))
    with pa.ipc.open_file(data) as file:
        return [file.get_batch(number) for number in range(file.num_record_batches)]


def may_refuse(program: Program, family: str) -> bool:
    """Whether a writer of files may say that it writes no such dictionaries; Go's takes a delta for a replacement, and
    those of C++ and Rust write deltas only if asked to.
    """
    refuses = program.name in ("arrow-go", "arrow-cpp", "arrow-rs")
    return family in REPLACING or (refuses and family == "dictionary-delta")


@pytest.mark.parametrize("kind", ["stream", "file"])
@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_written_conforms_and_is_read_equal(
    request: pytest.FixtureRequest, program: Program, family: str, kind: str
) -> None:
    """The library's own writer, by its defaults: nothing that the format forbids, and the same values."""
    if family in LACKING.get(program.name, ()):
        pytest.skip(f"{program.name} lacks a type of it")
    batches = FAMILIES[family]()
    why = WRITING.get(program.name, {}).get((kind, family))
    if why is None and kind == "file" and may_refuse(program, family):
        answer = program.ask("write", kind=kind, data=stream_of(batches))
        assert answer["status"] in ("error", "unsupported")
        assert "replacement" in answer["message"]
        return
    expect(request, program, why)

    written = program.write(stream_of(batches), kind)

    found = violations(written, kind)
    if kind == "file":
        found = {rule: text for rule, text in found.items() if rule not in OF_EVERY_FILE.get(program.name, ())}
    assert found == {}
    assert differences(plain_table(batches), plain_table(reread(written, kind))) == []


def test_the_stream_in_a_file_begins_with_its_schema(request: pytest.FixtureRequest, program: Program) -> None:
    """The format: a file holds, between magic and footer, a whole stream."""
    known = {"arrow-js": "RecordBatchFileWriter writes the magic in place of the schema message"}
    expect(request, program, known.get(program.name))

    written = program.write(stream_of(FAMILIES["integers"]()), "file")

    assert "stream.schema-first" not in violations(written, "file")


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
@pytest.mark.parametrize("family", ["texts", "thousand-rows"])
def test_compressed_buffers_are_written(
    request: pytest.FixtureRequest, program: Program, family: str, codec: str
) -> None:
    """A codec that is asked for is used, and what is compressed conforms and is read equal."""
    known = {
        ("arrow-js", "texts"): "the length before a compressed buffer is the compressed one, not the uncompressed",
        ("arrow-js", "thousand-rows"): "the length before a compressed buffer is the compressed one",
        # pyarrow reads such a ZSTD buffer, and refuses such an LZ4 one.
        ("arrow-java", "thousand-rows"): "a batch without rows has buffers of a length of 0 and no frame"
        if codec == "lz4"
        else None,
    }
    expect(request, program, known.get((program.name, family)))
    batches = FAMILIES[family]()

    written = program.write(stream_of(batches), codec=codec)

    assert written != program.write(stream_of(batches))
    assert violations(written, "stream") == {}
    assert differences(plain_table(batches), plain_table(reread(written, "stream"))) == []


@pytest.mark.parametrize(
    "asked", [{"legacy": True}, {"version": "V4"}, {"min_space_savings": 0.99, "codec": "zstd"}], ids=str
)
def test_options_are_the_library_s_own(program: Program, asked: dict[str, Any]) -> None:
    """An option in hello changes the bytes, and an option that is not in hello is unsupported."""
    offered = program.ask("hello")["write_options"]
    batches = FAMILIES["integers"]()

    answer = program.ask("write", kind="stream", data=stream_of(batches), options=asked)

    if not asked.keys() <= offered.keys():
        assert answer["status"] == "unsupported"
        return
    written = program.write(stream_of(batches), **asked)
    assert written != program.write(stream_of(batches))
    assert differences(plain_table(batches), plain_table(reread(written, "stream"))) == []


@pytest.mark.parametrize("kind", ["stream", "file"])
@pytest.mark.parametrize("family", ["integers", "texts", "nested", "no-columns"])
def test_slices_are_written_as_batches(
    request: pytest.FixtureRequest, program: Program, family: str, kind: str
) -> None:
    """Each batch becomes its two halves and a slice without rows; together they have the rows."""
    if "sliced" not in program.ask("hello")["write_options"].get("given", ()):
        pytest.skip(f"{program.name} writes no slices")
    known = {("arrow-java", "no-columns"): "VectorSchemaRoot.slice takes the number of rows from the first column"}
    expect(request, program, known.get((program.name, family)))
    batches = FAMILIES[family]()
    lengths = [length for one in batches for length in (one.num_rows // 2, -(-one.num_rows // 2), 0)]

    written = reread(program.write(stream_of(batches), kind, given="sliced"), kind)

    assert [one.num_rows for one in written] == lengths
    assert differences(plain_table(batches), plain_table(written)) == []


@pytest.mark.parametrize("kind", ["stream", "file"])
@pytest.mark.parametrize("family", ["integers", "texts", "nested", "no-columns"])
def test_columns_that_are_encoded_have_the_same_rows(program: Program, family: str, kind: str) -> None:
    """Each column becomes a dictionary of its own values."""
    if "encoded" not in program.ask("hello")["write_options"].get("given", ()):
        pytest.skip(f"{program.name} encodes no columns")
    batches = FAMILIES[family]()

    written = reread(program.write(stream_of(batches), kind, given="encoded"), kind)

    assert all(pa.types.is_dictionary(kind) for kind in written[0].schema.types)
    assert differences(plain_table(batches), plain_table(written)) == []


@pytest.mark.parametrize("kind", ["stream", "file"])
@pytest.mark.parametrize("family", ["integers", "texts", "nested", "no-columns"])
def test_nulls_are_as_many_rows(program: Program, family: str, kind: str) -> None:
    """The library makes each column as nulls of its type."""
    if "nulls" not in program.ask("hello")["write_options"].get("given", ()):
        pytest.skip(f"{program.name} makes no nulls")
    batches = FAMILIES[family]()

    written = reread(program.write(stream_of(batches), kind, given="nulls"), kind)

    assert [one.num_rows for one in written] == [one.num_rows for one in batches]
    assert {value for column in plain_table(written).columns for value in column} <= {None}


@pytest.mark.parametrize("kind", ["stream", "file"])
@pytest.mark.parametrize("family", ["integers", "texts", "no-columns"])
def test_what_is_built_again_has_the_same_rows(
    request: pytest.FixtureRequest, program: Program, family: str, kind: str
) -> None:
    """Each column from the library's own values of the rows."""
    if "built" not in program.ask("hello")["write_options"].get("given", ()):
        pytest.skip(f"{program.name} builds no columns")
    expect(request, program, WRITING.get(program.name, {}).get((kind, family)))
    batches = FAMILIES[family]()

    written = reread(program.write(stream_of(batches), kind, given="built"), kind)

    assert differences(plain_table(batches), plain_table(written)) == []


def test_lists_that_are_vectors_lose_their_values(program: Program) -> None:
    """Apache Arrow JavaScript 21.2.0 builds lists of nothing from the vectors that it gives as lists."""
    if program.name != "arrow-js":
        pytest.skip("a fault of another library")
    batches = [pa.record_batch({"x": pa.array([[1, 2], [3]], pa.list_(pa.int32()))})]

    written = reread(program.write(stream_of(batches), given="built"), "stream")

    assert written[0].column(0).to_pylist() == [[0, 0], [0]]


@pytest.mark.parametrize("kind", ["stream", "file"])
def test_metadata_is_written_to_the_footer(program: Program, kind: str) -> None:
    """The pairs of the suite's option; a stream has no Footer, and no place for them."""
    if "file" not in program.ask("hello")["write_options"].get("metadata", ()):
        pytest.skip(f"{program.name} writes no metadata")

    written = program.write(stream_of(FAMILIES["integers"]()), kind, metadata="file")

    found = pa.ipc.open_file(written).metadata if kind == "file" else None
    expected = {key.encode(): value.encode() for key, value in METADATA.items()}
    assert (found or {}) == (expected if kind == "file" else {})


def test_the_source_is_told_from_the_writer(program: Program) -> None:
    """Input that cannot be read cannot be written, and the answer says which of the two failed."""
    answer = program.ask("write", kind="stream", data=stream_of(FAMILIES["integers"]())[:-100])

    assert answer["status"] == "error"
    assert answer["stage"] == "source"
