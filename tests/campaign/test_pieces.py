"""The benchmark of pieces of speed can take each of them away, and the verdicts stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.pieces import PIECES, without
from conformance.campaign.phases import Stepper
from conformance.targets import open_target
from tests.campaign.jobs import job
from tests.campaign.test_phases import reported


@pytest.mark.parametrize("piece", PIECES)
def test_without_a_piece_of_speed_all_verdicts_are_the_same(tmp_path: Path, piece: str) -> None:
    """Speed is all that it is for."""
    one = job(tmp_path, family=8)

    def rows() -> list[tuple[object, ...]]:
        stepper = Stepper(one, target, weights=None, mark=lambda index, what: None)
        return [reported(done) for done in stepper.steps(range(16), ended={})]

    with open_target(one.spec, alone=True) as target:
        before = rows()
        with without(piece):
            assert rows() == before
        assert rows() == before
