"""The cost of reading rows in Avro strictly, and of making Arrow of them, as a multiple of fastavro's reading.

fastavro reads the same bytes row by row with ``schemaless_reader``, into dictionaries. Both are measured in turns; a
line shows the least processor time of each, the median of the ratios, and the bar. The exit status says whether all
bars hold.

    python -m benchmarks.read_avro
"""

from __future__ import annotations

import argparse
import functools
import io
import json
import sys
from typing import Any, Final

import fastavro

from benchmarks.judge_bytes import in_turns, shown
from conformance.formats.avro import avro_to_arrow, read_avro_rows, read_avro_schema
from conformance.generate import materialise
from conformance.protocols.storage_read.reference.avro import AvroWriter
from conformance.records import BqType, Column, Mode, Recipe, Table

COLUMNS: Final = (
    Column("id", BqType.INT64, Mode.REQUIRED),
    Column("price", BqType.NUMERIC),
    Column("word", BqType.STRING),
    Column("at", BqType.TIMESTAMP),
    Column("marks", BqType.INT64, Mode.REPEATED),
)
ROWS: Final = {"small": 100, "large": 200_000}
LOOPS: Final = {"small": 20, "large": 1}
BAR: Final = 3.0
REPEATS: Final = 7


def strict(data: bytes, text: str) -> None:
    """Read the rows with every byte accounted for, as Arrow."""
    schema = read_avro_schema(text).schema
    assert schema is not None
    reading = read_avro_rows(data, schema)
    assert not reading.faults
    avro_to_arrow(reading)


def rows_of(data: bytes, parsed: Any) -> None:
    """Read the rows with fastavro to the end of the bytes."""
    source = io.BytesIO(data)
    while source.tell() < len(data):
        fastavro.schemaless_reader(source, parsed, None)


def main() -> int:
    """Print a line for each size; 0 if every bar holds, 1 otherwise."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    holds = True
    for name, count in ROWS.items():
        table = materialise(Table(COLUMNS, recipe=Recipe(count)))
        writer = AvroWriter(COLUMNS)
        data = writer.rows(table.combine_chunks().to_batches()[0])
        parsed = fastavro.parse_schema(json.loads(writer.schema))
        own, theirs = functools.partial(strict, data, writer.schema), functools.partial(rows_of, data, parsed)
        measured = in_turns(own, theirs, repeats=REPEATS, loops=LOOPS[name])
        holds &= shown(f"{name}, {len(data):,} bytes", measured, bar=BAR, other="fastavro")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
