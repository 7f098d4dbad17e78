"""The heat map shows the gravest result of a client, and its picture the same."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest

from publish.site.consequences import KINDS, Mapped, picture


def mapped(*rows: dict[str, str]) -> Mapped:
    """A matrix of two clients, one of which has two paths; each row gives the class of some paths."""
    names = ("x-go.a", "x-go.b", "x-java.a")
    return Mapped(
        "index",
        "Effects on clients",
        {
            "clients": [{"name": name, "package": "p", "version": "1", "title": name} for name in names],
            "situations": [
                {"id": f"fault.{at}", "group": "body", "cells": {name: {"class": kind} for name, kind in row.items()}}
                for at, row in enumerate(rows)
            ],
        },
    )


@pytest.mark.parametrize(
    ("classes", "words"),
    [
        (("unharmed", "crash"), "crash"),
        (("refused", "silent loss"), "silent loss"),
        (("hang", "wrong values"), "wrong values"),
        (("refused", "unharmed"), "error"),
        (("not asked", "unharmed"), "fine"),
        (("not asked", "not asked"), "not asked"),
    ],
)
def test_a_client_is_as_bad_as_its_worst_path(classes: tuple[str, str], words: str) -> None:
    """Whichever path it is."""
    for first, second in (classes, classes[::-1]):
        made = mapped({"x-go.a": first, "x-go.b": second})
        go, java = made.clients
        (_, (row,)), *_ = made.groups

        assert made.worst(row, go).words == words
        assert made.worst(row, java).words == "not measured"


def test_rounds_that_differ_count_as_the_worse() -> None:
    """A cell may have two classes."""
    made = mapped({})
    row: dict[str, Any] = {"cells": {"x-java.a": {"classes": ["unharmed", "hang"]}}}

    assert made.of(row, "x-java.a").words == "hang"


def test_a_bar_has_the_gravest_first() -> None:
    """Faults of which a client was not asked are no part of it; the client that is harmed more often comes first."""
    made = mapped({"x-go.a": "unharmed", "x-java.a": "crash"}, {"x-go.a": "refused", "x-java.a": "not asked"})
    go, java = made.clients

    assert [(kind.words, count) for kind, count in made.shares(go)] == [("error", 1), ("fine", 1)]
    assert [(kind.words, count) for kind, count in made.shares(java)] == [("crash", 1)]
    assert made.gravest_first() == [java, go]


def test_the_picture_joins_cells_of_one_colour() -> None:
    """A rectangle for each run of a colour, in the row of its client."""
    made = mapped({"x-go.a": "refused"}, {"x-go.a": "refused"}, {"x-go.a": "crash"}, {"x-go.a": "not asked"})
    drawn = picture(made)

    assert [client.name for client in drawn["clients"]] == ["x-go", "x-java"]
    assert drawn["drawn"] == {
        "error": "M0 0h8v16h-8z",
        "crash": "M8 0h4v16h-4z",
        "na": "M12 0h4v16h-4zM0 18h16v16h-16z",
    }
    assert (drawn["width"], drawn["height"]) == (16, 34)
    assert drawn["names"] == [("body", 0.0, False)]


def test_the_names_of_chapters_have_room() -> None:
    """A chapter of one fault is as far from the next one as a name is high; a narrow screen shows fewer names."""
    made = mapped(*({"x-go.a": "refused"} for _ in range(60)))
    for at, row in enumerate(made.report["situations"]):
        row["group"] = f"chapter-{min(at, 20):02}"
    names = picture(made)["names"]
    places = [place for _, place, _ in names]

    assert len(names) == 21
    assert min(late - early for early, late in itertools.pairwise(places)) > 1
    assert 5 < sum(not close for _, _, close in names) < 21


def test_every_class_has_a_sign_and_a_colour() -> None:
    """Nobody needs to see colours; only what was not asked is blank."""
    signs = [kind.sign for kind in KINDS.values()]

    assert len(set(signs)) == len(signs)
    assert [kind.words for kind in KINDS.values() if not kind.sign] == ["not asked"]
    assert all(re.fullmatch("[a-z]+", kind.key) for kind in KINDS.values())
