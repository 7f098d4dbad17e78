"""The cases that can show a clause do not depend on how fast the machine is."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import pytest

from conformance.engine.corpus import resolve_case
from conformance.records import Case
from conformance.records.steps import ReadRows
from publish import shown


def test_a_case_with_a_deadline_is_judged_early_and_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once with time for the responses before its deadline, once without any; other cases are judged once."""
    asked: list[list[Case]] = []

    def none(cases: Collection[Case]) -> Iterator[tuple[str, str]]:
        asked.append([*cases])
        return iter(())

    monkeypatch.setattr(shown, "_judged", none)
    timed, plain = resolve_case("interrupted.deadline"), resolve_case("interrupted.pause")

    assert list(shown.judged({timed.id: timed, plain.id: plain})) == []

    (early, unchanged), (late,) = asked
    faults = [step.faults for case in (timed, early, late) for step in case.steps if isinstance(step, ReadRows)][::2]
    assert unchanged == plain
    assert [(first.responses, first.seconds) for first, _ in faults] == [(1, 0.05), (1, shown.AMPLE), (0, 0.05)]
    assert [again for _, again in faults] == [faults[0][1]] * 3
