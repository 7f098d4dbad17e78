"""Lines for a terminal: as wide as it is, from 60 columns on, and broken between words.

Output that goes to a file or a pipe is not broken: one fact is one line there, for ``grep`` and for the log of a build.
``COLUMNS`` overrides both, and ``NO_COLOR`` switches colours off. This module needs no extra, because
``conformance check`` and ``conformance dissect`` print with it.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any, Final

import click

from conformance.contain.text import safe

__all__ = ["LEAST", "NARROWEST", "UNBOUNDED", "columns", "commanded", "cut", "flowed", "paint", "tabled"]

NARROWEST: Final = 60
"""The fewest columns for which anything is laid out; a narrower terminal breaks lines itself."""
UNBOUNDED: Final = 1 << 16
"""The width of output that has none: more than any text of a report."""
_JOINT: Final = re.compile(r".*[/._\-,;:=&?)]", re.DOTALL)
"""The places at which a word may be broken that is longer than a line, such as an address."""
_SHELL_WORD: Final = re.compile(r"""(?:[^\s'"\\]|'[^']*'|"(?:[^"\\]|\\.)*"|\\.|['"\\])+""", re.DOTALL)
"""A word of a shell: what is quoted has spaces that end none. A quote that nothing closes is a character."""
_GOES_ON: Final = " \\"
"""What ends a line of a command that goes on in the next."""
_LITTLE: Final = 4
"""The indent of the lines of a command that has a long word."""
LEAST: Final = 24
"""The fewest columns behind a label or a name; with fewer, the text starts on a line of its own."""


def columns() -> int:
    """The columns of standard output."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return max(NARROWEST, int(given))
    try:
        return max(NARROWEST, os.get_terminal_size(sys.stdout.fileno()).columns) if sys.stdout.isatty() else UNBOUNDED
    except (AttributeError, OSError, ValueError):  # closed, or no file
        return UNBOUNDED


def paint(text: str, **style: Any) -> str:
    """``text`` in a colour, for :func:`click.echo`, which leaves colours out where nobody sees them."""
    return text if not style or os.environ.get("NO_COLOR") else click.style(text, **style)


def flowed(text: str, width: int, *, head: str = "", indent: int | None = None) -> list[str]:
    """``head`` and ``text`` as lines of at most ``width`` characters, broken at spaces.

    Later lines are indented to the end of the head, or by ``indent``. A line of foreign text is a command for no build
    service, wherever the text is broken.

    >>> flowed("one two three four five six", 28, head="a  ")
    ['a  one two three four five', '   six']
    """
    if len(head) + len(text) <= width:
        return [head + text]
    if head.strip() and len(head) + LEAST > width:  # a long name: it flows as the text does
        margin = head[: len(head) - len(head.lstrip())][: width // 4]
        text, head, indent = f"{head.strip()} {text}", margin, len(margin) + 2 if indent is None else indent
    space = " " * min(len(head) if indent is None else indent, width - LEAST)
    lines, line, begun = [], head, False
    for word in _words(text, width - max(len(space), len(head))):
        if begun and len(line) + 1 + len(word) > width:
            lines.append(line.rstrip())
            line, begun = space, False
        line += f" {word}" if begun else word
        begun = True
    return [lines[0] if lines else line, *(_harmless(one) for one in [*lines[1:], *([line] if lines else [])])]


def _harmless(line: str) -> str:
    return safe(line, limit=4 * len(line))


def _words(text: str, room: int) -> Iterator[str]:
    """The words of a text; one that is longer than a line in pieces, broken at its joints if it has any."""
    for word in text.split(" "):
        left = word
        while len(left) > room:
            found = _JOINT.match(left[:room])
            size = left.rfind("/", 0, room) + 1
            if size < room // 2:
                size = len(found[0]) if found and len(found[0]) > 1 else room
            yield left[:size]
            left = left[size:]
        yield left


def cut(text: str, width: int) -> str:
    """``text`` in at most ``width`` characters, but at least one: what is too long ends after a word with ``…``.

    >>> cut("one two three", 9)
    'one two…'
    """
    width = max(width, 1)
    if len(text) <= width:
        return text
    kept = text[: width - 1]
    if text[width - 1] != " " and " " in kept.strip():
        kept = kept.rpartition(" ")[0]
    return f"{kept.rstrip(' ,;:')}…"


def commanded(command: str, width: int, *, head: str = "") -> list[str]:
    r"""A command as lines that a shell takes for one: broken between its words, however long one of them is.

    >>> commanded("run --target 'a b' --quiet", 16)
    ['run --target \\', "  'a b' --quiet"]
    """
    if len(head) + len(command) <= width:
        return [head + command]
    first, *words = _SHELL_WORD.findall(command) or [command]
    space = " " * (len(head) + 2)
    if len(space) + max(map(len, words), default=0) + len(_GOES_ON) > width:
        space = " " * _LITTLE
    lines = [head + first]
    for place, word in enumerate(words, 1):
        room = width - (len(_GOES_ON) if place < len(words) else 0)
        if len(lines[-1]) + 1 + len(word) <= room:
            lines[-1] += f" {word}"
        else:
            lines[-1] += _GOES_ON
            lines.append(space + word)
    return [lines[0], *map(_harmless, lines[1:])]


def tabled(rows: Iterable[tuple[str, str]], width: int) -> Iterator[str]:
    """Names with texts behind them: the texts below each other, or below their names where the names leave no room."""
    rows = list(rows)
    longest = max((len(name) for name, _ in rows), default=0)
    for name, text in rows:
        head = f"{name:<{longest}}  "
        if len(head) + LEAST <= width or len(head) + len(text) <= width:
            yield from (line.rstrip() for line in flowed(text, width, head=head))
        else:
            yield name
            yield from flowed(text, width, head="    ")
