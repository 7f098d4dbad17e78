"""Checks that what happens while a read is held open may happen then."""

from __future__ import annotations

from conformance.records import AppendRows, Case, ChangeColumns, Meanwhile, ReadResult, ReadRows, RecordError

__all__ = ["check_held_reads"]


def check_held_reads(case: Case) -> None:
    """Refuse a held read of several streams or calls, and steps in its pause that end it or its session.

    Raises:
        RecordError: one sentence with the place.
    """
    end = 0
    for index, step in enumerate(case.steps):
        path = f"Case.steps[{index}]"
        if isinstance(step, ReadRows | ReadResult) and step.during:
            if index < end:
                raise RecordError(f"{path}.during", "no held read in the pause of another", step.during)
            end = index + 1 + step.during
            if not 0 < step.during < len(case.steps) - index:
                raise RecordError(f"{path}.during", "a number of steps that follow", step.during)
            if isinstance(step, ReadRows) and _is_several(step):
                raise RecordError(f"{path}.during", "none but in one call on one named stream", step.during)
            follow = [case.steps[index + 1], *case.steps[end : end + 1]]
            if any(isinstance(one, ReadRows) and one.alongside for one in follow):
                raise RecordError(f"{path}.during", "no read alongside at the ends of the pause", step.during)
        elif index < end:
            if isinstance(step, Meanwhile):
                raise RecordError(path, "nothing that happens to the server while a read is held open", step.TAG)
            if isinstance(step, AppendRows | ChangeColumns) and step.again:
                raise RecordError(f"{path}.again", "no table made again while a read is held open", step.again)


def _is_several(step: ReadRows) -> bool:
    """True if a step may make several calls, or lets another party make them."""
    return step.stream == "*" or step.times != 1 or step.together or step.alongside or step.handed
