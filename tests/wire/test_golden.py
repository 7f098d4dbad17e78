"""The golden files of the Arrow project, decoded by our own reading and compared with their JSON.

https://github.com/apache/arrow-testing, data/arrow-ipc-stream/integration.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.wire import Rule, Schema, differences, plain_table, read_file, read_stream, schema_to_arrow
from conformance.wire.integration import read_integration, schema_from, write_integration
from tests.fixtures import fixture

FOLDERS = {"0.14.1": 9, "0.17.1": 1, "1.0.0-littleendian": 22}

OLD = {Rule.PREFIX_CONTINUATION_MISSING, Rule.MESSAGE_VERSION_V4}
NOTES = {"0.14.1": OLD, "0.17.1": {Rule.MESSAGE_VERSION_V4}, "1.0.0-littleendian": set[Rule]()}
"""Deviations that every file of a folder has because of its age, and that are legal."""

QUIRKS = {
    "0.14.1/generated_datetime": {Rule.DATE64_WHOLE_DAYS},
    "0.14.1/generated_decimal": {Rule.DECIMAL_PRECISION},
    "1.0.0-littleendian/generated_datetime": {Rule.DATE64_WHOLE_DAYS, Rule.TIME_RANGE},
    "1.0.0-littleendian/generated_decimal": {Rule.DECIMAL_PRECISION},
    "1.0.0-littleendian/generated_decimal256": {Rule.DECIMAL_PRECISION},
}
"""Violations of old files. The project's own checks are disabled for the same files: the quirks of
https://github.com/apache/arrow/blob/main/dev/archery/archery/integration/runner.py, since its generator made random
values without regard to these rules."""

FOOTERS = {
    f"0.14.1/generated_{name}": {Rule.FOOTER_VERSION_DIFFERS}
    for name in ("decimal", "primitive_no_batches", "primitive_zerolength")
}
"""Footers of 0.14.1 that leave their version out, which says V1 (https://github.com/apache/arrow/blob/main/format/
File.fbs, table Footer), where their streams say V4."""

RENAMED = {"1.0.0-littleendian/generated_map_non_canonical"}
"""Its JSON gives a map's children other names than the writer of the stream did: names of a map's children are
a convention only (https://github.com/apache/arrow/blob/main/format/Schema.fbs, table Map)."""


def _cases() -> list[Any]:
    try:
        root = fixture("arrow-testing")
    except pytest.skip.Exception as missing:
        return [pytest.param("", Path(), marks=pytest.mark.skip(reason=str(missing)))]
    found = [path for folder in FOLDERS for path in sorted((root / folder).glob("*.stream"))]
    named = [(f"{path.parent.name}/{path.stem}", path) for path in found]
    return [pytest.param(name, path, id=name) for name, path in named]


def _document(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(gzip.decompress(path.with_suffix(".json.gz").read_bytes()))
    return document


def _encodings(schema: Schema) -> Iterator[tuple[str, ...]]:
    """How each field is encoded; ids are left out, since a writer numbers and shares dictionaries as it likes."""
    for path, field in schema.walk():
        encoding = field.dictionary
        index = "" if encoding is None else f"{encoding.index_type} {encoding.ordered}"
        yield path, str(field.type), str(field.nullable), index


def test_all_cases_are_there() -> None:
    """No case is left out for want of a file."""
    root = fixture("arrow-testing")
    assert {folder: len(list((root / folder).glob("*.stream"))) for folder in FOLDERS} == FOLDERS


@pytest.mark.parametrize(("name", "path"), _cases())
def test_stream_has_no_fault_but_the_known(name: str, path: Path) -> None:
    """The faults of each file are those of its age, and those that the project knows of it: all of them, no other."""
    reading = read_stream(path.read_bytes())

    assert {fault.rule for fault in reading.violations} == QUIRKS.get(name, set())
    assert {fault.rule for fault in reading.faults} == QUIRKS.get(name, set()) | NOTES[path.parent.name]


@pytest.mark.parametrize(("name", "path"), _cases())
def test_stream_is_decoded_to_what_its_json_says(name: str, path: Path) -> None:
    """Schema, metadata, encoding, values and nulls, batch by batch."""
    document = _document(path)
    expected = read_integration(document)

    reading = read_stream(path.read_bytes())
    batches = reading.to_batches()

    assert reading.schema is not None
    if name not in RENAMED:
        assert schema_to_arrow(reading.schema).equals(expected.schema, check_metadata=True)
        assert list(_encodings(reading.schema)) == list(_encodings(schema_from(document["schema"])))
    assert [batch.num_rows for batch in batches] == [batch.num_rows for batch in expected.batches]
    for batch, wanted in zip(batches, expected.batches, strict=True):
        assert differences(plain_table([wanted]), plain_table([batch])) == []


@pytest.mark.parametrize(("name", "path"), _cases())
def test_file_holds_what_its_json_says(name: str, path: Path) -> None:
    """The file of the same name has the same schema and rows, found by its footer, and no other faults."""
    expected = read_integration(_document(path))

    reading = read_file(path.with_suffix(".arrow_file").read_bytes())

    assert {fault.rule for fault in reading.violations} == QUIRKS.get(name, set()) | FOOTERS.get(name, set())
    assert reading.schema is not None
    assert schema_to_arrow(reading.schema).equals(expected.schema, check_metadata=True)
    batches = reading.to_batches()
    assert [batch.num_rows for batch in batches] == [batch.num_rows for batch in expected.batches]
    for batch, wanted in zip(batches, expected.batches, strict=True):
        assert differences(plain_table([wanted]), plain_table([batch])) == []


@pytest.mark.parametrize(("name", "path"), _cases())
def test_stream_survives_the_integration_form(name: str, path: Path) -> None:
    """A golden stream can be written in the integration form with the same content."""
    reading = read_stream(path.read_bytes())

    written = read_integration(json.loads(json.dumps(write_integration(reading), allow_nan=False)))

    assert differences(plain_table(reading.to_batches()), plain_table(written.batches)) == []
