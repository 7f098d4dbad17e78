"""Names that globs match."""

from __future__ import annotations

import fnmatch

from hypothesis import given
from hypothesis import strategies as st

from conformance._globs import matches

TEXTS = st.text("ab.*?[]!\n-", max_size=6)


@given(name=TEXTS, globs=st.lists(TEXTS, max_size=4))
def test_one_of_the_globs_matches(name: str, globs: list[str]) -> None:
    """The answer is that of the standard library, glob by glob."""
    assert matches(name, globs) is any(fnmatch.fnmatchcase(name, glob) for glob in globs)
