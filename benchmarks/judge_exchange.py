"""Measures the judging of an exchange with its values, as a multiple of pyarrow's reading with full validation.

An exchange here is one batch of a serializer under a schema that has been read before, judged by every clause against
the case's table. Prints, per batch, the time of ``judge``, the time of ``pyarrow.ipc.read_record_batch`` with
``validate(full=True)``, their ratio, and the bar. The small batch is judged in two ways: as a case that is judged
repeatedly (mutants, several targets, shrinking), and as a case that is new each time.

    python -m benchmarks.judge_exchange
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator

import pyarrow as pa

from benchmarks.judge_bytes import best, big, small
from conformance.contract.judge import judge
from conformance.contract.mapping import arrow_schema
from conformance.records import BqType, Call, Case, Column, Exchange, Mode, Outcome, Table

SMALL = (
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
BIG = (Column("text", BqType.STRING), Column("number", BqType.INT64))


def exchanges(batch: pa.RecordBatch, columns: tuple[Column, ...]) -> Iterator[tuple[Case, Exchange, pa.Table]]:
    """The same exchange under a new case id each time."""
    batch = pa.RecordBatch.from_arrays(
        [column.cast(field.type) for column, field in zip(batch.columns, arrow_schema(columns), strict=True)],
        schema=arrow_schema(columns),
    )
    table = pa.Table.from_batches([batch])
    calls = (
        Call(0, "", "SerializeSchema", b"", (batch.schema.serialize().to_pybytes(),)),
        Call(0, "", "SerializeBatch", b"", (batch.serialize().to_pybytes(),)),
    )
    contents = Table(columns=columns, rows=())
    for number in itertools.count():
        case_id = f"case-{number}"
        yield Case(case_id, "", contents), Exchange(case_id, "benchmark", calls), table


def compare(name: str, batch: pa.RecordBatch, columns: tuple[Column, ...], *, bar: float, loops: int) -> None:
    """Print both times and their ratio for one batch."""
    fresh = exchanges(batch, columns)
    case, exchange, table = next(fresh)
    verdicts = judge(case, exchange, table)
    if {verdict.outcome for verdict in verdicts} != {Outcome.PASS}:
        raise SystemExit(f"{name}: the exchange must be judged without a finding")
    data = exchange.calls[1].responses[0]
    schema = pa.ipc.read_schema(pa.py_buffer(exchange.calls[0].responses[0]))

    def decode() -> None:
        pa.ipc.read_record_batch(pa.py_buffer(data), schema).validate(full=True)

    theirs = best(decode, repeats=7, loops=loops)
    again = best(lambda: judge(case, exchange, table), repeats=7, loops=loops)
    unseen = [next(fresh) for _ in range(7 * loops)]
    new = best(lambda: judge(*unseen.pop()), repeats=7, loops=loops)
    for kind, ours in (("judged again", again), ("never seen", new)):
        print(
            f"{name:<32} {kind:<13} {len(verdicts):>4} verdicts {ours * 1e6:>10.1f} us   "
            f"pyarrow {theirs * 1e6:>10.1f} us   ratio {ours / theirs:>6.2f}   bar {bar:g}"
        )


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--loops", type=int, default=2000, help="calls per measurement of the small batch")
    options = parser.parse_args()
    compare("10 columns, 12 rows", small(), SMALL, bar=25, loops=options.loops)
    compare("64 MiB, ASCII text and int64", big(ascii_only=True), BIG, bar=2, loops=3)
    compare("64 MiB, accented text and int64", big(ascii_only=False), BIG, bar=2, loops=3)


if __name__ == "__main__":
    main()
