"""Files of fault plans."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.recording.plans import PlanError, read_plan
from conformance.records import FaultKind, FaultPlan, PlannedFault


def test_a_plan_is_read(tmp_path: Path) -> None:
    """Keys that a fault leaves out have their defaults."""
    path = tmp_path / "plan.json"
    path.write_text('{"faults": [{"kind": "reset", "responses": 1}, {"kind": "delay", "call": 1, "seconds": 2}]}')

    assert read_plan(path) == FaultPlan(
        (PlannedFault(FaultKind.RESET, responses=1), PlannedFault(FaultKind.DELAY, call=1, seconds=2.0))
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "a plan is JSON such as"),
        ('{"faults": [{"kind": "rest"}]}', "rest"),
        ('{"faults": [{"kind": "status", "code": "OK"}]}', "UNAVAILABLE"),
        ('{"faults": [{"kind": "reset", "responses": -1}]}', "at least 0"),
        ('{"faults": [{"kind": "delay", "bytes": 1}]}', "kind reset"),
        ('{"faults": [{"kind": "reset", "retry_after": 1}]}', "retry_after"),
        (" " * (2 << 20), "at most 1048576 bytes"),
    ],
)
def test_what_is_no_plan_is_refused_with_the_reason(tmp_path: Path, text: str, said: str) -> None:
    """The sentence names the file and shows what is expected."""
    path = tmp_path / "plan.json"
    path.write_text(text)

    with pytest.raises(PlanError, match=said) as refused:
        read_plan(path)
    assert str(path) in str(refused.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    """The sentence says why it cannot be read."""
    with pytest.raises(PlanError, match=r"nowhere\.json: .* No such file"):
        read_plan(tmp_path / "nowhere.json")
