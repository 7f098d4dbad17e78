"""The golden message pairs: for every BigQuery type and mode, the canonical bytes and the rows that they encode.

A pair is a schema message and a record batch message, written by the reference serializer from a recipe.
``golden/bq-arrow/manifest.json`` gives for each pair its content, its maker, its source and the digests of its two
files; a program in any language can read it without this package: decode the two files, compare with ``rows``.
Uncompressed bytes are the same on every machine and under every pyarrow, so they are compared as bytes. The output of
a codec depends on its version, so a compressed pair is compared after decompression.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from conformance import wire
from conformance.disk.files import write_inside
from conformance.generate import materialise, to_json_rows
from conformance.records import BqType, Column, Mode, NullPattern, Recipe, Table, ValueProfile, to_json
from conformance.reference.serializer import REFERENCE

__all__ = ["GoldenPair", "check", "files", "pairs", "regenerate"]

FORMAT: Final = 1
"""Version of the manifest's format; it rises when a reader of the old format would misread the new one."""
MANIFEST: Final = "manifest.json"
ROWS: Final = 9
"""One more than a bitmap byte holds."""
_RANGES: Final = (BqType.DATE, BqType.DATETIME, BqType.TIMESTAMP)


@dataclasses.dataclass(frozen=True, slots=True)
class GoldenPair:
    """One golden pair: ``name`` is its file name without ending, ``codec`` the compression of its buffers."""

    name: str
    title: str
    table: Table
    codec: str = ""

    def batch(self) -> pa.RecordBatch:
        """The rows as one record batch."""
        rows = materialise(self.table)
        columns = [column.combine_chunks() for column in rows.columns]
        return pa.RecordBatch.from_arrays(columns, schema=rows.schema)

    def messages(self) -> dict[str, bytes]:
        """The bytes of the two files, by ending."""
        batch = self.batch()
        return {
            "schema": REFERENCE.serialize_schema(batch.schema),
            "batch": REFERENCE.serialize_batch(batch, self.codec),
        }


def _recipe(seed: int, nulls: NullPattern = NullPattern.SOME) -> Recipe:
    return Recipe(rows=ROWS, seed=seed, nulls=nulls, values=ValueProfile.BOUNDARY)


def _columns() -> Iterator[tuple[str, Column]]:
    record = (Column("a", BqType.INT64), Column("b", BqType.STRING, Mode.REPEATED))
    for kind in BqType:
        fields = record if kind is BqType.RECORD else ()
        for range_of in _RANGES if kind is BqType.RANGE else (None,):
            name = f"{kind.lower()}-{range_of.lower()}" if range_of else kind.lower()
            for mode in Mode:
                yield f"{name}-{mode.lower()}", Column("value", kind, mode, fields, range_of=range_of)
    for kind, precision, scale in (
        (BqType.NUMERIC, 10, 2),
        (BqType.NUMERIC, 29, 0),
        (BqType.BIGNUMERIC, 40, 0),
        (BqType.BIGNUMERIC, 76, 38),
    ):
        yield f"{kind.lower()}-{precision}-{scale}", Column("value", kind, precision=precision, scale=scale)


def pairs() -> list[GoldenPair]:
    """Every golden pair, in the order of the manifest."""
    made = [
        GoldenPair(name, f"{column.mode} {column.type} at its boundaries", Table((column,), recipe=_recipe(seed)))
        for seed, (name, column) in enumerate(_columns())
    ]
    inner = Column("inner", BqType.RECORD, Mode.REPEATED, (Column("x", BqType.NUMERIC), Column("y", BqType.BOOL)))
    deep = Column("outer", BqType.RECORD, Mode.REPEATED, (inner, Column("z", BqType.DATE, Mode.REPEATED)))
    nested = Table((Column("key", BqType.INT64, Mode.REQUIRED), deep), recipe=_recipe(100))
    made.append(GoldenPair("nested", "arrays of records of arrays of records", nested))
    empty = Table(nested.columns, recipe=dataclasses.replace(_recipe(0), rows=0))
    made.append(GoldenPair("zero-rows", "no rows under a nested schema", empty))
    for nulls in (NullPattern.NONE, NullPattern.ALL):
        table = Table((Column("i", BqType.INT64), Column("s", BqType.STRING)), recipe=_recipe(101, nulls))
        made.append(GoldenPair(f"nulls-{nulls}", f"two columns with nulls: {nulls}", table))
    made += [
        GoldenPair(f"nested-{codec.lower()}", f"buffers under {codec}", nested, codec)
        for codec in ("LZ4_FRAME", "ZSTD")
    ]
    return made


