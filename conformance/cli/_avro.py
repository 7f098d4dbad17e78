"""Rows in Avro for ``conformance check`` and ``dissect``: a session's schema, and the rows of its responses.

They are judged by the rules on bytes; a run has the clauses. A rule that binds nobody is a note, and does not count.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from conformance.cli._group import Unusable
from conformance.cli._ipcfiles import show
from conformance.cli._reading import read_named
from conformance.contain.text import many, safe
from conformance.engine.annotated import MAX_BYTES, around
from conformance.formats.avro import AvroRule, AvroSchema, dissect_avro, read_avro_rows, read_avro_schema
from conformance.report.bytelines import byte_texts
from conformance.report.terminallayout import columns
from conformance.wire import Dissection, Fault, Region, Severity
from conformance.wire.foreign import magic_of

__all__ = ["binds", "check_avro", "rows_dissected"]


@dataclasses.dataclass(frozen=True, slots=True)
class _Judged:
    """A schema, or rows, with the faults; ``schema`` is the one by which rows were read."""

    path: Path
    data: bytes
    kind: str
    content: str
    faults: Sequence[Fault]
    schema: AvroSchema | None = None
    row_count: int | None = None

    @property
    def failed(self) -> int:
        """The number of faults that count."""
        return sum(map(binds, self.faults))

    def to_json(self) -> dict[str, Any]:
        """The faults as plain values."""
        return {
            "file": safe(str(self.path)),
            "kind": self.kind,
            "faults": [
                {
                    "rule": fault.rule.value,
                    "forbidden_by": _who(fault) or None,
                    "field": safe(fault.path),
                    "start": fault.start,
                    "end": fault.end,
                    "required": fault.required,
                    "observed": safe(fault.observed),
                    "source": fault.rule.source,
                }
                for fault in self.faults
            ],
        }

    def lines(self) -> Iterator[str]:
        """The faults as text for people, those of rows with the bytes around them."""
        name = safe(str(self.path))
        regions: Sequence[Region] = ()
        if self.schema is not None and self.faults and len(self.data) <= MAX_BYTES:
            regions = dissect_avro(self.data, self.schema, self.row_count).regions
        for fault in self.faults:
            who = _who(fault)
            yield f"{fault.rule}  [{who.upper()}]" if who else f"{fault.rule}  (note)"
            yield f"  where     {name}" + (f", {safe(fault.path)}" if fault.path else "")
            yield f"  required  {fault.required}"
            yield f"  observed  {safe(fault.observed)}"
            if self.schema is not None:
                end = max(fault.end, fault.start + 1)
                yield from byte_texts(around(self.data, regions, fault.start, end), columns())
            yield f"  source    {fault.rule.source}"
            yield ""
        notes = len(self.faults) - self.failed
        yield f"{name}: {many(self.failed, 'fault')}, {many(notes, 'note')} ({self.content})"


def binds(fault: Fault) -> bool:
    """True if Avro or BigQuery forbids the fault."""
    return isinstance(fault.rule, AvroRule) and fault.rule.binds


def _who(fault: Fault) -> str:
    if not binds(fault):
        return ""
    return "Avro" if fault.severity is Severity.VIOLATION else "BigQuery"


def check_avro(schema_file: Path, rows_files: Sequence[Path], row_count: int | None, *, as_json: bool) -> bool:
    """Judge a schema, and rows by it; print the result, and return True if nothing is wrong.

    Raises:
        Unusable: The schema's file is empty or has another format.
    """
    schema, first = _schema(schema_file)
    judged = [first]
    if schema is not None:
        judged += [_rows(path, schema, row_count) for path in rows_files]
    if as_json:
        click.echo(json.dumps([one.to_json() for one in judged], indent=1, ensure_ascii=False))
    else:
        for line in (line for one in judged for line in one.lines()):
            show(line)
        if schema is None:
            for path in rows_files:
                show(f"{safe(str(path))}: not judged, because rows cannot be decoded by this schema")
    return schema is not None and not any(one.failed for one in judged)


def rows_dissected(file: Path, schema_file: Path, row_count: int | None) -> Dissection:
    """The dump of rows.

    Raises:
        Unusable: There are no rows, or they cannot be decoded by the schema.
    """
    schema, _ = _schema(schema_file)
    if schema is None:
        raise Unusable(
            f"{schema_file}: expected an Avro schema by which rows can be decoded, got another;"
            f" `conformance check --avro-schema {schema_file}` says why"
        )
    data = read_named(file)
    if not data:
        raise Unusable(f"{file}: expected rows in Avro, got no bytes")
    return dissect_avro(data, schema, row_count)


def _schema(path: Path) -> tuple[AvroSchema | None, _Judged]:
    data = read_named(path)
    if not data:
        raise Unusable(f"{path}: expected an Avro schema in JSON, got an empty file")
    if found := magic_of(data):
        raise Unusable(f"{path}: expected an Avro schema in JSON, got {found.name}")
    reading = read_avro_schema(data)
    columns = "no columns" if reading.schema is None else many(len(reading.schema.root.fields), "column")
    return reading.schema, _Judged(path, data, "avro schema", f"Avro schema, {columns}", reading.faults)


def _rows(path: Path, schema: AvroSchema, row_count: int | None) -> _Judged:
    data = read_named(path)
    reading = read_avro_rows(data, schema, row_count, keeps=False)
    content = f"Avro rows, {many(reading.rows, 'row')}"
    return _Judged(path, data, "avro rows", content, reading.faults, schema, row_count)
