"""Fault plans in the reads of a case."""

from __future__ import annotations

import math

import pytest

from conformance.records import FaultKind, PlannedFault, ReadRows, RecordError, from_json, to_json


def test_a_read_with_a_plan_has_a_json_form() -> None:
    """Defaults are left out, and the form is read back."""
    read = ReadRows(faults=(PlannedFault(FaultKind.RESET, responses=1),))

    assert to_json(read) == {"faults": [{"kind": "reset", "responses": 1}]}
    assert from_json(ReadRows, to_json(read)) == read


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (PlannedFault(FaultKind.GOAWAY), "so not goaway"),
        (PlannedFault(FaultKind.STATUS, method="SplitReadStream"), "faults of ReadRows"),
        (PlannedFault(FaultKind.DEADLINE), "a deadline with seconds"),
        (PlannedFault(FaultKind.RESET, stream=1), "without a stream"),
    ],
)
def test_a_read_refuses_faults_that_the_driver_cannot_make(fault: PlannedFault, said: str) -> None:
    """The sentence says what is expected."""
    with pytest.raises(RecordError, match=said):
        ReadRows(faults=(fault,))


def test_a_read_is_not_both_cancelled_and_broken_off() -> None:
    """A plan says by itself after how many responses a call ends."""
    with pytest.raises(RecordError, match="none in a read with faults"):
        ReadRows(take=1, faults=(PlannedFault(FaultKind.RESET, responses=1),))


@pytest.mark.parametrize("name", ["seconds", "retry_after"])
@pytest.mark.parametrize("value", [-1.0, math.inf, math.nan])
def test_a_plan_waits_a_number_of_seconds(name: str, value: float) -> None:
    """No call of a test ends after infinitely many, and nan is neither less nor more than any."""
    with pytest.raises(RecordError, match=f"{name}: expected a finite number of at least 0"):
        PlannedFault(FaultKind.STATUS, **{name: value})  # type: ignore[arg-type]


def test_a_plan_asks_to_wait_no_longer_than_a_duration_can_say() -> None:
    """google.protobuf.Duration takes about 10,000 years; a longer time would end the call with another status."""
    assert PlannedFault(FaultKind.STATUS, retry_after=315_576_000_000.0)
    with pytest.raises(RecordError, match="retry_after: expected at most 315576000000 seconds"):
        PlannedFault(FaultKind.STATUS, retry_after=1e300)


@pytest.mark.parametrize("name", ["stream", "call", "responses", "bytes"])
def test_a_count_has_64_bits(name: str) -> None:
    """A fault behind more calls, responses or bytes than there can be would never happen, without a word."""
    assert PlannedFault(FaultKind.RESET, **{name: 2**63 - 1})
    with pytest.raises(RecordError, match=f"{name}: expected at most 9223372036854775807"):
        PlannedFault(FaultKind.RESET, **{name: 2**63})


def test_a_delay_lasts_a_day_at_most() -> None:
    """No clock can wait for the largest numbers."""
    assert PlannedFault(FaultKind.DELAY, seconds=86_400.0)
    with pytest.raises(RecordError, match="seconds: expected at most 86400"):
        PlannedFault(FaultKind.DELAY, seconds=1e300)
