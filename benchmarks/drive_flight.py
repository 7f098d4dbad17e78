"""The cost of driving a DoGet, with every byte kept, as a multiple of pyarrow.flight's own read.

One server of pyarrow.flight in a process of its own holds the batches. The suite's caller makes the call as a run does,
over gRPC in Python; pyarrow's client makes the same call with ``do_get(...).read_all()``. Both are measured in turns;
a line shows the least processor time of each in the client's process, the median of the ratios, the bar, and the median
by the clock, which other work on the machine and the server's process change. With ``--runs`` it also prints how long a
run of all cases takes on the reference, and on a server that is sent no tables, by the clock and in processor time of
all processes. The exit status says whether all bars hold.

    python -m benchmarks.drive_flight --runs
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.flight as pf

from benchmarks.judge_bytes import AT_RANDOM, big, shown, small
from conformance.protocols.flight.contract.encoding import part
from conformance.protocols.flight.wire.messages import SERVICE
from conformance.records import Call, CallEnd
from conformance.targets.recordedcall import CallBudget, Caller, close_channel, open_channel

MESSAGES: Final = 100
"""The batches of the small call."""
LARGE: Final = 41
"""The batches of the call of 64 MiB."""
SMALL_BAR: Final = 4
LARGE_BAR: Final = 1
REPEATS: Final = 15
LIMIT: Final = 1 << 30
RUNS: Final = (("flight-reference", 20.0), ("flight-pyarrow-none", 10.0))
"""Targets, and the most seconds that a run of all cases may take; the second one is sent no tables."""


def batches_of(name: str) -> Sequence[pa.RecordBatch]:
    """The batches of a ticket."""
    if name == "small":
        return [small(first=1000 * number) for number in range(MESSAGES)]
    whole = big(AT_RANDOM)
    rows = -(-whole.num_rows // LARGE)
    return [whole.slice(at, rows) for at in range(0, whole.num_rows, rows)]


class _Server(pf.FlightServerBase):
    """Holds the batches of both tickets."""

    def __init__(self) -> None:
        super().__init__("grpc://127.0.0.1:0")
        self._tables = {name: pa.Table.from_batches(batches_of(name)) for name in ("small", "large")}

    def do_get(self, context: pf.ServerCallContext, ticket: pf.Ticket) -> pf.RecordBatchStream:  # noqa: ARG002
        """The batches of a ticket."""
        return pf.RecordBatchStream(self._tables[ticket.ticket.decode()])


@contextmanager
def serving() -> Iterator[str]:
    """The address of a server in a process of its own, which ends with its standard input."""
    command = [sys.executable, "-m", "benchmarks.drive_flight", "--serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603  # this module
        assert process.stdout is not None
        yield f"127.0.0.1:{int(process.stdout.readline())}"
        process.kill()


def _took(action: Callable[[], object]) -> tuple[float, float]:
    """The processor time and the time of a call in seconds."""
    begun, start = time.perf_counter(), time.process_time()
    action()
    return time.process_time() - start, time.perf_counter() - begun


def in_turns(
    ours: Callable[[], object], theirs: Callable[[], object]
) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """The least time of one call of each, in seconds, and the median of the ratios of all turns: in processor time, and
    by the clock.
    """
    turns = [(_took(ours), _took(theirs)) for _ in range(REPEATS)]
    by_kind = [[(one[kind], other[kind]) for one, other in turns] for kind in (0, 1)]
    processor, clock = (
        (
            min(one for one, _ in times),
            min(other for _, other in times),
            statistics.median(one / other for one, other in times),
        )
        for times in by_kind
    )
    return processor, clock


def compare(place: str, name: str, *, bar: float) -> bool:
    """Print both times and their ratio; whether the bar holds."""
    channel = open_channel(place, message_limit=LIMIT)
    caller = Caller(channel, began=time.monotonic(), message_limit=LIMIT, last_words=lambda _: None, service=SERVICE)
    budget = CallBudget(60.0, 1 << 20, LIMIT)

    def drive() -> None:
        made = caller.stream(Call(0, "", "DoGet", part(1, name.encode())), budget=budget)
        if made.end is not CallEnd.COMPLETE or made.status != "OK":
            raise SystemExit(f"{name}: the call must end in OK, got {made.status} {made.details}")

    with pf.connect(f"grpc://{place}") as client:
        processor, clock = in_turns(drive, lambda: client.do_get(pf.Ticket(name)).read_all())
    close_channel(channel)
    return shown(f"{name}, driven", processor, bar=bar, more=f"   by the clock {clock[2]:.2f}")


def timed_run(name: str, *, bar: float) -> bool:
    """Print how long a run of all cases takes; whether the bar holds."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "none.toml"
        text = (Path(__file__).parents[1] / "targets" / "flight-pyarrow.toml").read_text(encoding="utf-8")
        program = Path(__file__).parents[1] / "targets" / "flight" / "with_pyarrow.py"
        text = text.replace("{here}/flight/with_pyarrow.py", str(program)).replace(
            'seeding = "put"', 'seeding = "none"'
        )
        target.write_text(text, encoding="utf-8")
        asked = str(target) if name.endswith("-none") else name
        start, used = time.perf_counter(), _children()
        command = [sys.executable, "-m", "conformance", "run", "--target", asked, "--level", "must", "--no-readers"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)  # noqa: S603  # our own
        seconds, processor = time.perf_counter() - start, _children() - used
    if done.returncode not in (0, 1):
        raise SystemExit(done.stdout + done.stderr)
    says = f"bar {bar:g}{'' if seconds <= bar else ', exceeded'}   processor {processor:.1f} s"
    print(f"a run on {name:<40} {seconds:>6.1f} s   {says}", flush=True)
    return seconds <= bar


def _children() -> float:
    """The processor time of the processes that have ended, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> int:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", action="store_true", help="measure whole runs as well")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        server = _Server()
        print(server.port, flush=True)
        sys.stdin.read()
        server.shutdown()
        return 0
    with serving() as place:
        held = [compare(place, "small", bar=SMALL_BAR), compare(place, "large", bar=LARGE_BAR)]
    if options.runs:
        held += [timed_run(name, bar=bar) for name, bar in RUNS]
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
