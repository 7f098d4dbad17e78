"""Refused words are found in prose and only there; ``tests/docs/words.py`` lists them."""

from __future__ import annotations

import pytest

from tests.docs import words


def _found(text: str) -> list[tuple[int, str]]:
    return [(use.line, use.found) for use in words.uses(text)]


def test_a_word_is_found_with_its_line() -> None:
    """Lines are counted from 1, and letters may be capitals."""
    assert _found("A server may fail.\nLiars are refused.") == [(2, "Liars")]


def test_a_phrase_may_run_over_a_line() -> None:
    """Prose is wrapped, so a blank of a pattern matches the end of a line."""
    assert _found("This was worked\nout in a sandbox.") == [(1, "worked out")]


def test_a_part_of_a_word_is_not_a_use() -> None:
    """``label`` holds ``lab`` and is a word of its own."""
    assert _found("A label says what the table believes.") == []


@pytest.mark.parametrize("phrase", ["a stand-in for gRPC", "`$name` stands for a parameter", "direction marks"])
def test_an_allowed_phrase_stays(phrase: str) -> None:
    """A word may stay where the field uses it in another sense."""
    assert _found(phrase) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("What fails is reported.", [(1, "What fails is reported.")]),
        ("First.\n\nWhat fails\nis reported.", [(3, "What fails is reported.")]),
        ("Calls end. What fails in 1.4.0 is a call.", [(1, "What fails in 1.4.0 is a call.")]),
        ("What does the clause require?", []),
        ("## What a failure looks like\n\nThe run prints one line.", []),
        ("The report says what failed.", []),
    ],
)
def test_a_sentence_begins_with_a_noun(text: str, found: list[tuple[int, str]]) -> None:
    """``What ...`` is no subject; questions and headings may begin with it."""
    assert _found(text) == found


def test_a_page_is_read_without_its_code() -> None:
    """Fenced blocks, text in backticks, comments and addresses are no prose; lines keep their numbers."""
    page = "```sh\nlies\n```\n`liar.null` <!-- lies --> [text](docs/liar.md) https://example.org/lies\nIt lies.\n"

    assert _found(words.markdown(page)) == [(5, "lies")]


def test_a_module_is_read_for_docstrings_comments_and_help() -> None:
    """Other literals are data: texts of findings, ids and patterns."""
    module = '''\
"""A module that lies."""
import click

LIE = "lies"
"""It lies."""  # nobody is told


@click.option("--lie", help="lies")
def lies():
    """It ``lies``

    >>> lies
    """
'''

    assert sorted(_found(words.python(module))) == [
        (1, "lies"), (5, "lies"), (5, "told"), (8, "lies"),
    ]  # fmt: skip


def test_a_configuration_is_read_for_comments_and_descriptions() -> None:
    """Keys and values are data."""
    text = "# it lies\nlies = 'lies'  # told\ndescription = beside it\n"

    assert sorted(_found(words.config(text))) == [(1, "lies"), (2, "told"), (3, "beside")]


def test_every_word_says_what_to_write() -> None:
    """A refusal without a proposal would only annoy."""
    assert [word.pattern for word in words.WORDS if not word.instead] == []
