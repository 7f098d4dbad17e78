r"""Help texts as wide as the terminal: options under headings, examples with their notes below each other.

A paragraph after ``\b`` keeps its lines. Where one is wider than the terminal, the note of an example goes below its
command, and everything else is broken between words.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import click

from conformance.protocol import protocol_names
from conformance.report.terminallayout import UNBOUNDED, columns, commanded, flowed

__all__ = ["HelpContext", "dressed"]

MANY: Final = 12
"""With more options than this, a command lists them under headings."""
WIDEST: Final = 110
"""The most columns of a help text: longer lines are hard to read."""
PIPED: Final = 78
"""The width of a help text that goes to no terminal."""
LISTED: Final = 30
"""The longest option with its values; more of them are in its text."""
HEADINGS: Final = {
    "What is judged": (
        *("target", "select", "clause", "capability", "level", "corpus", "scenario", "client", "program", "vector"),
        *("writer", "case", "kind", "profile", "name", "data-format", "vectors", *protocol_names()),
    ),
    "More cases": ("cases", "scenarios", "mangled", "combinations", "seed", "repeat", "shrink", "mutations", "mutate"),
    "Readers": ("readers", "reader"),
    "How it runs": ("shard", "parallel", "smoke", "deadline-multiplier", "seconds", "quiet", "timeout", "jobs"),
    "The service itself": ("project", "max-bytes", "estimate"),
    "What is printed": ("all", "format"),
    "Files that are written": (
        *("log", "exchanges", "json", "html", "open", "junit", "sarif", "badge", "badges", "github"),
        *("reports", "step-summary", "out"),
    ),
    "What decides the exit status": ("gate", "expected"),
}
"""The headings of options, each with their names; all others come last."""
HEADINGS_OF: Final = {
    "init": {
        "What is judged": ("name", "kind", "capability", "not-offered", "entry", "project"),
        "A server that the suite starts": ("command", "grpc-event", "rest-event", "ready-path", "install"),
        "A server that runs already": ("grpc", "rest", "tls", "ca", "token-command", "token-variable"),
        "How tables get into the server": ("seed", "seed-program", "tables"),
    }
}
"""The headings of commands whose options mean something else under the same names."""
OTHERS: Final = "Other options"
_OPTION: Final = re.compile(r"--([a-z-]+)")
_CHOICE: Final = re.compile(r"(.*) \[([^][ ]*\|[^][ ]*)\]")
_EXAMPLE: Final = re.compile(r"(\s*)(\S.*?)(\s{2,})(\S.*)")


def _grouped(rows: Sequence[tuple[str, str]], command: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The rows of a command's options under their headings."""
    headings = HEADINGS_OF.get(command, HEADINGS)
    heading = {name: title for title, names in headings.items() for name in names}
    found: dict[str, list[tuple[str, str]]] = {title: [] for title in (*headings, OTHERS)}
    for row in rows:
        named = _OPTION.search(row[0])
        found[heading.get(named[1] if named else "", OTHERS)].append(row)
    return ((title, members) for title, members in found.items() if members)


def _unlisted(option: str, text: str) -> tuple[str, str]:
    """The row of an option; many values that it may have go into its text."""
    found = _CHOICE.fullmatch(option)
    if found is None or len(option) <= LISTED:
        return option, text
    return f"{found[1]} VALUE", f"{text}  [one of {', '.join(found[2].split('|'))}]"


class _Formatter(click.HelpFormatter):
    _options = False
    _command = ""

    def __init__(self, indent_increment: int = 2, width: int | None = None, max_width: int | None = None) -> None:
        room = min(columns(), WIDEST)
        super().__init__(indent_increment, width or (room - 2 if columns() < UNBOUNDED else PIPED), max_width)

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """The first line of a help text, which names the command."""
        self._command = prog.rpartition(" ")[2]
        super().write_usage(prog, args, prefix)

    @contextmanager
    def section(self, name: str) -> Iterator[None]:
        """A section with a heading; that of options gets its headings with its rows."""
        if name != "Options":
            with super().section(name):
                yield
            return
        self._options = True
        yield
        self._options = False

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Names with texts behind them, a long list of options under headings."""
        rows = [_unlisted(*row) for row in rows]
        parts = [("", rows)] if not self._options else [("Options", rows)]
        if self._options and len(rows) > MANY:
            parts = list(_grouped(rows, self._command))
        for heading, members in parts:
            if heading:
                with super().section(heading):
                    self._write_rows(members, col_max, col_spacing)
            else:
                self._write_rows(members, col_max, col_spacing)

    def _write_rows(self, rows: Sequence[tuple[str, str]], col_max: int, col_spacing: int) -> None:
        """The rows; click would break words at their hyphens."""
        first = min(max(len(name) for name, _ in rows), col_max) + col_spacing
        space = " " * self.current_indent
        for name, text in rows:
            fits = len(name) + col_spacing <= first
            if not fits:
                self.write(f"{space}{name}\n")
            head = space + (f"{name:<{first}}" if fits else " " * first)
            self.write("".join(f"{line}\n" for line in flowed(" ".join(text.split()), self.width, head=head)))

    def write_text(self, text: str) -> None:
        r"""Paragraphs; the lines of one after ``\b`` are kept."""
        room = self.width - self.current_indent
        paragraphs = [part.strip("\n") for part in inspect.cleandoc(text).split("\n\n")]
        made = [
            list(_kept(part.split("\n")[1:], room)) if part.startswith("\b") else flowed(" ".join(part.split()), room)
            for part in paragraphs
        ]
        space = " " * self.current_indent
        self.write("\n\n".join("\n".join(f"{space}{line}".rstrip() for line in lines) for lines in made) + "\n")


def _kept(lines: Sequence[str], room: int) -> Iterator[str]:
    """The lines of a paragraph as they are, if all fit; otherwise notes below their examples."""
    fits = all(len(line) <= room for line in lines)
    for line in lines:
        example = _EXAMPLE.fullmatch(line)
        if fits or (len(line) <= room and example is None):
            yield line
        elif example is None and line.lstrip().startswith("conformance "):
            yield from commanded(line.lstrip(), room, head=line[: len(line) - len(line.lstrip())])
        elif example is None or not example[2].startswith("conformance"):
            indent = len(line) - len(line.lstrip()) + (len(example[2] + example[3]) if example else 2)
            yield from flowed(line.strip(), room, head=line[: len(line) - len(line.lstrip())], indent=indent)
        else:
            yield from commanded(example[2], room, head=example[1])
            yield from flowed(example[4], room, head=f"{example[1]}    ")


class HelpContext(click.Context):
    """The context of every command: its help has these texts."""

    formatter_class = _Formatter


def dressed(command: click.Command, context: type[HelpContext]) -> click.Command:
    """``command``, and the commands below it, with this kind of context."""
    command.context_class = context
    for one in command.commands.values() if isinstance(command, click.Group) else ():
        dressed(one, context)
    return command
