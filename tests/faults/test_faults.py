"""Every fault acts: on one sequence of requests, written by hand, its server answers in another way than the reference.

The sequences know each fault; the suite that is measured with the faults does not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from conformance.contract import proto
from conformance.protocols.storage_read.reference.service import ReadService
from tests.faults.calls import Calls, decoded, field
from tests.faults.catalogue import FAULTS

_SIX_HOURS: Final = 6 * 3600 * 1_000_000
_RECORD: Final = field("rec", "RECORD", fields=[field("a"), field("b")])
PROBES: Final[dict[str, Callable[[Calls], Any]]] = {}
"""The observations of a hand-written sequence of requests, by the fault that it shows."""


def _probe(name: str) -> Callable[[Callable[[Calls], Any]], Callable[[Calls], Any]]:
    def register(probe: Callable[[Calls], Any]) -> Callable[[Calls], Any]:
        PROBES[name] = probe
        return probe

    return register


# --- reads ----------------------------------------------------------------------------------------


@_probe("reads.offset-in-table-rows")
def _(calls: Calls) -> Any:
    calls.numbers(*range(10))
    session = calls.session(row_restriction="id >= 5")
    return calls.ids(session, session.streams[0], 2)


@_probe("reads.page-without-match-ends")
def _(calls: Calls) -> Any:
    calls.numbers(*range(60))
    return calls.kept("id < 3 OR id > 40")


@_probe("reads.resume-at-boundary-ends")
def _(calls: Calls) -> Any:
    calls.numbers(*range(20))
    session = calls.session()
    return calls.ids(session, session.streams[0], 4)


@_probe("reads.lz4-first-response-cached")
def _(calls: Calls) -> Any:
    calls.numbers(*range(20))
    session = calls.session(response_compression_codec=proto.RESPONSE_COMPRESSION["LZ4"])
    return [calls.ids(session, session.streams[0], offset) for offset in (0, 6)]


@_probe("reads.row-count-before-restriction")
def _(calls: Calls) -> Any:
    calls.numbers(*range(10))
    session = calls.session(row_restriction="id IN (1, 5, 7)")
    return [response.row_count for response in calls.start(session.streams[0])]


@_probe("reads.resume-sorts-rows")
def _(calls: Calls) -> Any:
    calls.numbers(5, 3, 9, 1)
    session = calls.session()
    return calls.ids(session, session.streams[0], 1)


@_probe("reads.schema-only-at-offset-zero")
def _(calls: Calls) -> Any:
    calls.numbers(*range(10))
    first = next(calls.start(calls.session().streams[0], 2))
    return first.HasField("arrow_schema")


@_probe("reads.avro-ignores-offset")
def _(calls: Calls) -> Any:
    calls.numbers(*range(10))
    session = calls.session(data_format="AVRO")
    return [response.row_count for response in calls.start(session.streams[0], 7)]


@_probe("reads.list-values-from-front")
def _(calls: Calls) -> Any:
    calls.seed([field("tags", "STRING", "REPEATED")], [{"tags": [str(row)] * (row % 3)} for row in range(10)])
    return calls.rows(calls.session())


@_probe("reads.validity-from-byte-boundary")
def _(calls: Calls) -> Any:
    calls.numbers(None, 1, 2, 3, 4, 5)
    return calls.ids(calls.session())


@_probe("reads.late-error-ends-ok")
def _(calls: Calls) -> Any:
    fine, beyond = "0-0 0 0:0:1", "0-0 0 87660000:0:0"
    calls.seed([field("span", "INTERVAL")], [{"span": fine}] * 6 + [{"span": beyond}])
    return calls.status(calls.session().streams[0])


@_probe("reads.progress-of-remaining-rows")
def _(calls: Calls) -> Any:
    calls.numbers(*range(10))
    responses = calls.start(calls.session().streams[0], 8)
    return [response.stats.progress.at_response_end for response in responses]


@_probe("reads.shared-cursor")
def _(calls: Calls) -> Any:
    calls.numbers(*range(30))
    session = calls.session()
    one, other = (calls.start(session.streams[0]) for _ in range(2))
    return [decoded(session, iter([next(one), next(other)])), decoded(session, one), decoded(session, other)]


@_probe("reads.abandoned-read-continues")
def _(calls: Calls) -> Any:
    calls.numbers(*range(30))
    session = calls.session()
    abandoned = calls.start(session.streams[0])
    next(abandoned)
    return calls.ids(session)


@_probe("reads.null-record-lost-in-pruning")
def _(calls: Calls) -> Any:
    calls.seed([_RECORD], [{"rec": None}, {"rec": {"a": 1}}])
    return calls.rows(calls.session(selected_fields=["rec.a"]))


# --- sessions -------------------------------------------------------------------------------------


@_probe("sessions.snapshot-nanos-dropped")
def _(calls: Calls) -> Any:
    calls.numbers(1)
    calls.clock.now += 1_000_000
    calls.append([{"id": 2}])
    return calls.ids(calls.session(at=calls.clock.now))


@_probe("sessions.open-ended-last-stream")
def _(calls: Calls) -> Any:
    calls.numbers(*range(40))
    session = calls.session(streams=2)
    calls.append([{"id": 40}])
    return [calls.ids(session, stream) for stream in session.streams]


@_probe("sessions.one-stream-per-append")
def _(calls: Calls) -> Any:
    calls.numbers(1)
    calls.append([{"id": 2}])
    calls.append([{"id": 3}])
    return len(calls.session(streams=2).streams)


@_probe("sessions.time-travel-lost-under-restriction")
def _(calls: Calls) -> Any:
    calls.numbers(1)
    before = calls.clock.now
    calls.append([{"id": 2}])
    return calls.ids(calls.session(at=before, row_restriction="id > 0"))


@_probe("sessions.mask-cache-folds-case")
def _(calls: Calls) -> Any:
    calls.seed([field("id"), field("name", "STRING")], [{"id": 1, "name": "a"}, {"id": 2, "name": "A"}])
    return [calls.kept("name = 'a'"), calls.kept("name = 'A'")]


@_probe("sessions.mask-cache-survives-recreate")
def _(calls: Calls) -> Any:
    calls.numbers(1, 2)
    first = calls.kept("id = 1")
    calls.drop()
    calls.numbers(2, 1)
    return first, calls.kept("id = 1")


@_probe("sessions.identical-request-from-cache")
def _(calls: Calls) -> Any:
    calls.numbers(1)
    first = calls.ids(calls.session())
    calls.append([{"id": 2}])
    return first, calls.ids(calls.session())


@_probe("sessions.newest-session-codec")
def _(calls: Calls) -> Any:
    calls.numbers(*range(100))
    first = calls.session()
    calls.session(buffer_compression="ZSTD")
    return [response.arrow_record_batch.serialized_record_batch for response in calls.start(first.streams[0])]


@_probe("sessions.only-newest-64")
def _(calls: Calls) -> Any:
    calls.numbers(1)
    first = calls.session()
    for _ in range(64):
        calls.session()
    return calls.status(first.streams[0])


@_probe("sessions.expiry-from-last-read")
def _(calls: Calls) -> Any:
    calls.numbers(1)
    stream = calls.session().streams[0]
    calls.clock.now += _SIX_HOURS // 2
    calls.status(stream)
    calls.clock.now += _SIX_HOURS // 2 + 1_000_000
    return calls.status(stream)


# --- splits ---------------------------------------------------------------------------------------


@_probe("splits.remainder-split-from-root")
def _(calls: Calls) -> Any:
    calls.numbers(*range(8))
    session = calls.session()
    _, remainder = calls.split(session.streams[0])
    return [calls.ids(session, child) for child in calls.split(remainder)]


@_probe("splits.original-shortened")
def _(calls: Calls) -> Any:
    calls.numbers(*range(8))
    session = calls.session()
    calls.split(session.streams[0])
    return calls.ids(session)


@_probe("splits.children-lose-restriction")
def _(calls: Calls) -> Any:
    calls.numbers(*range(8))
    session = calls.session(row_restriction="MOD(id, 3) = 0")
    return [calls.ids(session, child) for child in calls.split(session.streams[0])]


@_probe("splits.remainder-offset-in-parent")
def _(calls: Calls) -> Any:
    calls.numbers(*range(8))
    session = calls.session()
    _, remainder = calls.split(session.streams[0])
    return calls.ids(session, remainder, 1)


# --- dialects -------------------------------------------------------------------------------------


def _restricted(restriction: str, kind: str, *values: Any) -> Callable[[Calls], Any]:
    def probe(calls: Calls) -> Any:
        calls.seed([field("id"), field("x", kind)], [{"id": row, "x": value} for row, value in enumerate(values)])
        return calls.kept(restriction)

    return probe


PROBES.update(
    {
        "dialects.not-in-ignores-null": _restricted("x NOT IN (1, NULL)", "INT64", 1, 2),
        "dialects.not-over-and": _restricted("NOT x = 1 AND id = 1", "INT64", 1, 2, 3),
        "dialects.between-dates-half-open": _restricted(
            "x BETWEEN '2024-01-01' AND '2024-01-31'", "DATE", "2024-01-01", "2024-01-31"
        ),
        "dialects.timestamp-zone-ignored": _restricted(
            "x < TIMESTAMP '2024-01-01 02:00:00+02:00'", "TIMESTAMP", "2023-12-31T23:00:00Z", "2024-01-01T01:00:00Z"
        ),
        "dialects.integer-division": _restricted("x / 2 > 1", "INT64", 2, 3, 4),
        "dialects.nan-is-largest": _restricted("x > 1.0", "FLOAT64", 0.5, 2.0, "NaN"),
        "dialects.is-not-true-drops-null": _restricted("x IS NOT TRUE", "BOOL", "true", "false", None),
        "dialects.like-underscore-is-a-byte": _restricted("x LIKE 'a_'", "STRING", "ab", "aé"),
        "dialects.spaces-in-literal-collapse": _restricted("x = 'a  b'", "STRING", "a b", "a  b"),
    }
)


@_probe("dialects.null-record-reads-as-defaults")
def _(calls: Calls) -> Any:
    calls.seed([field("id"), _RECORD], [{"id": 1, "rec": None}, {"id": 2, "rec": {"a": 0}}, {"id": 3, "rec": {}}])
    return calls.kept("rec.a = 0")


@_probe("dialects.unselected-child-is-null")
def _(calls: Calls) -> Any:
    calls.seed([field("id"), _RECORD], [{"id": 1, "rec": {"a": 1, "b": 1}}, {"id": 2, "rec": {"a": 2, "b": 2}}])
    return calls.rows(calls.session(selected_fields=["rec.a"], row_restriction="rec.b = 2"))


# --- the tests ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_acts(name: str) -> None:
    """A fault answers its sequence otherwise than the reference, which answers it twice in the same way."""
    expected = PROBES[name](Calls(ReadService))

    assert PROBES[name](Calls(ReadService)) == expected
    assert PROBES[name](Calls(FAULTS[name].service)) != expected


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_no_broken_server(name: str) -> None:
    """A plain read of a small table with every column is as the reference answers it."""

    def plain(calls: Calls) -> Any:
        calls.numbers(3, 4, 5)
        return calls.ids(calls.session())

    assert plain(Calls(FAULTS[name].service)) == plain(Calls(ReadService)) == [3, 4, 5]


def test_the_list_has_the_promised_size() -> None:
    """There are 40 faults, and at least half of them need several features to meet."""
    combined = [fault for fault in FAULTS.values() if len(fault.needs) > 1]

    assert len(FAULTS) == 40
    assert len(combined) >= 20


def test_every_fault_is_described() -> None:
    """Each fault has one sentence on what it does and one on why a developer writes it."""
    texts = [text for fault in FAULTS.values() for text in (fault.description, fault.why)]

    assert [text for text in texts if not text.endswith(".")] == []
    assert sorted(PROBES) == sorted(FAULTS)
