"""Untrusted text is made safe when it enters a record, so that code that prints, logs or stores it need not check it.

A target chooses its error messages, its column names and its output. Without a check, such text can end a run (a lone
surrogate has no UTF-8 form), move the cursor of a terminal, reverse the order of displayed text, break XML, or send a
command to the build service that runs the suite. :func:`safe` returns one line without any of these.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Collection, Iterable
from typing import Any, Final

from conformance.contain.secrets import masked

__all__ = [
    "LIMIT",
    "escaped",
    "keep_safe",
    "many",
    "nearest",
    "quoted",
    "representation",
    "safe",
    "safe_lines",
    "safe_values",
    "unknown",
]

LIMIT: Final = 2000
"""Characters of an untrusted text that are kept: enough for a traceback's last lines, not for a dump."""

LINES: Final = 200
"""Lines of a block that are kept, from its end: a traceback ends with its most important lines."""

_UNSAFE: Final = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f"  # C0 and C1 controls: line ends, escape sequences
    "\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069"  # bidirectional controls, invisible characters
    "\u2028\u2029"  # line separators that many programs take for line ends
    "\ud800-\udfff"  # lone surrogates: no UTF-8, no XML
    "\ufdd0-\ufdef\ufeff\ufff9-\ufffb\ufffe\uffff"  # noncharacters, byte order mark, interlinear annotations
    "\U000e0000-\U000e007f"  # tags: invisible copies of ASCII
    "]"
)
_COMMAND: Final = re.compile(r"^(\s*):(?=:)|#(?=#(?:\[|vso\[|teamcity\[))")
"""The positions at which a build service looks for commands in the output of a step.

GitHub Actions accepts ``::name::`` at the beginning of a line, and ``##[name]`` anywhere
(https://github.com/actions/runner, ``ActionCommand.cs``); Azure Pipelines accepts ``##vso[`` anywhere
(https://github.com/microsoft/azure-pipelines-agent, ``Command.cs``); TeamCity accepts ``##teamcity[`` anywhere.
"""


_CUT: Final = re.compile(r"… \(\d+ more characters\)\Z")
DIFFERENCE: Final = 40
"""The characters that are shown from the first difference of two texts on."""
APART: Final = 40
"""The most characters that :func:`told_apart` adds to a text that it cuts, without those of the difference, if the text
has fewer than a million.
"""
_CUT_LENGTH: Final = 40
"""The longest note about a cut, in characters."""


def safe(text: str, limit: int = LIMIT) -> str:
    r"""``text`` as one line that can be printed, stored and quoted anywhere.

    Control characters, line ends, bidirectional controls, invisible characters and lone surrogates become escapes.
    Commands to a build service are broken up. Text longer than ``limit`` characters is cut, and a note gives the number
    of missing characters. Text without any of that stays unchanged, and so does a result of this function with the same
    limit, so that text stays the same when it is written and read back. Secrets are masked before anything is cut.

    >>> safe("no such column\n::error::hello \ud800")
    'no such column\\n::error::hello \\ud800'
    >>> safe("::set-output name=x::y")
    '\\x3a:set-output name=x::y'
    >>> safe("a" * 30, limit=20)
    'aaaaaaaaaaaaaaaaaaaa… (10 more characters)'
    """
    text = masked(text)
    size = len(text)
    fits = size <= limit or (size <= limit + _CUT_LENGTH and _CUT.search(text) is not None)
    taken = size if fits else limit
    kept = _made_safe(text[:taken])
    if fits and len(kept) <= max(limit, size):
        return kept
    while len(kept) > limit:  # an escape is longer than the character that it replaces
        taken = taken * limit // len(kept)
        kept = _made_safe(text[:taken])
    return f"{kept}… ({size - taken} more characters)"


def _made_safe(text: str) -> str:
    if not text.isprintable():
        text = _UNSAFE.sub(_escaped, text)
    if "::" in text or "##" in text:
        text = _COMMAND.sub(_broken_up, text)
    return text


def told_apart(one: str, other: str, limit: int, *, difference: int = DIFFERENCE) -> tuple[str, str]:
    """Two different texts, each cut after ``limit`` characters; where that makes them equal, with what differs.

    Each then says how long it was, and what it has from the first difference on, in ``difference`` characters.

    >>> told_apart("a" * 30 + "b", "a" * 30 + "c", limit=20)
    ('aaaaaaaaaaaaaaaaaaa… (31 characters, from 30 on: b)', 'aaaaaaaaaaaaaaaaaaa… (31 characters, from 30 on: c)')
    """

    def cut(text: str, size: int) -> str:
        return text if len(text) <= size else f"{text[: size - 1]}…"

    if one == other or (shown := (cut(one, limit), cut(other, limit)))[0] != shown[1]:
        return cut(one, limit), cut(other, limit)
    pairs = enumerate(zip(one, other, strict=False))
    at = next((place for place, (left, right) in pairs if left != right), min(len(one), len(other)))
    first, second = (
        f"{cut(text, limit)} ({many(len(text), 'character')}, from {at} on: {cut(text[at:], difference) or 'nothing'})"
        for text in (one, other)
    )
    return first, second


