"""Foreign JSON is parsed under bounds, or refused in one sentence."""

from __future__ import annotations

import json
import random
import tracemalloc

import pytest

from conformance.contain import parse
from conformance.contain.parse import (
    ForeignJsonError,
    nests_deeper,
    parse_json,
    parse_object,
    parse_strictly,
    parse_toml,
)


def test_a_value_is_parsed() -> None:
    """JSON within the bounds is what the standard library makes of it."""
    assert parse_json(b'{"a": [1, "x,[{", null]}') == {"a": [1, "x,[{", None]}


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"<html>", b"1" * 5000, b"[" * 200])
def test_what_is_no_json_is_refused(data: bytes) -> None:
    """Every way of not being JSON is one error."""
    with pytest.raises(ForeignJsonError, match="expected JSON"):
        parse_json(data)


def test_deep_json_is_refused() -> None:
    """A hundred thousand levels are refused before anything is made of them."""
    with pytest.raises(ForeignJsonError, match="expected JSON of at most 256 levels but got more"):
        parse_json(b"[" * 100_000 + b"]" * 100_000)


def test_depth_is_told_without_parsing() -> None:
    """As many levels as permitted are not too many, and brackets in a text are none."""
    assert [nests_deeper(b"[" * levels + b"]" * levels, 20) for levels in (20, 21)] == [False, True]
    assert not nests_deeper(b'["' + b"[" * 50 + b'"]', 20)


def test_many_values_are_refused() -> None:
    """The number of values is bounded, nested ones included."""
    with pytest.raises(ForeignJsonError, match="expected JSON of at most 10 values but got more"):
        parse_json(b"[[1,2,3,4,5],[1,2,3,4,5],[1]]", values=10)


def test_values_without_commas_are_counted() -> None:
    """Containers in containers have no commas, and cost the most memory."""
    with pytest.raises(ForeignJsonError, match="expected JSON of at most 1000 values but got more"):
        parse_json(b"[" + b",".join([b"[[[[[]]]]]"] * 250) + b"]", values=1000)


def test_a_long_string_is_walked_in_little_memory() -> None:
    """The search for brackets needs no memory for each byte of a string."""
    document = b'["' + b"a" * (2 << 20) + b'", [[]]]'
    tracemalloc.start()
    try:
        with pytest.raises(ForeignJsonError):
            parse_json(document, depth=2)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak < 2 * len(document)


def test_many_short_strings_are_counted_in_little_memory() -> None:
    """They are refused before anything is made of the rest."""
    document = b"[" + b",".join([b'""'] * 300_000) + b"]"
    tracemalloc.start()
    try:
        with pytest.raises(ForeignJsonError, match="expected JSON of at most 1000 values but got more"):
            parse_json(document, values=1000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak < len(document) // 4


def test_brackets_and_commas_in_strings_do_not_count() -> None:
    """A text may hold anything, escaped quotes included."""
    assert parse_json(b'["' + b'[,\\"' * 1000 + b'"]', depth=2, values=2) == ['[,"' * 1000]


def test_numbers_can_be_read_otherwise() -> None:
    """A text of a number may be made something else of, or be refused."""

    def kept(text: str) -> str:
        if "e" in text:
            raise ValueError
        return text

    assert parse_json(b"[1, -2.50]", numbers=kept) == ["1", "-2.50"]
    with pytest.raises(ForeignJsonError, match="expected JSON but got"):
        parse_json(b"[1e9]", numbers=kept)


def test_an_object_is_expected() -> None:
    """A list is no object."""
    with pytest.raises(ForeignJsonError, match=r"expected a JSON object but got b'\[1\]'"):
        parse_object(b"[1]")


TOKENS = (b"[", b"]", b"{", b"}", b",", b":", b'"a[,"', b'"', b"\\", b"1", b'"x"')


def test_what_is_not_walked_keeps_the_bounds() -> None:
    """A document that is taken without a walk would have been taken after one, or is no JSON."""
    drawn = random.Random(0)  # no secret
    plain = 0
    for _ in range(20_000):
        data = b"".join(drawn.choices(TOKENS, k=drawn.randrange(14)))
        if not parse._is_plain(data, depth=4, values=6):
            continue
        plain += 1
        try:
            parse._check(data, depth=4, values=6)
        except ForeignJsonError:
            with pytest.raises(ValueError, match=r"."):
                json.loads(data)

    assert plain > 1000


def test_a_listing_is_not_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand rows are flat; nothing looks at each of their brackets."""
    monkeypatch.setattr(parse, "_check", pytest.fail)
    rows = [{"f": [{"v": "["}, {"v": None}]}] * 1000

    assert parse_json(json.dumps({"rows": rows}).encode()) == {"rows": rows}


@pytest.mark.parametrize("key", [".".join("a" * 20_000), " . ".join(['"a"'] * 100), "a" + ".b-c" * 64])
def test_a_toml_key_of_many_parts_is_refused(key: str) -> None:
    """The parser would take memory for the square of their number."""
    with pytest.raises(ValueError, match="deeper"):
        parse_toml(f"{key} = 1")


def test_a_toml_number_of_many_digits_is_refused_in_words() -> None:
    """Python says how a program reads it; whoever wrote the file has no program."""
    with pytest.raises(ValueError, match=r"^a number has more than [0-9]+ digits$"):
        parse_toml("x = " + 5000 * "9")


def test_toml_with_points_is_read() -> None:
    """In keys of a few parts, in texts and in numbers."""
    assert parse_toml('a.b = "1.2.3"\nc = 1.5') == {"a": {"b": "1.2.3"}, "c": 1.5}


def test_strict_parsing_names_each_key_that_comes_again() -> None:
    """In any object; the last value counts."""
    again: list[str] = []

    assert parse_strictly('{"a": 1, "b": {"c": 1, "c": 2}, "a": 3}', again.append) == {"a": 3, "b": {"c": 2}}
    assert again == ["c", "a"]


@pytest.mark.parametrize("text", ["NaN", "[-Infinity]", "\ufeff{}", "{\0", "", "[" * 300, "\ud800"])
def test_strict_parsing_takes_nothing_but_json(text: str) -> None:
    """The standard library reads the first three, from bytes or from a text."""
    with pytest.raises(ForeignJsonError, match="expected JSON"):
        parse_strictly(text, str)
