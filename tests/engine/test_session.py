"""A session says what it judges, by one name."""

from __future__ import annotations

import pytest

from conformance.engine.session import _called


@pytest.mark.parametrize(
    ("name", "version", "called"),
    [
        ("pyarrow", "26.0.1", "pyarrow 26.0.1"),
        ("bqemulator-1.4.0", "1.4.0", "bqemulator-1.4.0"),
        ("mine", "", "mine"),
    ],
)
def test_a_target_is_called_by_name_and_version_once(name: str, version: str, called: str) -> None:
    """A target file that has the version in its name does not say it twice."""
    assert _called(name, version) == called
