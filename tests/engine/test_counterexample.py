"""Failing cases become small ones, which are saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conformance.engine.casestep import CaseWork
from conformance.engine.counterexample import Shrinker
from conformance.targets import TargetError
from tests.engine.samples import failing, sample_case


class Gone:
    """The step of a target that is there no more."""

    def take(self, work: CaseWork) -> CaseWork:
        """The case ends early."""
        work.error = TargetError("the server has gone")
        return work

    def verdicts(self, _work: CaseWork) -> list[Any]:
        """Nothing was judged."""
        return []


def test_a_target_that_goes_while_a_case_is_shrunk_ends_the_shrinking(tmp_path: Path) -> None:
    """A case that could not be tried has not passed: no case is saved as the smallest one that fails."""
    shrinker = Shrinker(Gone(), tmp_path)  # type: ignore[arg-type]  # all of a step that is asked for

    with pytest.raises(TargetError, match="the server has gone"):
        list(shrinker.pursue(sample_case("a"), [failing("a", "framing.x", "3 messages")]))

    assert list(tmp_path.iterdir()) == []
