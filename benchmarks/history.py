"""Measures the history checker: rows of observation a second, on one core, in this process.

Each line is one kind of history of about a million rows, permitted or with an anomaly: the rows that reads returned,
divided by the processor time of one check, the best of several. The exit status says whether every line meets the bar.

    python -m benchmarks.history
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable, Iterator
from typing import Final

from benchmarks.judge_bytes import best
from conformance.history import Append, Create, End, History, HistoryCall, RowsRead, Split, check

BAR: Final = 20_000
"""Rows a second."""
ROWS: Final = 1_000_000
"""The rows that the reads of a history return, about."""
SEEDED: Final = 10_000
STREAMS: Final = 4


def sessions(*, restreamed: bool = False) -> Iterator[HistoryCall]:
    """A growing table, and sessions of four streams, each read in full; ``restreamed`` exchanges two rows."""
    clock = itertools.count()
    yield Append(next(clock), next(clock), tuple(range(SEEDED)))
    count = SEEDED
    for number in range(ROWS // SEEDED // 2):
        begin = next(clock)
        streams = tuple(f"{number}/{stream}" for stream in range(STREAMS))
        yield Create(begin, next(clock), str(number), streams)
        rows = list(range(count))
        yield Append(next(clock), next(clock), tuple(range(count, count + 100)))
        for stream, name in enumerate(streams):
            own = tuple(rows[stream::STREAMS])
            yield RowsRead(next(clock), next(clock), name, own)
            yield RowsRead(next(clock), next(clock), name, own[::-1] if restreamed and number else own)
        count += 100


def resumed(*, ended: End) -> Iterator[HistoryCall]:
    """One stream, read in parts of ten rows each, which end so."""
    yield Append(0, 1, tuple(range(ROWS)))
    yield Create(2, 3, "s", ("s/0",))
    for part in range(ROWS // 10):
        rows = tuple(range(10 * part, 10 * part + 10))
        yield RowsRead(4 + part, 4 + part, "s/0", rows, 10 * part, ended)


def split() -> Iterator[HistoryCall]:
    """Streams that are split, with the reads of the parent and of both children."""
    for table in range(ROWS // SEEDED // 2):
        name, rows = f"t{table}", tuple(range(table * SEEDED, (table + 1) * SEEDED))
        yield Append(0, 1, rows, table=name)
        yield Create(2, 3, name, (f"{name}/0",), table=name)
        yield RowsRead(4, 5, f"{name}/0", rows)
        yield Split(6, 7, f"{name}/0", f"{name}.p", f"{name}.r")
        yield RowsRead(8, 9, f"{name}.p", rows[: SEEDED // 2])
        yield RowsRead(8, 9, f"{name}.r", rows[SEEDED // 2 :])


KINDS: Final[dict[str, tuple[Callable[[], Iterator[HistoryCall]], bool]]] = {
    "sessions of a growing table, read twice": (sessions, False),
    "the same, backwards the second time": (lambda: sessions(restreamed=True), True),
    "one stream in parts of ten rows": (lambda: resumed(ended=End.CUT), False),
    "the same, each part as if it were the last": (lambda: resumed(ended=End.OK), True),
    "splits": (split, False),
}
"""The kinds of history, and whether each has an anomaly."""


def main() -> None:
    """Measure every kind."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    met = True
    for name, (calls, broken) in KINDS.items():
        history = History(tuple(calls()))
        judgement = check(history)
        if bool(judgement.anomalies) is not broken:
            raise SystemExit(f"{name}: expected {'an anomaly' if broken else 'none'}, got {judgement.anomalies[:1]}")
        rate = judgement.rows / best(lambda: check(history), repeats=3, loops=1)  # noqa: B023  # called at once
        met &= rate >= BAR
        print(f"{name:42} {judgement.rows:9,} rows  {rate:12,.0f} rows/s")
    print(f"bar: {BAR:,} rows/s: {'met' if met else 'MISSED'}")
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
