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
from conformance.readers.ipc.registry import IPC_READERS
from conformance.reference.ipc.combined import make, row_of
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


@pytest.mark.parametrize("name", [name for name, info in LIBRARIES.items() if "after" in info.options])
@pytest.mark.parametrize("what", ["cast", "concatenated", "exported"])
def test_nothing_changes_afterwards(name: str, what: str) -> None:
    """The values after a cast, a concatenation, or the way over the C stream interface."""
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


def test_intervals_without_a_class_cannot_be_cast() -> None:
    """Pyarrow has none for months, and raises a KeyError where it looks for it."""
    library = loaded("pyarrow")
    made = make(row_of("combined.stream.V5.plain.little.usual.one.none.interval-year-month"))
    read = library.decode("stream", made.data, b"", {})

    with pytest.raises(Unsupported, match="no class for this interval"):
        list(AFTER["cast"](read))
