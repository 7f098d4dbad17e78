"""Foreign text becomes one safe line, whatever it is."""

from __future__ import annotations

import dataclasses
import json
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.contain.text import escaped, keep_safe, quoted, safe, safe_lines, safe_values, told_apart

ANY_TEXT = st.text(st.characters(exclude_categories=()))
"""Surrogates included."""


@pytest.mark.parametrize("text", ["", "plain", "Grüße, 世界 🙂", "a::b", "#1 ## [x]", r"C:\dir", "e\u0301"])
def test_harmless_text_is_unchanged(text: str) -> None:
    """Text without anything dangerous comes back as it is."""
    assert safe(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\nb\r\tc", r"a\nb\r\tc"),
        ("\x1b[2J", r"\x1b[2J"),
        ("\x9b2J", r"\x9b2J"),
        ("\ud800", r"\ud800"),
        ("\u202eabc\u2069", r"\u202eabc\u2069"),
        ("\u2028", r"\u2028"),
        ("\ufffe", r"\ufffe"),
        ("\U000e0041", r"\U000e0041"),
        ("::error::x", r"\x3a:error::x"),
        ("  ::error::x", r"  \x3a:error::x"),
        ("a ##vso[task.x]", r"a \x23#vso[task.x]"),
        ("##[error]x", r"\x23#[error]x"),
        ("##teamcity[x]", r"\x23#teamcity[x]"),
    ],
)
def test_dangerous_text_is_escaped(text: str, expected: str) -> None:
    """Each dangerous character becomes a visible escape, each command is broken up."""
    assert safe(text) == expected


@given(ANY_TEXT)
def test_the_result_is_one_line_of_utf8_and_xml(text: str) -> None:
    """Whatever the text is, the result has one line, a UTF-8 form and a place in XML."""
    made = safe(text)

    assert len(made.splitlines()) <= 1
    assert made.encode().decode() == made
    element = ET.Element("e", a=made)
    element.text = made
    assert ET.fromstring(ET.tostring(element)).text == (made or None)


@given(ANY_TEXT, st.integers(0, 30))
def test_a_result_is_safe(text: str, limit: int) -> None:
    """Making a result safe changes nothing, cut or not."""
    assert safe(safe(text)) == safe(text)
    assert safe(safe(text, limit), limit) == safe(text, limit)


@given(ANY_TEXT, st.integers(0, 30))
def test_a_result_is_no_longer_than_its_limit(text: str, limit: int) -> None:
    """Escapes count, and the sentence about a cut has at most 40 characters."""
    assert len(safe(text, limit)) <= limit + 40


def test_long_text_is_cut() -> None:
    """A text of any length costs a record no more than the limit."""
    assert safe("x" * 5_000_000, limit=10) == "xxxxxxxxxx… (4999990 more characters)"


@given(ANY_TEXT)
def test_a_block_keeps_its_lines(text: str) -> None:
    """A block has as many lines as before, each of them safe."""
    made = safe_lines(text)

    assert made.split("\n") == [safe(line) for line in text.split("\n")]


def test_a_long_block_keeps_its_end() -> None:
    """A traceback ends with what matters."""
    assert safe_lines("a\nb\nc", lines=2) == "(1 lines before)\nb\nc"


def test_values_are_safe_at_every_depth() -> None:
    """A JSON value keeps its shape; blocks keep their lines."""
    value = {"a": ["\x00", {"b": "c\nd"}], "block": ["e\nf\x1b"], "n": 1, "none": None}

    assert safe_values(value, blocks=("block",)) == {
        "a": [r"\x00", {"b": r"c\nd"}],
        "block": ["e\nf\\x1b"],
        "n": 1,
        "none": None,
    }


def test_a_record_keeps_itself_safe() -> None:
    """Texts and lists of texts are made safe however the record is made; others are left alone."""

    @dataclasses.dataclass(frozen=True, slots=True)
    class Record:
        text: str
        texts: tuple[str, ...] = ()
        left: str = ""

        def __post_init__(self) -> None:
            keep_safe(self, "text", "texts", limit=5)

    made = dataclasses.replace(Record("", ("\x07", "c"), left="\n"), text="123456")

    assert (made.text, made.texts, made.left) == ("12345… (1 more characters)", (r"\x07", "c"), "\n")


def test_the_one_character_that_json_leaves_is_escaped() -> None:
    """TOML forbids DEL inside a string."""
    assert quoted("a\x7f") == '"a\\u007f"'


@given(st.text())
def test_json_that_is_printed_says_the_same(text: str) -> None:
    """No character in it is one that must not be printed, and its values are the same."""
    written = escaped(json.dumps([text, {text: "##[error]"}], ensure_ascii=False))

    assert json.loads(written) == [text, {text: "##[error]"}]
    assert safe(written, len(written)) == written


@given(st.text(alphabet="ab", max_size=40), st.text(alphabet="ab", max_size=40), st.integers(4, 30))
def test_two_different_texts_are_never_shown_as_one(one: str, other: str, limit: int) -> None:
    """Wherever they differ, and however much is cut."""
    shown, beside = told_apart(one, other, limit)

    assert (shown == beside) == (one == other)


def test_a_cut_that_hides_the_difference_says_where_it_is() -> None:
    """Both texts have their length, and what stands from the first difference on."""
    assert told_apart("x" * 50, "x" * 40, limit=10) == (
        "xxxxxxxxx… (50 characters, from 40 on: xxxxxxxxxx)",
        "xxxxxxxxx… (40 characters, from 40 on: nothing)",
    )
