"""The interface of the package: the names that others may import, and its example."""

from __future__ import annotations

import doctest

import conformance.formats.avro


def test_exported_names() -> None:
    """The names that other packages use exist, sorted, and change only on purpose."""
    names = conformance.formats.avro.__all__

    assert names == sorted(names)
    assert all(hasattr(conformance.formats.avro, name) for name in names)


def test_example_of_the_package_is_true() -> None:
    """The example in the package's docstring runs."""
    results = doctest.testmod(conformance.formats.avro)

    assert results.attempted > 0
    assert results.failed == 0
