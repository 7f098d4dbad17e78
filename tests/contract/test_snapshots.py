"""People read findings and act on them: a change of one is a change that is seen."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.contract.snapshots import PARTS, found, path_of


@pytest.mark.timeout(900)  # every mutant of Flight over every case is minutes of work
@pytest.mark.skipif(pa.__version__ != "26.0.1", reason="the snapshot holds words and bytes of pyarrow 26.0.1")
@pytest.mark.parametrize("part", PARTS)
def test_findings_have_the_same_places_and_words(part: str) -> None:
    """Clause, call, field, bytes, requirement and observation; `python -m tests.contract` keeps what is meant."""
    assert found(part) == path_of(part).read_text(encoding="utf-8")
