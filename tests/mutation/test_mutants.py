"""A mutant is found again by its lines, and each module gets its share of the sample."""

from __future__ import annotations

import pytest

from tests.mutation.mutants import Mutant, difference, shares

SOURCE = "a = 1\nif a:\n    b = 2\nb = 2\n"


def test_a_change_is_the_lines_that_differ() -> None:
    """Lines before and after stay out of it."""
    mutant = difference("x.py", SOURCE, SOURCE.replace("if a:", "if not a:"), "AddNot")

    assert (mutant.line, mutant.old, mutant.new) == (2, ("if a:",), ("if not a:",))


def test_a_removed_line_takes_the_next_one_along() -> None:
    """Without any new line there would be nothing to show."""
    mutant = difference("x.py", "@cache\ndef f(): ...\n", "def f(): ...\n", "RemoveDecorator")

    assert (mutant.old, mutant.new) == (("@cache", "def f(): ..."), ("def f(): ...",))


@pytest.mark.parametrize(
    "changed", [SOURCE.replace("a = 1", "a = 2"), SOURCE + "c = 3\n", SOURCE.replace("b = 2\n", "", 1)]
)
def test_a_change_makes_the_mutated_source_again(changed: str) -> None:
    """Nothing is lost between the source and its mutant."""
    assert difference("x.py", SOURCE, changed, "x").applied(SOURCE) == changed


def test_the_nearest_of_equal_lines_is_changed() -> None:
    """A file may contain a line twice; code above may have moved both."""
    mutant = Mutant("x.py", 6, "NumberReplacer", ("b = 2",), ("b = 3",))

    assert mutant.applied("b = 2\n\n\nb = 2\n") == "b = 2\n\n\nb = 3\n"


def test_a_mutant_of_code_that_is_gone_cannot_be_made() -> None:
    """It is no survivor and no kill."""
    assert Mutant("x.py", 1, "x", ("gone",), ("new",)).applied(SOURCE) is None


@pytest.mark.parametrize(
    ("counts", "total", "expected"),
    [
        ({"a": 90, "b": 10}, 10, {"a": 9, "b": 1}),
        ({"a": 99, "b": 1, "c": 0}, 10, {"a": 9, "b": 1}),
        ({"a": 2, "b": 3}, 100, {"a": 2, "b": 3}),
        ({"a": 10, "b": 10, "c": 10}, 4, {"a": 2, "b": 1, "c": 1}),
    ],
)
def test_shares_are_in_proportion_and_none_is_left_out(
    counts: dict[str, int], total: int, expected: dict[str, int]
) -> None:
    """A module with any place to change has at least one mutant, and none has more than places."""
    assert shares(counts, total) == expected
