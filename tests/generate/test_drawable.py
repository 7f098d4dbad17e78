"""Every case can be drawn, whatever its seed and index."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pytest

from conformance.contract.offers import TYPES
from conformance.generate import draw_case, draw_scenario
from conformance.generate.drawing import profiles
from conformance.generate.families import draw_guided, draw_member, weights_text
from conformance.generate.forms import drawn_in, forms_of
from conformance.protocol import DEFAULT_PROTOCOL
from conformance.records import BqType, Case

Draw = Callable[[int, int], Case]

_WEIGHTS = weights_text({BqType.RANGE: 3, BqType.STRING: 0})


def guided(seed: int, index: int, *, profile: str) -> Case:
    """A case of the guided part of a campaign."""
    return draw_guided(seed, index, profile=profile, family=8, weights=_WEIGHTS)


def in_its_form(seed: int, index: int, *, draw: Draw, form: str) -> Case:
    """A drawn case in another data format."""
    return drawn_in(form, lambda: draw(seed, index))


PLAIN: dict[str, Draw] = {
    **{f"case-{profile}": functools.partial(draw_case, profile=profile) for profile in profiles()},
    **{f"member-{profile}": functools.partial(draw_member, profile=profile, family=8) for profile in profiles()},
    **{f"guided-{profile}": functools.partial(guided, profile=profile) for profile in profiles()},
    **{f"scenario-{profile}": functools.partial(draw_scenario, profile=profile) for profile in ("server", "flight")},
}

_NARROW = tuple(sorted(TYPES - {"STRING"}))
KINDS: dict[str, Draw] = {
    **PLAIN,
    **{
        f"{name}@{form}": functools.partial(in_its_form, draw=PLAIN[name], form=form)
        for name in ("case-server", "scenario-server")
        for form in forms_of(DEFAULT_PROTOCOL)
    },
    "case-server-of-one-type": functools.partial(draw_case, profile="server", not_offered=_NARROW),
    "scenario-server-of-one-type": functools.partial(draw_scenario, not_offered=_NARROW),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_sample_of_each_kind_can_be_drawn(kind: str) -> None:
    """Seeds and indices far apart."""
    for number in range(100):
        assert KINDS[kind](number % 7, number * 1009).id


@pytest.mark.slow(env="drawn")
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", [0, 2026])
@pytest.mark.parametrize("kind", KINDS)
def test_every_case_can_be_drawn(kind: str, seed: int) -> None:
    """50,000 of each of two seeds."""
    for index in range(50_000):
        assert KINDS[kind](seed, index).id
