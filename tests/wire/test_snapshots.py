"""Users read places and words: a change of either is a change that is seen, and is kept with `python -m tests.wire`."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.wire.snapshots import DISSECTED, REPORTED, dissected, reported

# The bytes that pyarrow writes and compresses differ between its versions; these were written by this one.
by_this_pyarrow = pytest.mark.skipif(pa.__version__ != "26.0.1", reason="the snapshots hold bytes of pyarrow 26.0.1")


@by_this_pyarrow
def test_faults_have_the_same_places_and_words() -> None:
    """Rule, path, first and last byte, requirement and observation of every fault of broken bytes."""
    assert reported() == REPORTED.read_text(encoding="utf-8")


@by_this_pyarrow
def test_dumps_show_the_same_parts_and_values() -> None:
    """Every structure of a file and of tensors, and the first values of the buffers of every type."""
    assert dissected() == DISSECTED.read_text(encoding="utf-8")
