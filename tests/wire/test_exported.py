"""The interface of the wire package: the names that others may import, and its example."""

from __future__ import annotations

import dataclasses
import doctest
import importlib
import pkgutil
from collections.abc import Iterator

import conformance.wire


def test_exported_names() -> None:
    """The names that other packages use exist, sorted, and change only on purpose."""
    names = conformance.wire.__all__

    assert names == sorted(names)
    assert all(hasattr(conformance.wire, name) for name in names)


def test_example_of_the_package_is_true() -> None:
    """The example in the package's docstring runs."""
    results = doctest.testmod(conformance.wire)

    assert results.attempted > 0
    assert results.failed == 0


def _dataclasses() -> Iterator[type]:
    for module in pkgutil.walk_packages(conformance.wire.__path__, f"{conformance.wire.__name__}."):
        for found in vars(importlib.import_module(module.name)).values():
            if isinstance(found, type) and dataclasses.is_dataclass(found) and found.__module__ == module.name:
                yield found


def test_results_are_immutable_except_while_they_are_read() -> None:
    """Objects that are filled during a reading are equal to nothing else; all others cannot be changed."""
    filled = {found for found in _dataclasses() if not found.__dataclass_params__.frozen}  # type: ignore[attr-defined]

    assert {found.__name__ for found in filled} == {
        *("BatchMessage", "FileReading", "StreamReading", "TensorReading", "FlatTable", "Op", "_Decoder", "_Generation")
    }
    assert all(found.__eq__ is object.__eq__ for found in filled)


def test_values_are_compared_and_messages_are_not() -> None:
    """Two immutable objects with equal fields are equal, except for those that contain what was filled."""
    by_identity = {found.__name__ for found in _dataclasses() if found.__eq__ is object.__eq__}

    assert by_identity >= {"DictionaryMessage", "LayoutPlan"}
    assert by_identity.isdisjoint(
        {"Fault", "Message", "Region", "DissectedSection", "Schema", "Field", "Type", "Dictionary"}
    )
