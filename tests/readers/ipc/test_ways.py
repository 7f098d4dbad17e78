"""The ways into and out of the Python libraries: each gives the same rows as the library's usual reader."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
import pytest

from conformance.engine.combining import applies, factors_of
from conformance.readers.ipc import Library, Unsupported
from conformance.readers.ipc.arrowcpp import AFTER, twin
from conformance.readers.ipc.implementations import IPC_READERS
from conformance.readers.ipc.job import METADATA
from conformance.reference.ipc.combined import make, row_of
from conformance.reference.ipc.samples import SAMPLES
from conformance.wire.plain import differences, plain_table

LAYOUTS = ("int32", "utf8", "list", "struct", "dictionary")
LIBRARIES = {name: info for name, info in IPC_READERS.items() if info.module}


def cases() -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Library, container and one option."""
    for name, info in LIBRARIES.items():
        for kind in set(info.kinds) & {"stream", "file"}:
            for key, values in factors_of(info.kinds, info.options).items():
                for value in values[1:] if key in info.options else ():
                    if key not in ("included_fields", "after") and applies({key: value}, kind):
                        yield name, kind, {key: value}


def loaded(name: str) -> Library:
    """The library, imported here: these bytes are legal."""
    pytest.importorskip({"arro3": "arro3.io"}.get(name, name.partition("-")[0]))
    library: Library = importlib.import_module(LIBRARIES[name].module).load()
    return library


@pytest.mark.parametrize(("name", "kind", "options"), sorted(cases(), key=str), ids=str)
def test_every_way_gives_the_rows(name: str, kind: str, options: Mapping[str, Any]) -> None:
    """Under each value of each option alone."""
    library = loaded(name)
    for layout in LAYOUTS:
        made = make(row_of(f"combined.{kind}.V5.plain.little.usual.several.some.{layout}"))

        decoded = library.hand_over(library.decode(kind, made.data, b"", options))

        assert differences(plain_table(made.batches), plain_table(decoded.batches)) == []


def test_nulls_that_are_no_valid_array_are_found() -> None:
    """Pyarrow 26 gives runs inside a struct a bitmap, and refuses the array itself."""
    library = loaded("pyarrow")
    made = make(row_of("combined.stream.V5.plain.little.usual.several.some.struct-of-runs"))

    with pytest.raises(pa.ArrowInvalid, match="should not have a null bitmap"):
        library.after(library.decode("stream", made.data, b"", {}), "padded")  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", [name for name, info in LIBRARIES.items() if "after" in info.options])
@pytest.mark.parametrize("what", ["cast", "concatenated", "exported", "inspected", "padded", "recast", "taken"])
def test_nothing_changes_afterwards(name: str, what: str) -> None:
    """The values after a cast, a concatenation, the way over the C stream interface, or `take` by row numbers."""
    library = loaded(name)
    if what not in LIBRARIES[name].options["after"]:
        pytest.skip(f"{name} hands over in this way in any case")
    for layout in LAYOUTS:
        made = make(row_of(f"combined.stream.V5.plain.little.usual.several.some.{layout}"))
        read = library.decode("stream", made.data, b"", {})

        after = library.after(read, what)  # type: ignore[attr-defined]  # a library with the option has it

        assert differences(plain_table(made.batches), plain_table(after.batches)) == []


def test_a_scan_projects_and_maps() -> None:
    """The options of the usual readers hold for a scan too."""
    made = make(row_of("combined.file.V5.plain.little.usual.several.some.utf8"))
    options = {"way": "scan", "mapped": True, "included_fields": [0, 2]}

    for name in ("pyarrow", "polars"):
        library = loaded(name)
        assert library.hand_over(library.decode("file", made.data, b"", options)).schema.names == ["before", "after"]


