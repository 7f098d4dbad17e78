"""Foreign bytes never raise: changed rows, changed schemas, and both of them in the dump."""

from __future__ import annotations

import json
import random

from conformance.formats.avro import (
    AvroSchema,
    avro_to_arrow,
    dissect_avro,
    read_avro_rows,
    read_avro_schema,
)
from conformance.wire import DecodingError
from tests.formats.avro.breaking import array, decimal, logical, record, schema_of
from tests.formats.avro.samples import PLAIN, written

ROUNDS = 20_000
NESTED = ["null", record(["null", "string"], array(decimal(9, 2)), logical("int", "date"), name="s")]
TYPES = (["null", "long"], "string", "boolean", array(["null", "double"]), NESTED, array(record("long", name="t")))
ROWS = (b"\x02\x54\x04ab\x01\x04\x02" + bytes(8) + b"\x00\x00\x02\x02\x02x\x02\x02\x05\x00\x0a\x02\x08\x00") * 3


def changed(data: bytes, rng: random.Random) -> bytes:
    """Data with one to three bytes changed, removed or added."""
    made = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        at = rng.randrange(len(made) + 1)
        match rng.randrange(5):
            case 0 if at < len(made):
                made[at] ^= 1 << rng.randrange(8)
            case 1 if at < len(made):
                made[at] = rng.choice((0, 1, 2, 3, 0x7F, 0x80, 0xFF))
            case 2:
                del made[at : at + rng.randrange(1, 4)]
            case 3:
                made[at:at] = rng.choice((b"\x80", b"\xff" * 9 + b"\x01", b"\x03", b"\x00", b'"', b"{"))
            case _:
                del made[at:]
    return bytes(made)


def judged(data: bytes, schema: AvroSchema, count: int | None, *, arrow: bool = True) -> int:
    """Read rows and, unless ``arrow`` is false, make Arrow of them; returns the number of faults."""
    reading = read_avro_rows(data, schema, count)
    assert reading.complete == (reading.end == len(data))
    assert reading.complete or reading.faults
    assert all(0 <= fault.start <= fault.end <= len(data) for fault in reading.faults)
    try:
        assert not arrow or avro_to_arrow(reading).num_rows == reading.rows
    except DecodingError:
        assert reading.unreadable
    return len(reading.faults)


def test_changed_rows_never_raise() -> None:
    """Each of 20,000 changes ends in faults, or in other rows, and one in two is seen."""
    rng, schema = random.Random(20_261_129), schema_of(*TYPES)
    assert judged(ROWS, schema, 3) == 0

    found = [judged(changed(ROWS, rng), schema, (3, None)[place % 2], arrow=not place % 20) for place in range(ROUNDS)]

    assert sum(map(bool, found)) > ROUNDS // 2


def test_changed_rows_are_covered_by_the_dump() -> None:
    """To the last byte, once, whatever is in them."""
    rng, schema = random.Random(7), schema_of(*TYPES)
    for _ in range(500):
        data = changed(ROWS, rng)

        regions = dissect_avro(data, schema).regions

        ends = [0, *(region.end for region in regions)]
        assert [region.start for region in regions] == ends[:-1]
        assert ends[-1] == len(data)


def test_changed_schemas_never_raise() -> None:
    """A schema that is left reads the rows, with faults or without."""
    rng, text = random.Random(1), json.dumps(record(*TYPES)).encode()
    for _ in range(2000):
        reading = read_avro_schema(changed(text, rng))

        assert reading.schema is not None or reading.faults
        if reading.schema is not None:
            judged(ROWS, reading.schema, None)


def test_rows_by_another_schema_never_raise() -> None:
    """Rows of each type, read as every other one."""
    samples = [written(record(kind), []) or bytes(range(24)) for kind in PLAIN]
    for kind in (*PLAIN, *TYPES, "int", "float", "null"):
        for data in samples:
            judged(data, schema_of(kind), None)
