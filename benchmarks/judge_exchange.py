"""The cost of judging an exchange, values included, as a multiple of pyarrow's own reading with full validation.

An exchange here is one batch of a serializer, judged by every clause against the case's table. No exchange is judged
twice, and no two have the same bytes. pyarrow reads the same bytes with ``read_record_batch`` and
``validate(full=True)``. Both are measured in turns; a line shows the least processor time of each, the median of the
ratios, and the bar. The exit status says whether all bars hold. The small exchange is judged

* under a schema that has been read before, as that of a session is, with the ids of the clauses that passed: this is
  what a campaign does for each case;
* the same, with a verdict for each of these clauses: this is what a run does;
* under a schema that has never been read; pyarrow reads the schema, too.

    python -m benchmarks.judge_exchange
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Callable, Iterator
from typing import Final

import pyarrow as pa

from benchmarks.judge_bytes import BARS, big, in_turns, shown, small
from conformance.contract.clause import CLAUSES, PROFILES, load_chapters
from conformance.contract.judge import Judge, judge
from conformance.contract.mapping import arrow_schema
from conformance.contract.viewing import view_of
from conformance.records import BqType, Call, Case, Column, Exchange, Mode, Outcome, Table

SMALL: Final[tuple[Column, ...]] = (
    Column("int64", BqType.INT64),
    Column("float64", BqType.FLOAT64),
    Column("bool", BqType.BOOL),
    Column("string", BqType.STRING),
    Column("bytes", BqType.BYTES),
    Column("numeric", BqType.NUMERIC),
    Column("date", BqType.DATE),
    Column("time", BqType.TIME),
    Column("timestamp", BqType.TIMESTAMP),
    Column("array", BqType.INT64, Mode.REPEATED),
)
BIG: Final = (Column("text", BqType.STRING), Column("number", BqType.INT64))
REPEATS: Final = 11
SMALL_BAR: Final = 20
BIG_BAR: Final = 1.4

Judged = tuple[Case, Exchange, pa.Table]


def exchange(number: int, batch: pa.RecordBatch, columns: tuple[Column, ...]) -> Judged:
    """An exchange in which a serializer writes the batch as it should."""
    arrays = [column.cast(field.type) for column, field in zip(batch.columns, arrow_schema(columns), strict=True)]
    batch = pa.RecordBatch.from_arrays(arrays, schema=arrow_schema(columns))
    calls = (
        Call(0, "", "SerializeSchema", b"", (batch.schema.serialize().to_pybytes(),)),
        Call(0, "", "SerializeBatch", b"", (batch.serialize().to_pybytes(),)),
    )
    case_id = f"case-{number}"
    table = pa.Table.from_batches([batch])
    return Case(case_id, "", Table(columns=columns, rows=())), Exchange(case_id, "benchmark", calls), table


def unseen(count: int, *, renamed: bool) -> Iterator[Judged]:
    """Small exchanges of different values, under one schema or under a new one each."""
    for number in range(count):
        columns = SMALL
        if renamed:
            columns = tuple(dataclasses.replace(column, name=f"{column.name}_{number}") for column in SMALL)
        yield exchange(number, small(first=1000 * number), columns)


def decode(one: Judged, schema: pa.Schema | None) -> None:
    """Read and validate an exchange's batch with pyarrow; its schema, too, unless it is given."""
    written, batch = (call.responses[0] for call in one[1].calls)
    schema = pa.ipc.read_schema(pa.py_buffer(written)) if schema is None else schema
    pa.ipc.read_record_batch(pa.py_buffer(batch), schema).validate(full=True)


def compare_small(name: str, judging: Callable[..., object], *, renamed: bool, bar: float | None, loops: int) -> bool:
    """Print both times and their ratio for small exchanges; whether the bar holds."""
    exchanges = list(unseen(REPEATS * loops, renamed=renamed))
    schema = None if renamed else arrow_schema(SMALL)
    ours, theirs = iter(exchanges), iter(exchanges)
    measured = in_turns(
        lambda: judging(*next(ours)), lambda: decode(next(theirs), schema), repeats=REPEATS, loops=loops
    )
    return shown(name, measured, bar=bar)


def compare_big(kind: str) -> bool:
    """Print both times and their ratio for 64 MiB of a kind of text; whether the bar holds."""
    one = exchange(0, big(kind), BIG)
    if {verdict.outcome for verdict in judge(*one)} != {Outcome.PASS}:
        raise SystemExit(f"{kind}: the exchange must be judged without a finding")
    schema = arrow_schema(BIG)
    measured = in_turns(lambda: judge(*one), lambda: decode(one, schema), repeats=REPEATS, loops=1)
    return shown(f"64 MiB, {kind}", measured, bar=BIG_BAR)


def main() -> int:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--loops", type=int, default=300, help="small exchanges per measurement")
    loops = parser.parse_args().loops
    load_chapters()
    judging = Judge(clause for clause in CLAUSES.values() if PROFILES[0] in clause.profiles)

    def ids(case: Case, exchange: Exchange, table: pa.Table) -> None:
        judging(view_of(case, exchange, table))

    verdicts = judge(*next(unseen(1, renamed=False)))
    if {verdict.outcome for verdict in verdicts} != {Outcome.PASS}:
        raise SystemExit("the small exchange must be judged without a finding")
    name = "10 columns, 12 rows"
    held = [
        compare_small(f"{name}, {len(verdicts)} ids", ids, renamed=False, bar=SMALL_BAR, loops=loops),
        compare_small(f"{name}, {len(verdicts)} verdicts", judge, renamed=False, bar=None, loops=loops),
        compare_small(f"{name}, ids, new schema", ids, renamed=True, bar=None, loops=loops // 3),
        *(compare_big(kind) for kind in BARS),
    ]
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