@pytest.mark.parametrize(
    ("kind", "other"),
    [
        (pa.int8(), pa.int16()),
        (pa.int64(), pa.int64()),
        (pa.utf8(), pa.large_utf8()),
        (pa.decimal128(5, 2), pa.decimal256(5, 2)),
        (pa.list_(pa.int8()), pa.large_list(pa.int8())),
        (pa.struct([("a", pa.int8())]), pa.struct([("a", pa.int16())])),
        (pa.dictionary(pa.int8(), pa.utf8()), pa.utf8()),
        (pa.float16(), pa.float32()),
    ],
)
def test_a_twin_has_the_same_values(kind: pa.DataType, other: pa.DataType) -> None:
    """Another layout, so that a cast has something to do; the type itself if no other holds its values."""
    assert twin(kind) == other


@pytest.mark.parametrize("after", ["cast", "concatenated", "inspected", "padded", "pandas", "recast"])
def test_nothing_is_asked_in_python_of_intervals_without_a_class(after: str) -> None:
    """Pyarrow has none for months, and raises a KeyError where it looks for it."""
    library = loaded("pyarrow")
    made = make(row_of("combined.stream.V5.plain.little.usual.one.none.interval-year-month"))
    read = library.decode("stream", made.data, b"", {})

    with pytest.raises(Unsupported, match="no class for this interval"):
        list(AFTER[after](read))


SOURCE = make(row_of("combined.stream.V5.plain.little.usual.several.some.utf8"))


@pytest.mark.parametrize("given", ["", "sliced", "chunked"])
@pytest.mark.parametrize("kind", ["stream", "file"])
def test_rows_are_written_however_they_are_given(kind: str, given: str) -> None:
    """One by one, in slices, and as a table in chunks: other batches, the same rows."""
    library = loaded("pyarrow")

    data = library.encode(kind, library.source(SOURCE.data), {"given": given})

    batches = pages(kind, data)
    assert differences(plain_table(SOURCE.batches), plain_table(batches)) == []
    lengths = {"": [9, 0, 5], "sliced": [4, 5, 0, 0, 0, 0, 2, 3, 0], "chunked": [2, 2, 2, 2, 1, 0, 2, 2, 1]}
    assert [batch.num_rows for batch in batches] == lengths[given]


def pages(kind: str, data: bytes) -> list[pa.RecordBatch]:
    """The batches of a stream or file."""
    if kind == "stream":
        return list(pa.ipc.open_stream(data))
    reader = pa.ipc.open_file(data)
    return [reader.get_batch(place) for place in range(reader.num_record_batches)]


def test_metadata_is_on_every_batch_or_on_the_file() -> None:
    """The option that asks for it has it written, and nothing else has."""
    library = loaded("pyarrow")

    def written(kind: str, metadata: str) -> bytes:
        return library.encode(kind, library.source(SOURCE.data), {"metadata": metadata})

    batches = [
        pairs for _, pairs in pa.ipc.open_stream(written("stream", "batches")).iter_batches_with_custom_metadata()
    ]
    assert [dict(pairs) for pairs in batches] == [{key.encode(): value.encode() for key, value in METADATA.items()}] * 3
    assert pa.ipc.open_file(written("file", "file")).metadata == {
        key.encode(): value.encode() for key, value in METADATA.items()
    }
    assert written("stream", "file") == written("stream", "")


def test_a_level_is_one_of_the_codec() -> None:
    """A higher level makes other bytes; without a codec a level means nothing."""
    library = loaded("pyarrow")
    data = SAMPLES["rows.thousand"].stream().encode()

    def written(**options: object) -> bytes:
        return library.encode("stream", library.source(data), options)

    assert len({written(codec="zstd", level=level) for level in (0, 9)}) == 2
    assert written(level=9) == written()


def test_a_dictionary_that_cannot_be_unified_is_not_joined_with_nulls() -> None:
    """Pyarrow says that it lacks this, in an error that is not for what it lacks."""
    library = loaded("pyarrow")
    made = make(row_of("combined.stream.V5.plain.little.usual.several.some.dictionary-with-null"))

    with pytest.raises(Unsupported, match="Cannot yet unify dictionaries with nulls"):
        library.after(library.decode("stream", made.data, b"", {}), "padded")  # type: ignore[attr-defined]
