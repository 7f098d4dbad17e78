"""The annotated dump of rows in Avro: the meaning of every byte, with its row and its field path."""

from __future__ import annotations

from conformance.contain.text import many
from conformance.formats.avro.datum import read_avro_rows
from conformance.formats.avro.types import AvroSchema
from conformance.wire.closed import SectionKind
from conformance.wire.dissect import DissectedSection, Dissection
from conformance.wire.messages import Bytes
from conformance.wire.regions import MAX_REGIONS, Region, cover

__all__ = ["dissect_avro"]


def dissect_avro(data: Bytes, schema: AvroSchema, row_count: int | None = None) -> Dissection:
    """Dissect rows; no bytes make this function raise. ``row_count`` is as for :func:`read_avro_rows`."""
    view = memoryview(data).cast("B")
    claims: list[Region] = []
    reading = read_avro_rows(view, schema, row_count, regions=claims, keeps=False)
    size = len(view)
    title = f"rows in Avro, bytes 0 to {size}, {many(reading.rows, 'row')}"
    sections = (DissectedSection(0, size, SectionKind.OTHER, title),)
    regions = tuple(cover(claims, 0, size, view, most=MAX_REGIONS))
    return Dissection(view, "avro rows", regions, sections, (), reading.faults, None)
