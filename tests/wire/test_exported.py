"""The wire room's interface: what others may import, and that its example is true."""

from __future__ import annotations

import doctest

import conformance.wire


def test_exported_names() -> None:
    """The names that other rooms build on exist, sorted, and change only on purpose."""
    names = conformance.wire.__all__

    assert names == sorted(names)
    assert all(hasattr(conformance.wire, name) for name in names)


def test_example_of_the_package_is_true() -> None:
    """What the package's docstring shows is what happens."""
    results = doctest.testmod(conformance.wire)

    assert results.attempted > 0
    assert results.failed == 0
