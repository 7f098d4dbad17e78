"""Files of many small values: each takes far more memory once it is an object than its bytes do."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa

from conformance.disk.jsonlines import line_of
from tests.hostile.attack import Expected, Part, register
from tests.hostile.setups import Command

__all__: list[str] = []

MANY = Expected(status=(2,), says="at most 1000000 values")


def _log(place: Path, value: str) -> Command:
    """A log whose first event has a key with ``value``, which is JSON."""
    begun = line_of({"event": "run-started"}).rstrip()[:-1]
    (place / "run.jsonl").write_bytes(begun + b',"x":' + value.encode() + b"}\n")
    return Command(["report", "run.jsonl"])


@register("small.log-of-short-texts", Part.COMMAND, MANY)
def log_of_short_texts(place: Path, cookie: str) -> Command:
    """A line of a log has 20 million empty texts, in 60 MB."""
    return _log(place, "[" + '"",' * 20_000_000 + '""]')


@register("small.log-of-short-keys", Part.COMMAND, MANY)
def log_of_short_keys(place: Path, cookie: str) -> Command:
    """A line of a log has 5.5 million keys, in 59 MB."""
    return _log(place, "{" + ",".join(f'"{number}":0' for number in range(5_500_000)) + "}")


@register("small.log-of-small-objects", Part.COMMAND, MANY)
def log_of_small_objects(place: Path, cookie: str) -> Command:
    """A line of a log has eight million objects with an empty key, in 64 MB."""
    return _log(place, "[" + '{"":0},' * 8_000_000 + "0]")


@register("small.report-of-short-keys", Part.COMMAND, MANY)
def report_of_short_keys(place: Path, cookie: str) -> Command:
    """A JSON report has 20 million keys, in 249 MB."""
    keys = ",".join(f'"{number}":0' for number in range(20_000_000))
    (place / "run.json").write_text('{"schema_version":1,"x":{' + keys + "}}", encoding="utf-8")
    return Command(["diff", "run.json", "run.json"])


BOOLEANS = '{"type":"record","name":"r","fields":[{"name":"a","type":{"type":"array","items":"boolean"}}]}'


def _booleans(place: Path, count: int) -> None:
    """A schema, and a row of so many booleans in Avro."""
    (place / "schema.json").write_text(BOOLEANS, encoding="utf-8")
    size = bytearray()
    left = 2 * count
    while left >= 0x80:
        size.append(left & 0x7F | 0x80)
        left >>= 7
    (place / "rows.bin").write_bytes(bytes(size) + bytes([left]) + b"\x01" * count + b"\x00")


@register("small.row-of-small-values-in-avro", Part.COMMAND, Expected(status=(0,)), deadline=60.0)
def row_of_small_values_in_avro(place: Path, cookie: str) -> Command:
    """A row in Avro is an array of 60 million booleans, of a byte each."""
    _booleans(place, 60_000_000)
    return Command(["check", "--avro-schema", "schema.json", "--avro-rows", "rows.bin"])


@register("small.dump-of-small-values-in-avro", Part.COMMAND, Expected(status=(0,)), deadline=30.0)
def dump_of_small_values_in_avro(place: Path, cookie: str) -> Command:
    """A dump in JSON is asked for, of a row with a million booleans in Avro."""
    _booleans(place, 1_000_000)
    return Command(["dissect", "--json", "--avro-schema", "schema.json", "rows.bin"])


@register("small.dump-of-many-pairs-of-metadata", Part.COMMAND, Expected(status=(0, 1)), deadline=60.0)
def dump_of_many_pairs_of_metadata(place: Path, cookie: str) -> Command:
    """A dump in JSON is asked for, of a schema with 200,000 pairs of metadata."""
    schema = pa.schema([pa.field("a", pa.int64())], metadata={f"k{number}": "v" for number in range(200_000)})
    (place / "schema.arrows").write_bytes(schema.serialize().to_pybytes())
    return Command(["dissect", "--json", "schema.arrows"])


@register("small.case-of-many-items", Part.COMMAND, Expected(status=(2,), says="at most 1000000 lines"))
def case_of_many_items(place: Path, cookie: str) -> Command:
    """A case file in YAML is a list of three million texts, in 12 MB."""
    (place / "cases").mkdir()
    (place / "cases" / "many.yaml").write_text("- a\n" * 3_000_000, encoding="utf-8")
    return Command(["run", "--corpus", "cases", "--no-readers"])


def _case(place: Path, *steps: dict[str, object], table: object = None, protocol: str = "storage-read") -> Command:
    """A run of one case with these steps."""
    (place / "cases" / "a").mkdir(parents=True)
    rows = {"columns": [{"name": "n", "type": "INT64"}], "rows": [{"n": 1}]}
    case = {"id": "a.b", "title": "t", "protocol": protocol, "table": table or rows, "steps": steps}
    (place / "cases" / "a" / "b.json").write_text(json.dumps(case), encoding="utf-8")
    return Command(["run", "--corpus", "cases", "--no-readers"])


@register("small.case-of-a-billion-reads", Part.COMMAND, Expected(status=(2,), says="from 1 to 1000"))
def case_of_a_billion_reads(place: Path, cookie: str) -> Command:
    """A step of a case reads a billion times."""
    return _case(place, {"op": "create-session"}, {"op": "read-rows", "times": 10**9})


@register("small.case-of-a-terabyte-of-blanks", Part.COMMAND, Expected(status=(2,), says="from 0 to 16777216"))
def case_of_a_terabyte_of_blanks(place: Path, cookie: str) -> Command:
    """A step of a case pads a restriction with blanks to a terabyte."""
    return _case(place, {"op": "create-session", "restriction_bytes": 10**12})


@register("small.case-beyond-a-request", Part.COMMAND, Expected(status=(2,), says="from -2147483648 to"))
def case_beyond_a_request(place: Path, cookie: str) -> Command:
    """A step of a case asks for more streams than a request can hold."""
    return _case(place, {"op": "create-session", "max_stream_count": 1 << 31})


@register("small.case-of-a-billion-messages", Part.COMMAND, Expected(status=(2,), says="at most 1000 messages"))
def case_of_a_billion_messages(place: Path, cookie: str) -> Command:
    """A step of a case of Flight sends a billion messages without rows."""
    return _case(place, {"op": "do-exchange", "alone": 10**9}, protocol="flight")


@register("small.case-of-a-trillion-nulls", Part.COMMAND, Expected(status=(2,), says="at most 1048576 values"))
def case_of_a_trillion_nulls(place: Path, cookie: str) -> Command:
    """The Arrow table of a case has a column of a trillion nulls, which take no bytes."""
    batch = {"count": 10**12, "columns": [{"name": "x", "count": 10**12}]}
    arrow = {"fields": [{"name": "x", "type": {"name": "null"}}], "batches": [batch]}
    return _case(place, {"op": "list-flights"}, table={"columns": [], "arrow": arrow}, protocol="flight")


@register("small.history-of-millions-of-rows", Part.COMMAND, Expected(status=(2,), says="at most 1500000 rows"))
def history_of_millions_of_rows(place: Path, cookie: str) -> Command:
    """A history has 30 reads of 100,000 rows each, in 20 MB."""
    rows = ",".join(map(str, range(100_000)))
    lines = ['{"op":"create","begin":0,"end":1,"session":"s","streams":["s/0"]}']
    lines += [f'{{"op":"read","begin":2,"end":3,"stream":"s/0","rows":[{rows}]}}'] * 30
    (place / "calls.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return Command(["history", "calls.jsonl"])


@register("small.number-of-thousands-of-digits", Part.COMMAND, Expected(status=(2,), says="such as mutated.s1.i42"))
def number_of_thousands_of_digits(place: Path, cookie: str) -> Command:
    """The number of a mutated input has 5,000 digits, more than Python makes an integer of."""
    return Command(["replay", "mutated.s1.i" + "9" * 5_000, "--target", "mutated"])


@register("small.links-inside-a-folder-of-output", Part.COMMAND, Expected(status=(2,), says="is not followed"))
def links_inside_a_folder_of_output(place: Path, cookie: str) -> Command:
    """A folder for output has a link that leads to a file elsewhere."""
    (place / "out").mkdir()
    (place / "out" / "case.json").symlink_to(place / "elsewhere.json")
    return Command(["extract", "types.bool", "--out", "out"])
