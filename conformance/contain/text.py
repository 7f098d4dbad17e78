"""Foreign text, made safe where it enters a record: whoever prints, logs or stores it later need not care.

A target chooses its error messages, its column names and what it prints. Unchecked, such text can end a run (a lone
surrogate has no UTF-8 form), move the cursor of a terminal, reverse the order of what is read, break XML, or give a
command to the build that runs the suite. :func:`safe` answers one line in which none of that is left.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, Final

__all__ = ["LIMIT", "keep_safe", "safe", "safe_lines", "safe_values"]

LIMIT: Final = 2000
"""Characters of a foreign text that are kept: a traceback's last lines, not a dump."""

LINES: Final = 200
"""Lines of a block that are kept, the last ones: a traceback ends with what matters."""

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
"""Where a build service looks for commands in what a step prints.

GitHub Actions takes ``::name::`` at the beginning of a line, and ``##[name]`` anywhere
(https://github.com/actions/runner, ``ActionCommand.cs``); Azure Pipelines takes ``##vso[`` anywhere
(https://github.com/microsoft/azure-pipelines-agent, ``Command.cs``); TeamCity takes ``##teamcity[`` likewise.
"""


_CUT: Final = re.compile(r"… \(\d+ more characters\)\Z")
_CUT_LENGTH: Final = 40
"""The most characters that the sentence about a cut has."""


def safe(text: str, limit: int = LIMIT) -> str:
    r"""``text`` as one line that can be printed, stored and quoted anywhere.

    Control characters, line ends, bidirectional controls, invisible characters and lone surrogates become escapes;
    what a build service would take for a command is broken up; what is longer than ``limit`` characters is cut, and
    the cut says how much is missing. Text without any of that comes back unchanged, and so does a result of this
    function with the same limit: what is written and read back stays as it was.

    >>> safe("no such column\n::error::hello \ud800")
    'no such column\\n::error::hello \\ud800'
    >>> safe("::set-output name=x::y")
    '\\x3a:set-output name=x::y'
    >>> safe("a" * 30, limit=20)
    'aaaaaaaaaaaaaaaaaaaa… (10 more characters)'
    """
    size = len(text)
    fits = size <= limit or (size <= limit + _CUT_LENGTH and _CUT.search(text) is not None)
    taken = size if fits else limit
    kept = _made_safe(text[:taken])
    if fits and len(kept) <= max(limit, size):
        return kept
    while len(kept) > limit:  # escapes are longer than what they stand for
        taken = taken * limit // len(kept)
        kept = _made_safe(text[:taken])
    return f"{kept}… ({size - taken} more characters)"


def _made_safe(text: str) -> str:
    if not text.isprintable():
        text = _UNSAFE.sub(_escaped, text)
    if "::" in text or "##" in text:
        text = _COMMAND.sub(_broken_up, text)
    return text


def safe_lines(text: str, lines: int = LINES) -> str:
    r"""A block of our own that may quote foreign text, a traceback for one: its lines stay lines, and each is safe.

    >>> safe_lines("Traceback:\n::error::x\n\x1b[0m")
    'Traceback:\n\\x3a:error::x\n\\x1b[0m'
    """
    all_lines = text.split("\n")
    kept = [safe(line) for line in all_lines[-lines:]]
    missing = len(all_lines) - len(kept)
    return "\n".join([f"({missing} lines before)", *kept] if missing else kept)


def keep_safe(record: object, *names: str, limit: int = LIMIT) -> None:
    """Make texts, and tuples of texts, of a frozen record safe: call it in ``__post_init__``.

    A record that does so holds safe text only, whoever makes it: the judge, a reader, a log of another version.
    """
    for name in names:
        text = getattr(record, name)
        if text:
            kept = safe(text, limit) if isinstance(text, str) else tuple(safe(one, limit) for one in text)
            if kept is not text:
                object.__setattr__(record, name, kept)


def safe_values(value: Any, blocks: Collection[str] = ()) -> Any:
    """A JSON value from a file that anybody may have written, with every text in it safe.

    Texts below the keys ``blocks`` are blocks (:func:`safe_lines`). Keys stay as they are.
    """
    if isinstance(value, str):
        return safe(value)
    if isinstance(value, list):
        return [safe_values(item, blocks) for item in value]
    if isinstance(value, dict):
        return {key: _safe_block(item) if key in blocks else safe_values(item, blocks) for key, item in value.items()}
    return value


def _safe_block(value: Any) -> Any:
    if isinstance(value, str):
        return safe_lines(value)
    return [_safe_block(item) for item in value] if isinstance(value, list) else value


class _Escapes(dict[str, str]):
    """The escape of each character that needed one so far."""

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
