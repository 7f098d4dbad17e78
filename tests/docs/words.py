"""The words that the prose of this project does not use, what to write instead, and how prose is found in a file.

The first version used private words, which a reader had to learn first. ``WORDS`` lists them; ``uses`` finds them.
Three functions give the prose of a file, without code, ids and addresses, with the line numbers of the file:
``markdown`` for a page, ``python`` for docstrings, comments and the help of commands, ``config`` for the comments and
descriptions of TOML, YAML and INI files.

A word that the field itself uses in another sense has that sense under ``allowed``. To quote an id, put it into
backticks: text in backticks is not searched. ``python -m tests.docs.words PATH ...`` prints the uses below some paths.
"""

from __future__ import annotations

import ast
import dataclasses
import io
import re
import sys
import tokenize
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

__all__ = ["WORDS", "Use", "Word", "config", "markdown", "prose", "python", "uses"]


@dataclasses.dataclass(frozen=True, slots=True)
class Word:
    """A word that is refused: a regular expression, what to write instead, and phrases in which it may stay."""

    pattern: str
    instead: str
    allowed: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Use:
    """A refused word in a text: the line, counted from 1, the words as they were found, and what to write instead."""

    line: int
    found: str
    instead: str


WORDS: Final = (
    # Words that had a meaning in this project alone.
    Word(r"lie[sd]?|lying", "fault, deviation; for a place: is in, contains"),
    Word(r"liars?", "faulty implementation, faulty server"),
    Word(r"labs?", "sandbox process"),
    Word(r"facets?", "aspect"),
    Word(r"obstacles?", "reason why it was not judged"),
    Word(r"rooms?", "package"),
    Word(r"hunt(?:s|ed|ing|ers?)?", "search, shrink, shrinker"),
    Word(r"benche?s?", "assessor, fixture"),
    Word(r"(?:dis)?honest(?:y|ly)?", "unmodified, well-behaved, correct"),
    Word(r"whole reads?", "read of a full stream"),
    Word(r"marks", "field metadata", (r"direction marks", r"quotation marks", r"question marks")),
    Word(r"announc(?:e[sd]?|ing|ements?)", "declare, give"),
    Word(r"told|tells?", "report, say, state, show"),
    Word(r"greed(?:y|ily)?", "excessive memory use", (r"greedy (?:match|regular|search|algorithm)\w*",)),
    # Vague verbs and prepositions, whose meaning the reader had to guess.
    Word(r"st(?:ood|ands?)", "is, is written; for a person: name the action", (r"stand-?ins?", r"stands? for")),
    Word(r"work(?:s|ed|ing)? out", "compute, derive"),
    Word(r"besides?", "next to, in addition to, compared with, or say how the two relate"),
    Word(r"mend(?:s|ed|ing)?", "fix, repair"),
    Word(r"anew", "again"),
    Word(r"wholly", "fully, completely"),
    Word(r"all the same", "still, anyway; for equal things: equal"),
    Word(r"ha(?:s|ve) not got", "does not have, lacks"),
    Word(r"at a glance", "name the operation"),
    Word(r"whoever|whosoever", "name the person or the program"),
    Word(r"some (?:hundred|thousand|million)s?", "several hundred, about a hundred"),
    Word(r"and (?:is|are|has|have|was|were) none", "say what it is, with 'not'"),
    Word(r"(?:where|because|if|when|as) (?:there is|it is|one is) none", "say what is missing"),
    Word(r"of (?:one's|its|our|their) own accord", "by itself"),
    # Relative clauses that take the place of a noun.
    Word(r"that which|those which", "name the thing"),
    Word(
        r"(?-i:(?:\A|(?<=[.:;!?|*-]\s)|(?<=\n\n)|(?<=\n\n )|(?<=\n\n  )|(?<=\n\n    ))\s*"
        r"What\s(?:[^.?!|]|\.(?=\S))*\.(?=\s|\Z))",
        "begin the sentence with its subject: name the thing that 'What ...' describes",
    ),
)
"""Every refused word. The order is that of the comments above: private words, vague words, clauses for nouns."""

