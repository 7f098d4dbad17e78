"""The published table of attacks: rows that were measured alone, among those of the last whole run."""

from __future__ import annotations

import dataclasses

from tests.hostile.attack import Attack, Expected, Part
from tests.hostile.measure import Measured
from tests.hostile.table import renewed, text


def measured(name: str) -> Measured:
    """A measurement that met every limit."""
    attack = Attack(name, f"{name} does something.", Part.COMMAND, lambda: None, Expected())
    return Measured(attack, 2, "status 2", seconds=1.0, beyond=0.0, peak=5 << 20, family_peak=0, orphans=())


def names(document: str) -> list[str]:
    """The names of the attacks, in the order of the page."""
    return [line.split("`")[1] for line in document.splitlines() if line.startswith("| `")]


WHOLE = text([measured(name) for name in ("disk.a", "disk.b", "grpc.a")])


def test_a_new_attack_stands_at_the_end_of_its_section() -> None:
    """It says that it was measured alone, and the first lines count it."""
    document = renewed(WHOLE, [measured("disk.c")])

    assert names(document) == ["disk.a", "disk.b", "disk.c", "grpc.a"]
    assert document.count(" alone |") == 1
    assert "**4 of 4 attacks** have the expected outcome" in document
    assert "were added or changed: 1; all others in one run." in document


def test_an_attack_of_a_new_kind_gets_a_section() -> None:
    """Behind all others."""
    document = renewed(WHOLE, [measured("small.a")])

    assert document.index("## grpc") < document.index("## small") < document.index("`small.a`")


def test_an_attack_that_missed_a_limit_is_not_counted_as_right() -> None:
    """Its row says so, in the place of the row before."""
    document = renewed(WHOLE, [dataclasses.replace(measured("disk.b"), wrong=("it went on",))])

    assert "**2 of 3 attacks**" in document
    assert document.count("`disk.b`") == 1
    assert "**missed** |" in document


def test_rows_can_be_renewed_again() -> None:
    """The same measurements leave the same page."""
    once = renewed(WHOLE, [measured("disk.c"), measured("small.a")])

    assert renewed(once, [measured("disk.c"), measured("small.a")]) == once
