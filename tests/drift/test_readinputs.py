"""The inputs: valid bytes that are valid, broken ones that are broken, and always the same."""

from __future__ import annotations

import pytest

from conformance.drift.readinputs import (
    DriftInput,
    catalogue_inputs,
    hostile_inputs,
    mutated_inputs,
    reference_inputs,
    written_inputs,
)
from conformance.drift.recipes import draw_recipes
from conformance.reference.ipc.hostile import HOSTILE

RECIPES = list(draw_recipes(0, share=0.01))


@pytest.fixture(scope="module")
def sound() -> list[DriftInput]:
    """The reference's output for a few recipes of each class."""
    return list(reference_inputs(RECIPES))


def test_the_reference_breaks_no_rule(sound: list[DriftInput]) -> None:
    """Each recipe is there as a stream, in more than one form, and all of it conforms."""
    assert [one.id for one in sound if not one.valid] == []
    assert {one.id.split("/")[1] for one in sound} == {recipe.id for recipe in RECIPES}
    assert {one.container for one in sound} == {"stream", "file"}


def test_mutants_follow_from_their_number(sound: list[DriftInput]) -> None:
    """A mutant is the same whichever others are made, some break rules and some do not."""
    mutants = {one.id: one for one in mutated_inputs(0, sound, range(120))}

    assert list(mutated_inputs(0, sound, [17])) == [mutants["mutant.00017"]]
    assert {one.valid for one in mutants.values()} == {True, False}
    assert {one.kind for one in mutants.values()} == {"mutants of streams", "mutants of files"}


def test_no_bases_give_no_mutants() -> None:
    """Without anything sound there is nothing to break."""
    assert list(mutated_inputs(0, [], range(10))) == []


def test_the_catalogue_is_what_it_says() -> None:
    """Legal variations break no rule, ambiguous input may be refused, and no id occurs twice."""
    found = list(catalogue_inputs())

    assert [one.id for one in found if one.id.startswith("legal/") and not one.valid] == []
    assert [one.id for one in found if one.id.startswith("lie/") and one.valid and not one.refusable] == []
    assert {one.kind for one in found} == {"legal variations", "lies of the catalogue"}
    assert {one.id.partition("/")[0] for one in found} == {"legal", "lie"}
    assert len({one.id for one in found}) == len(found)
    assert any(one.refusable for one in found)


def test_what_is_hostile_may_be_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hostile bytes are judged as any others, and no reader owes them rows."""
    chosen = {name: HOSTILE[name] for name in list(HOSTILE)[::200]}
    monkeypatch.setattr("conformance.drift.readinputs.HOSTILE", chosen)

    found = list(hostile_inputs())

    assert [one.id for one in found] == [f"hostile/{name}" for name, one in chosen.items() if one.kind != "tensor"]
    assert all(one.refusable for one in found)


def test_bytes_that_two_versions_write_are_read_once(sound: list[DriftInput]) -> None:
    """The first version gives its name to the input; the same bytes as another container are another input."""
    data = sound[0].data

    found = written_inputs(
        [("1.0", "a/stream", "stream", data), ("2.0", "a/stream", "stream", data), ("2.0", "a/file", "file", data)]
    )

    assert [one.id for one in found] == ["a/stream@1.0", "a/file@2.0"]
    assert [one.valid for one in found] == [True, False]