_BACKTICKS: Final = re.compile(r"``[^`]+``|`[^`\n]+`(?!`)|`[^`]+`")
_URL: Final = re.compile(r"https?://[^\s)>\]\"']+")
_FENCE: Final = re.compile(r"^([ ]*)```[^\n]*\n.*?^\1```$", re.MULTILINE | re.DOTALL)
_HTML: Final = re.compile(r"<!--.*?-->", re.DOTALL)
_TARGET: Final = re.compile(r"(?<=\])\([^)\s]*\)")
_DOCTEST: Final = re.compile(r"^\s*(?:>>>|\.\.\.) .*$", re.MULTILINE)


def uses(text: str) -> Iterator[Use]:
    """The refused words in a prose, in the order of ``WORDS``; lines are those of ``text``."""
    for word in WORDS:
        cleaned = text
        for phrase in word.allowed:
            cleaned = re.sub(rf"\b{_spaced(phrase)}\b", _blank, cleaned, flags=re.IGNORECASE)
        boundary = "" if word.pattern.startswith("(?-i:") else r"\b"
        for match in re.finditer(rf"{boundary}(?:{_spaced(word.pattern)}){boundary}", cleaned, re.IGNORECASE):
            found = match[0].strip()
            start = match.start() + len(match[0]) - len(match[0].lstrip())
            yield Use(cleaned.count("\n", 0, start) + 1, " ".join(found.split()), word.instead)


def prose(path: Path) -> str:
    """The prose of a file, by its suffix; raises ``KeyError`` for a suffix that is not in ``_FORMS``."""
    return _FORMS[path.suffix](path.read_text(encoding="utf-8"))


def markdown(text: str) -> str:
    """A page without its code, comments and addresses."""
    for pattern in (_FENCE, _HTML, _TARGET):
        text = pattern.sub(_blank, text)
    return _plain(text)


def python(text: str) -> str:
    """The docstrings and comments of a module, and the help that its commands print."""
    lines = [""] * (text.count("\n") + 1)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            lines[token.start[0] - 1] = re.sub(r"^#:?\s?(?:noqa|type:|fmt:|pragma)?", "", token.string)
    for node in ast.walk(ast.parse(text)):
        for literal in _documentation(node):
            # The segment and not the value: a literal of several lines keeps its line numbers.
            segment = (ast.get_source_segment(text, literal) or "").splitlines()
            for number, line in enumerate(segment, literal.lineno - 1):
                lines[number] += " " + line.strip().replace('"""', "").strip("\"'")
    return _plain(_DOCTEST.sub("", "\n".join(lines)))


def _documentation(node: ast.AST) -> Iterator[ast.expr]:
    """The literals of a node that people read: docstrings, those of attributes too, and ``help=`` of an option."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        yield node.value
    if isinstance(node, ast.keyword) and node.arg in {"help", "short_help", "epilog"}:
        yield node.value


def config(text: str) -> str:
    """The comments of a file in which ``#`` begins one, and its descriptions."""
    kept = [
        match["prose"] if (match := re.search(r"(?:^|\s)#\s?(?P<prose>.*)$", line) or _described(line)) else ""
        for line in text.splitlines()
    ]
    return _plain("\n".join(kept))


def _described(line: str) -> re.Match[str] | None:
    return re.match(r"\s*(?:description|title)\s*[=:]\s*(?P<prose>.*)$", line)


_FORMS: Final = {".md": markdown, ".py": python, ".toml": config, ".ini": config, ".yaml": config, ".yml": config}


def _plain(text: str) -> str:
    for pattern in (_BACKTICKS, _URL):
        text = pattern.sub(_blank, text)
    return text


def _spaced(pattern: str) -> str:
    """A pattern whose blanks match a line end too: prose is wrapped."""
    return pattern if pattern.startswith("(?-i:") else pattern.replace(" ", r"\s+")


def _blank(match: re.Match[str]) -> str:
    """As many lines as were there, without their text; a dash keeps the words around it apart."""
    return "-" + "\n" * match[0].count("\n")


def main(arguments: Sequence[str]) -> int:
    """Print each use below the given paths; the status is 1 where there is one."""
    given = [Path(argument) for argument in arguments]
    files = [file for path in given for file in ([path] if path.is_file() else sorted(path.rglob("*")))]
    found = [(file, use) for file in files if file.suffix in _FORMS for use in uses(prose(file))]
    for file, use in sorted(found, key=lambda each: (each[0], each[1].line)):
        print(f"{file}:{use.line}: {use.found[:60]!r}: write {use.instead}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
