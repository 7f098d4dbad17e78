"""Files of many small values: each takes far more memory once it is an object than its bytes do."""

from __future__ import annotations

from pathlib import Path

from conformance.disk.lines import line_of
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


@register("small.case-of-many-items", Part.COMMAND, Expected(status=(2,), says="at most 1000000 lines"))
def case_of_many_items(place: Path, cookie: str) -> Command:
    """A case file in YAML is a list of three million texts, in 12 MB."""
    (place / "cases").mkdir()
    (place / "cases" / "many.yaml").write_text("- a\n" * 3_000_000, encoding="utf-8")
    return Command(["run", "--corpus", "cases", "--no-readers"])