def representation(value: object) -> str:
    """``repr`` of a foreign value; of a number with more digits than Python writes, or a list with one, a few words.

    >>> representation(["a", 1])
    "['a', 1]"
    >>> representation(1 << 100_000)
    'a number with too many digits'
    """
    try:
        return repr(value)
    except ValueError:  # more digits than sys.get_int_max_str_digits(); TOML and YAML have such numbers, in hexadecimal
        return "a number with too many digits"


def quoted(text: str) -> str:
    """``text`` as a TOML basic string: a JSON string, except that TOML requires DEL to be escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def escaped(text: str) -> str:
    r"""A text in JSON, with an escape for each character that :func:`safe` would replace, and for commands: its values
    stay the same. So does a text in YAML in which such characters are in double quotes only.

    >>> escaped('["\u202e", "##[error]"]\n')
    '["\\u202e", "\\u0023#[error]"]\n'
    """
    return re.sub(rf"(?!\n)(?:{_UNSAFE.pattern}|#(?=#(?:\[|vso\[|teamcity\[)))", _json_escape, text)


def _json_escape(match: re.Match[str]) -> str:
    character = match[0]
    return json.dumps(character)[1:-1] if character != "#" else "\\u0023"


def safe_lines(text: str, lines: int = LINES) -> str:
    r"""A block of the suite's own text that may quote untrusted text, such as a traceback; each line is made safe.

    >>> safe_lines("Traceback:\n::error::x\n\x1b[0m")
    'Traceback:\n\\x3a:error::x\n\\x1b[0m'
    """
    all_lines = text.split("\n")
    kept = [safe(line) for line in all_lines[-lines:]]
    missing = len(all_lines) - len(kept)
    return "\n".join([f"({missing} lines before)", *kept] if missing else kept)


def keep_safe(record: object, *names: str, limit: int = LIMIT) -> None:
    """Make texts, and tuples of texts, of a frozen record safe; a record calls this in ``__post_init__``.

    Such a record contains only safe text, whether the judge, a reader or the log of another version makes it.
    """
    for name in names:
        text = getattr(record, name)
        if text:
            kept = safe(text, limit) if isinstance(text, str) else tuple(safe(one, limit) for one in text)
            if kept is not text:
                object.__setattr__(record, name, kept)


def safe_values(value: Any, blocks: Collection[str] = (), whole: Collection[str] = ()) -> Any:
    """A JSON value from an untrusted file, with every text in it made safe.

    Texts below the keys ``blocks`` may have several lines (:func:`safe_lines`). Texts of the keys ``whole`` are not cut
    off, however long they are. Keys are not changed.
    """
    if isinstance(value, str):
        return safe(value)
    if isinstance(value, list):
        return [safe_values(item, blocks, whole) for item in value]
    if not isinstance(value, dict):
        return value
    made = {}
    for key, item in value.items():
        if key in blocks:
            made[key] = _safe_block(item)
        elif key in whole and isinstance(item, str):
            made[key] = safe(item, limit=len(item))
        else:
            made[key] = safe_values(item, blocks, whole)
    return made


def _safe_block(value: Any) -> Any:
    if isinstance(value, str):
        return safe_lines(value)
    return [_safe_block(item) for item in value] if isinstance(value, list) else value


def many(count: int, noun: str, plural: str = "") -> str:
    """A number with its noun; ``plural`` is given if it is not the noun with an ``s``.

    >>> many(1, "entry", "entries"), many(0, "clause")
    ('1 entry', '0 clauses')
    """
    return f"{count} {noun if count == 1 else plural or noun + 's'}"


class _Escapes(dict[str, str]):
    """The escapes of the characters that have needed one so far."""

    def __missing__(self, character: str) -> str:
        number = ord(character)
        code = f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"
        escape = self[character] = code if number < 0x10000 else f"\\U{number:08x}"
        return escape


_ESCAPES: Final = _Escapes({"\n": r"\n", "\r": r"\r", "\t": r"\t"})


def _escaped(found: re.Match[str]) -> str:
    return _ESCAPES[found[0]]


def _broken_up(found: re.Match[str]) -> str:
    command = found.group()
    return f"{command[:-1]}\\x{ord(command[-1]):02x}"


def unknown(kind: str, name: str, known: Iterable[str], hint: str = "") -> str:
    """The sentence about an unknown name, with the nearest known names; without one, ``hint`` says how to list them
    all.
    """
    hint = nearest(name, known) or hint or f"`conformance list {kind}s` lists them all"
    return f"no {kind} is called {name!r}; {hint}"


def nearest(name: str, known: Iterable[str]) -> str:
    """A question with the known names that are nearest to an unknown one; empty if none is near."""
    near = difflib.get_close_matches(name, list(known), n=3, cutoff=0.5)
    return f"did you mean {' or '.join(near)}?" if near else ""
