"""People read findings and act on them: a change of one is a change that is seen."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.contract.snapshots import PARTS, PYARROW, found, path_of

ELSEWHERE = {"flight"}
"""``tests/reference/flight/test_mutants.py`` compares these with each mutant, which it judges anyway."""


@pytest.mark.skipif(pa.__version__ != PYARROW, reason=f"the snapshot holds words and bytes of pyarrow {PYARROW}")
@pytest.mark.parametrize("part", sorted(PARTS.keys() - ELSEWHERE))
def test_findings_have_the_same_places_and_words(part: str) -> None:
    """Clause, call, field, bytes, requirement and observation; `python -m tests.contract` keeps what is meant."""
    assert found(part) == path_of(part).read_text(encoding="utf-8")