def _entry(pair: GoldenPair) -> dict[str, Any]:
    files = {
        ending: {
            "file": f"{pair.name}.{ending}",
            "bytes": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
        }
        for ending, data in pair.messages().items()
    }
    return {
        "id": pair.name,
        "title": pair.title,
        "columns": [to_json(column) for column in pair.table.columns],
        "codec": pair.codec,
        "provenance": {
            "generator": "conformance.reference.goldenpairs",
            "encoder": "arrow-conformance reference serializer",
            "recipe": to_json(pair.table.recipe),
            "licence": "Apache-2.0",
            "regenerates": "values" if pair.codec else "bytes",
        },
        "files": files,
        "rows": to_json_rows(materialise(pair.table), pair.table.columns),
    }


def files() -> dict[str, bytes | str]:
    """The manifest and the files of every pair, by name."""
    manifest = {"format": FORMAT, "pairs": [_entry(pair) for pair in pairs()]}
    made: dict[str, bytes | str] = {MANIFEST: json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"}
    for pair in pairs():
        made |= {f"{pair.name}.{ending}": data for ending, data in pair.messages().items()}
    return made


def regenerate(folder: Path) -> None:
    """Write every pair and the manifest below ``folder``; files of pairs that no longer exist are removed."""
    made = files()
    for name, content in made.items():
        write_inside(folder, name, content)
    for old in folder.iterdir():
        if old.name not in made:
            old.unlink()


def check(folder: Path) -> list[str]:
    """The differences between ``folder`` and the files that would be written now, one sentence each."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text())
    except (OSError, ValueError) as error:
        return [f"{folder / MANIFEST}: expected the golden manifest, got {error}"]
    found = {entry["id"]: entry for entry in manifest["pairs"]}
    wanted = {pair.name: pair for pair in pairs()}
    complaints = [f"{name}: not in the manifest" for name in wanted.keys() - found.keys()]
    complaints += [f"{name}: in the manifest, and no longer generated" for name in found.keys() - wanted.keys()]
    for name in sorted(wanted.keys() & found.keys()):
        complaints += _check_pair(folder, wanted[name], found[name])
    return complaints


def _check_pair(folder: Path, pair: GoldenPair, entry: dict[str, Any]) -> Iterator[str]:
    absent = [file["file"] for file in entry["files"].values() if not (folder / file["file"]).is_file()]
    if absent:
        yield from (f"{name}: the file is not there" for name in absent)
        return
    stored = {ending: (folder / file["file"]).read_bytes() for ending, file in entry["files"].items()}
    for ending, data in stored.items():
        if hashlib.sha256(data).hexdigest() != entry["files"][ending]["sha256"]:
            yield f"{pair.name}.{ending}: its digest is not the manifest's"
    fresh = pair.messages()
    if entry["rows"] != to_json_rows(materialise(pair.table), pair.table.columns):
        yield f"{pair.name}: its recipe gives other rows now"
    if stored["schema"] != fresh["schema"]:
        yield f"{pair.name}.schema: other bytes are written now"
    if not pair.codec and stored["batch"] != fresh["batch"]:
        yield f"{pair.name}.batch: other bytes are written now"
    schema = wire.read_schema(stored["schema"]).schema
    batch = None if schema is None else wire.read_batch(stored["batch"], schema)
    # Floats are compared by their bits: the reference's own bytes of what was decoded.
    if batch is None or REFERENCE.serialize_batch(wire.batch_to_arrow(batch)) != REFERENCE.serialize_batch(
        pair.batch()
    ):
        yield f"{pair.name}.batch: it decodes to other rows"
