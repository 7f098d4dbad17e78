"""What a run will read is estimated from the cases, and what it read is counted from the exchanges."""

from __future__ import annotations

import datetime as dt
import decimal

import pyarrow as pa
import pytest

from conformance.contract import proto
from conformance.records import AppendRows, Call, CreateSession, Exchange, ReadRows
from conformance.targets.costs import Estimate, Meter, estimate, logical_bytes
from conformance.targets.service import Price, Service
from tests.targets.conftest import case_of


@pytest.mark.parametrize(
    ("values", "kind", "size"),
    [
        ([1, None, 3], pa.int64(), 16),
        ([True, False], pa.bool_(), 2),
        (["ab", "", None], pa.string(), 6),
        ([b"abc"], pa.binary(), 5),
        ([dt.date(2026, 1, 1)], pa.date32(), 8),
        ([decimal.Decimal(1)], pa.decimal128(38, 9), 16),
        ([decimal.Decimal(1)], pa.decimal256(76, 38), 32),
        ([(1, 2, 3)], pa.month_day_nano_interval(), 16),
        ([[1, 2], [], [3]], pa.list_(pa.int64()), 24),
        ([{"a": 1, "b": "x"}, None], pa.struct([("a", pa.int64()), ("b", pa.string())]), 11),
    ],
)
def test_values_have_the_published_sizes(values: list[object], kind: pa.DataType, size: int) -> None:
    """A NULL has none."""
    assert logical_bytes(pa.table({"a": pa.array(values, kind)})) == size


def test_each_read_counts_the_table_once() -> None:
    """A case that reads twice reads twice as much; repeating the run repeats all of it."""
    case = case_of(CreateSession(), ReadRows(times=2), AppendRows(1), CreateSession(label="t"), ReadRows(session="t"))

    assert estimate([case, case_of()], repeat=2) == Estimate(4, 96, 8, 192)


@pytest.mark.parametrize(
    ("read", "said"),
    [
        (1024, "less than $0.01 at $1.10 per TiB (somewhere, some day; your price may differ)"),
        (1 << 40, "about $1.10 at $1.10 per TiB (somewhere, some day; your price may differ)"),
    ],
)
def test_the_price_names_its_source(read: int, said: str) -> None:
    """Nothing is said that the target file does not say."""
    service = Service(price=Price(1.10, "somewhere", "some day"), max_bytes=1 << 20)

    assert said in Estimate(1, 1, 1, read).text(service)
    assert "$" not in Estimate(1, 1, 1, read).text(Service())
    assert Estimate(1, 1, 1, read).text(service).endswith("; the run stops at 1.0 MiB read")


def exchange(*reads: tuple[str, int]) -> Exchange:
    """A session of two streams that scans 1000 bytes, and reads of streams with so many bytes."""
    streams = [proto.ReadStream(name=f"s/streams/{number}") for number in range(2)]
    session = proto.ReadSession(name="s", streams=streams, estimated_total_bytes_scanned=1000)
    calls = [Call(0, "s", "CreateReadSession", b"", (session.SerializeToString(),))]
    for stream, size in reads:
        request = proto.ReadRowsRequest(read_stream=stream).SerializeToString()
        calls.append(Call(1, "s", "ReadRows", request, (bytes(size),)))
    return Exchange("a", "x", tuple(calls))


@pytest.mark.parametrize(
    ("reads", "counted"),
    [
        ([], 0),
        ([("s/streams/0", 10)], 500),
        ([("s/streams/0", 10), ("s/streams/1", 700)], 1200),
        ([("elsewhere", 10)], 10),
    ],
)
def test_the_greater_of_what_is_reported_and_what_arrives_counts(reads: list[tuple[str, int]], counted: int) -> None:
    """A stream counts its share of what the session scans."""
    meter = Meter(1000)

    meter.count(exchange(*reads))

    assert meter.read == counted
    assert bool(meter.stopped) == (counted >= 1000)


def test_bytes_that_are_no_message_are_counted_as_they_arrive() -> None:
    """A broken answer costs no verdict."""
    meter = Meter(None)
    broken = (Call(0, "s", "CreateReadSession", b"", (b"\xff",)), Call(1, "s", "ReadRows", b"\xff", (b"1234",)))

    meter.count(Exchange("a", "x", broken))
    meter.add(6)

    assert (meter.read, meter.stopped, meter.remarks) == (10, "", ())
