"""Pairwise covering arrays."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.generate.covering import Combination, coverage, covering, extended

FACTORS = {"type": tuple(range(12)), "codec": ("", "lz4", "zstd"), "legacy": (False, True), "rows": (0, 1, 9, 64)}

factors = st.dictionaries(
    st.text("abcdef", min_size=1, max_size=2),
    st.lists(st.integers(0, 9), min_size=1, max_size=5, unique=True),
    max_size=5,
)


@given(factors)
def test_every_pair_stands_in_a_row(drawn: dict[str, list[int]]) -> None:
    """No pair of values is missing, whatever the factors."""
    assert coverage(covering(drawn), drawn).missing == ()


def test_rows_are_few() -> None:
    """The array is not much longer than the product of the two longest factors, which is the least there can be."""
    assert 48 <= len(covering(FACTORS)) <= 60


def test_what_is_not_permitted_stands_nowhere() -> None:
    """A pair that the space excludes is in no row, and is not counted as missing."""

    def permitted(pair: Combination) -> bool:
        return dict(pair) != {"codec": "zstd", "legacy": True}

    rows = covering(FACTORS, permitted)

    assert not any(row["codec"] == "zstd" and row["legacy"] for row in rows)
    assert coverage(rows, FACTORS, permitted).missing == ()


def test_a_pair_that_no_row_can_hold_is_named() -> None:
    """A pair which every value of a third factor excludes is left out and reported as missing."""

    def permitted(pair: Combination) -> bool:
        return pair not in ((("a", 1), ("c", 1)), (("b", 1), ("c", 2)))

    space = {"a": (1, 2), "b": (1, 2), "c": (1, 2)}
    rows = covering(space, permitted)

    assert coverage(rows, space, permitted).missing == ((("a", 1), ("b", 1)),)


def test_a_space_without_a_permitted_pair_has_no_rows() -> None:
    """If no pair is permitted, there is nothing to try, and nothing is missing."""
    space = {"a": (1, 2), "b": (1, 2)}

    assert covering(space, lambda _pair: False) == []
    assert coverage([], space, lambda _pair: False).possible == 0


def test_one_factor_has_a_row_for_each_value() -> None:
    """A space of one factor has no pairs; each of its values gets a row."""
    assert covering({"codec": ("", "lz4")}) == [{"codec": ""}, {"codec": "lz4"}]


def test_rows_are_always_the_same() -> None:
    """The same space gives the same rows in the same order."""
    assert covering(FACTORS) == covering(FACTORS)


def test_a_factor_without_values_is_refused() -> None:
    """An empty factor is a mistake of the caller's, and named."""
    with pytest.raises(ValueError, match="factor 'codec', got none"):
        covering({"codec": ()})


THREES = {"type", "codec", "legacy"}


def test_every_triple_of_the_named_factors_stands_in_a_row() -> None:
    """Counted without the module's own code: each of the triples, and each pair, is in a row."""
    rows = covering(FACTORS, threes=THREES)

    triples = {(row["type"], row["codec"], row["legacy"]) for row in rows}
    assert triples == {*itertools.product(FACTORS["type"], FACTORS["codec"], FACTORS["legacy"])}
    for one, other in itertools.combinations(FACTORS, 2):
        assert {(row[one], row[other]) for row in rows} == {*itertools.product(FACTORS[one], FACTORS[other])}
    assert len(rows) <= 100


def test_rows_that_come_first_are_not_covered_again() -> None:
    """They stand first, everything is covered, and it takes no row for what they hold."""
    first = [
        {"type": kind, "codec": "", "legacy": legacy, "rows": 0}
        for kind, legacy in itertools.product(FACTORS["type"], FACTORS["legacy"])
    ]

    rows = covering(FACTORS, threes=THREES, first=first)

    assert rows[: len(first)] == first
    assert coverage(rows, FACTORS, threes=THREES).missing == ()
    assert all(row["codec"] or row["rows"] for row in rows[len(first) :])


def test_rows_are_extended_by_further_factors() -> None:
    """Every row that is known keeps its values and gets more, and every pair with a further factor occurs."""
    known = covering({"codec": FACTORS["codec"], "legacy": FACTORS["legacy"]})
    factors = {"codec": FACTORS["codec"], "legacy": FACTORS["legacy"], "way": tuple(range(9)), "mapped": (False, True)}

    rows = extended(known, factors)

    assert [{name: row[name] for name in ("codec", "legacy")} for row in rows[: len(known)]] == known
    assert coverage(rows, factors).missing == ()
    assert {(row["codec"], row["legacy"]) for row in rows} == {(row["codec"], row["legacy"]) for row in known}


def test_an_extension_holds_what_is_permitted() -> None:
    """A value that a known row forbids is given to another row."""
    known = covering({"codec": ("", "lz4"), "kind": ("file", "stream")})
    factors = {"codec": ("", "lz4"), "kind": ("file", "stream"), "way": ("", "scan")}

    def permitted(combination: Combination) -> bool:
        return not {("kind", "stream"), ("way", "scan")} <= {*combination}

    rows = extended(known, factors, permitted)

    assert coverage(rows, factors, permitted).missing == ()
    assert all(permitted(tuple(row.items())) for row in rows)
