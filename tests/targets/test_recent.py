"""Values that are kept for the next cases that have the same table."""

from __future__ import annotations

from conformance.targets.recent import MOST, Recent


def test_a_value_is_made_once_while_it_is_in_use() -> None:
    """Each use makes a value the most recent one, so that another key loses its own."""
    made: list[int] = []

    def value_of(key: int) -> str:
        made.append(key)
        return f"value {key}"

    recent: Recent[str] = Recent()
    for key in (0, *range(1, MOST), 0, MOST, 0, 1):
        assert recent.get(key, lambda key=key: value_of(key)) == f"value {key}"  # type: ignore[misc]

    assert made == [*range(MOST), MOST, 1]
