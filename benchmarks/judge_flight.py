"""The cost of judging the messages of a Flight call, as a multiple of pyarrow's own reading with full validation.

The bytes are the ``FlightData`` messages of one DoGet. The suite walks the protobuf encoding, reads the IPC stream
inside strictly and judges it by every clause on streams; ``read`` is the same without the clauses. pyarrow
reads the same IPC stream with ``open_stream(...).read_all()`` and ``validate(full=True)``, and no protobuf. Both are
measured in turns; a line shows the least processor time of each, the median of the ratios, and the bar. The exit status
says whether all bars hold.

    python -m benchmarks.judge_flight
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Final

import pyarrow as pa

from benchmarks.decode_streams import written
from benchmarks.judge_bytes import AT_RANDOM, big, in_turns, shown, small
from conformance.protocols.flight.contract.streamjudging import judge_flight
from conformance.protocols.flight.wire.data import read_flight
from conformance.records import Outcome
from conformance.wire import read_messages

MESSAGES: Final = 100
"""The batches of the small call."""
SMALL_BAR: Final = 25
BIG_BAR: Final = 0.5
REPEATS: Final = 11


def varint(value: int) -> bytes:
    """A number as protobuf writes lengths."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*out, value))


def delimited(number: int, value: bytes) -> bytes:
    """A field of bytes."""
    return varint(number << 3 | 2) + varint(len(value)) + value


def messages_of(stream: bytes) -> list[bytes]:
    """The IPC stream as the messages of a Flight call."""
    made = []
    for one in read_messages(stream):
        header = delimited(2, stream[one.metadata_start : one.metadata_end])
        body = stream[one.body_start : one.body_end]
        made.append(header + (delimited(1000, body) if body else b""))
    return made


def compare(name: str, batches: Sequence[pa.RecordBatch], *, bar: float, loops: int) -> bool:
    """Print the times and ratios of judging and of reading alone; whether the bar holds."""
    stream = written(batches)
    messages = messages_of(stream)
    if {verdict.outcome for verdict in judge_flight(messages)} != {Outcome.PASS}:
        raise SystemExit(f"{name}: the call must be judged without a finding")

    def decode() -> None:
        pa.ipc.open_stream(stream).read_all().validate(full=True)

    measured = in_turns(lambda: read_flight(messages), decode, repeats=REPEATS, loops=loops)
    shown(f"{name}, read", measured, bar=None)
    measured = in_turns(lambda: judge_flight(messages), decode, repeats=REPEATS, loops=loops)
    return shown(f"{name}, judged", measured, bar=bar)


def main() -> int:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--loops", type=int, default=5, help="calls per measurement of the small messages")
    options = parser.parse_args()
    few = [small(first=1000 * number) for number in range(MESSAGES)]
    held = [
        compare(f"{MESSAGES} messages of 12 rows", few, bar=SMALL_BAR, loops=options.loops),
        *(compare(f"64 MiB, {kind}", [big(kind)], bar=BIG_BAR, loops=1) for kind in ("ASCII", AT_RANDOM)),
    ]
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
