"""Results that are kept by the identity of their argument, up to a number of them."""

from __future__ import annotations

import pytest

from conformance.contract import remembered
from conformance.contract.remembered import once_per_object


def test_an_object_is_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal objects are asked for one by one; when as many are known as may be, all of them are forgotten."""
    monkeypatch.setattr(remembered, "MAX_REMEMBERED", 2)
    asked: list[list[int]] = []

    @once_per_object
    def size(thing: list[int]) -> int:
        """How many."""
        asked.append(thing)
        return len(thing)

    one, equal, third = [1], [1], [1, 2]

    assert [size(thing) for thing in (one, equal, one, equal)] == [1, 1, 1, 1]
    assert [id(thing) for thing in asked] == [id(one), id(equal)]
    assert [size(thing) for thing in (third, third, one, third, equal)] == [2, 2, 1, 2, 1]
    assert [id(thing) for thing in asked[2:]] == [id(third), id(one), id(equal)]
    assert (size.__name__, size.__doc__) == ("size", "How many.")
