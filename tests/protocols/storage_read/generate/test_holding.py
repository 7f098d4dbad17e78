"""What may happen while a read is held open."""

from __future__ import annotations

import pytest

from conformance.generate.casecheck import check_case
from conformance.records import (
    AppendRows,
    BqType,
    Case,
    Column,
    CreateSession,
    FaultKind,
    Happening,
    Meanwhile,
    PlannedFault,
    ReadRows,
    Recipe,
    RecordError,
    SplitStream,
    StorageReadStep,
    Table,
)

DELAY = (PlannedFault(FaultKind.DELAY, responses=1),)
HELD = ReadRows(stream="0", faults=DELAY, during=1)
ASIDE = ReadRows(stream="0", alongside=True)


def case(*steps: StorageReadStep) -> Case:
    """A case of a table with ten rows."""
    table = Table((Column("a", BqType.INT64),), recipe=Recipe(10))
    return Case("mine", "a title", table, steps=(CreateSession(), *steps))


@pytest.mark.parametrize(
    "right",
    [
        case(HELD, AppendRows(1)),
        case(HELD, SplitStream(), ReadRows(stream="x.primary")),
        case(HELD, ReadRows(stream="0"), ReadRows(stream="0", faults=DELAY, during=1), ReadRows()),
    ],
)
def test_what_leaves_the_session_alone_may_happen(right: Case) -> None:
    """Insertions, splits, other reads; and another held read behind the pause."""
    check_case(right)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (case(HELD), "Case.steps[1].during: expected a number of steps that follow but got 1"),
        (
            case(ReadRows(stream="0", faults=DELAY, during=-1), ASIDE),
            "Case.steps[1].during: expected a number of steps",
        ),
        (case(ReadRows(faults=DELAY, during=1), AppendRows(1)), "Case.steps[1].during: expected none but in one call"),
        (
            case(ReadRows(stream="0", faults=DELAY, during=1, times=2), AppendRows(1)),
            "Case.steps[1].during: expected none but in one call",
        ),
        (
            case(ReadRows(stream="0", faults=DELAY, during=2), HELD, AppendRows(1)),
            "Case.steps[2].during: expected no held read in the pause of another",
        ),
        (case(HELD, ASIDE), "Case.steps[1].during: expected no read alongside at the ends of the pause"),
        (case(HELD, ReadRows(), ASIDE), "Case.steps[1].during: expected no read alongside at the ends of the pause"),
        (case(HELD, Meanwhile(Happening.RESTART)), "Case.steps[2]: expected nothing that happens to the server while"),
        (case(HELD, AppendRows(1, again=True)), "Case.steps[2].again: expected no table made again while a read is"),
    ],
)
def test_what_may_end_the_session_is_refused(wrong: Case, message: str) -> None:
    """One sentence says where, and what was expected."""
    with pytest.raises(RecordError) as caught:
        check_case(wrong)

    assert message in str(caught.value)


def test_a_read_without_a_delay_is_not_held() -> None:
    """Nothing would hold it."""
    with pytest.raises(RecordError, match="none in a read without a DELAY"):
        ReadRows(stream="0", during=1, faults=(PlannedFault(FaultKind.RESET, responses=1),))
