"""The statement as a page, in Markdown and in HTML, and read back from one.

Both pages hold the statement's JSON form. A page is valid only if that JSON gives the same page again, apart from what
is written on the lines for the signature: a text that was edited and numbers that were not would disagree.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from conformance.contain.parse import ForeignJsonError, parse_json
from conformance.contain.text import many, safe, safe_values
from conformance.disk.files import reading
from conformance.engine.standing import Standing
from conformance.records import Level, RecordError, from_json, to_json
from conformance.report.pages import page
from conformance.report.profiles import has_profiles
from conformance.report.statementnumbers import SCHEMA_VERSION, Gap, Statement, StatementRow
from conformance.report.summary import Cell, commit_of, header

__all__ = ["SIGNED", "Page", "Section", "StatementError", "html", "markdown", "read_statement", "sections"]

SIGNED: Final = ("Name", "Organisation", "Date", "Signature")
"""The lines that the vendor fills in."""

LARGEST: Final = 16 << 20
"""The largest statement in bytes; those of real runs are below 100 kB."""

_ALWAYS: Final = frozenset({"held", "failed", "expected", "not_judged"})
_HEADER: Final = frozenset({"profiles", "seed", "repeat", "readers", "shard"})
"""The lines of a report's head that are facts of the statement, too."""
_FENCE: Final = "```"
_SCRIPT: Final = '<script type="application/json">'
_MARKUP: Final = re.compile(r"[\\`*_\[\]<>|~&]")
_ADDRESS: Final = re.compile(r":(?=//)|(?<=mailto):|(?<=xmpp):|(?<=www)\.|@|#(?=\d)", re.IGNORECASE)
"""What makes a link of a bare address, a mention of a name or a reference of a number, on GitHub for one."""
_FILLED: Final = re.compile(rf"({'|'.join(SIGNED)}):.*")


class StatementError(ValueError):
    """A file is not a statement that this version can read; the message says why."""


@dataclasses.dataclass(frozen=True, slots=True)
class Section:
    """A part of the page: a title, a text, and a table or a list of facts."""

    title: str
    text: str = ""
    head: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Page:
    """A statement as it was read: its numbers, and the first line of its text that the numbers do not give."""

    statement: Statement
    wrong: str = ""


def verdict(statement: Statement) -> str:
    """One sentence about the result."""
    total = statement.total
    offered = f" · {total.not_offered} not offered" if total.not_offered else ""
    result = "The run passed" if statement.passed else "The run failed" if statement.complete else "INCOMPLETE run"
    scope = f"{many(statement.clauses, 'clause')} on {_cases(statement)}"
    return f"{result}: {total.in_words}{offered}, of {scope}."


def _columns(statement: Statement) -> list[str]:
    """The standings that the page counts: four always, the others if a clause has one."""
    names = [field.name for field in dataclasses.fields(Cell)]
    return [name for name in names if name in _ALWAYS or getattr(statement.total, name)]


def _words(standing: str) -> str:
    return Standing(standing.replace("_", "-")).words


def _cases(statement: Statement) -> str:
    """The number of cases; out of how many, unless all were judged."""
    whole = statement.run.all_cases + statement.run.drawn
    return f"{'' if statement.cases == whole else f'{statement.cases} of '}{many(whole, 'case')}"


def sections(statement: Statement) -> Iterator[Section]:
    """The parts of the page before the signature."""
    run, columns = statement.run, _columns(statement)
    yield Section("What was judged", head=("", ""), rows=tuple(fact for fact in _facts(statement) if fact[1]))
    yield Section(
        "Results",
        f"Each clause counts once, under its standing: {' / '.join(map(_words, columns))}."
        + (f" {statement.service.sentence}" if statement.service is not None else ""),
        ("profile" if has_profiles(run) else "chapter", *(level.upper() for level in Level)),
        (*_groups(statement.results, columns), *_groups(statement.levels, columns)),
    )
    head = ("clause", "level", "outcome", "observed", "cases")
    yield Section(
        f"Failures ({len(statement.failed)})",
        "" if statement.failed else "None.",
        head,
        tuple((one.clause, one.level.upper(), one.outcome, one.in_words, str(one.cases)) for one in statement.failed),
    )
    yield Section(
        f"Expected failures ({len(statement.expected)})",
        "The target's owner knows of these failures and lists them." if statement.expected else "None.",
        ("clause", "level", "observed", "cases", "note"),
        tuple(
            (one.clause, one.level.upper(), one.in_words, str(one.cases), f"{one.note} {one.issue}".strip())
            for one in statement.expected
        ),
    )
    gaps = (*_gaps(statement.left_out, "not selected"), *_gaps(statement.not_judged, ""))
    yield Section("What was not judged, and why", "" if gaps else "Everything was judged.", ("", "what", "why"), gaps)
    said = (*statement.remarks, *statement.problems)
    yield Section("Remarks", "" if said else "None.", ("",), tuple((text,) for text in said))
    digests = run.provenance.digests
    files = (statement.report, *statement.logs)
    yield Section(
        "Digests (SHA-256)",
        head=("", ""),
        rows=(
            *((f"file {file.name}", file.sha256) for file in files),
            ("clauses of the suite", digests.clauses),
            ("cases of the suite", digests.cases),
            ("golden files of the suite", digests.golden),
        ),
    )
    yield Section(
        "Validity",
        f"This statement is valid for the suite's releases {', '.join(statement.releases)}: their frozen clauses and"
        " cases are those of this run. It is about the version of the target that is named above. Check it with"
        " `conformance verify` and the files named above; `conformance verify --rerun` judges the target again.",
    )


def _facts(statement: Statement) -> Iterator[tuple[str, str]]:
    """What was judged, by whom, when and how: each as a name and a text, which can be empty."""
    run, known = statement.run, statement.run.provenance
    yield "target", run.target
    yield "version", known.target.version
    yield "started as", " ".join(known.target.command)
    yield "suite", f"{run.suite}{commit_of(known)}"
    yield "date", known.began
    yield "cases", _cases(statement) + (f", {run.drawn} of them generated" if run.drawn else "")
    yield "clauses", f"{statement.clauses} of {run.all_clauses}, down to level {run.level}"
    yield from ((name, text) for name, text in header(run, ()) if name in _HEADER)
    yield "platform", f"{run.platform}, Python {run.python}, pyarrow {run.pyarrow}"
    yield "command", known.command


def _groups(rows: tuple[StatementRow, ...], columns: list[str]) -> Iterator[tuple[str, ...]]:
    for group in dict.fromkeys(row.group for row in rows):
        cells = {row.level: row for row in rows if row.group == group}
        yield (group, *(_cell(cells[level].clauses, columns) if level in cells else "-" for level in Level))


def _cell(cell: Cell, columns: list[str]) -> str:
    return " / ".join(str(getattr(cell, name)) for name in columns) if cell != Cell() else "-"


def _gaps(gaps: tuple[Gap, ...], how: str) -> Iterator[tuple[str, ...]]:
    for gap in gaps:
        noun, _, standing = gap.kind.partition(" ")
        yield standing or how, many(gap.count, noun), gap.reason


def _title(statement: Statement) -> str:
    return f"Conformance statement: {statement.run.target}"


def markdown(statement: Statement) -> str:
    """The page in Markdown, with empty lines for the signature."""
    return "\n".join(_markdown(statement, _plain)) + "\n"


def _with_live_addresses(statement: Statement) -> str:
    """The page in Markdown as versions up to 0.3.0 wrote it, in which a bare address becomes a link."""
    return "\n".join(_markdown(statement, _without_markup)) + "\n"


def _markdown(statement: Statement, escaped: Callable[[str], str]) -> Iterator[str]:
    yield f"# {escaped(_title(statement))}\n\n**{escaped(verdict(statement))}**"
    for section in sections(statement):
        yield f"\n## {section.title}\n"
        if section.text:
            yield section.text
        if section.rows:
            yield f"{'' if not section.text else chr(10)}| {' | '.join(section.head)} |"
            yield f"|{'---|' * len(section.head)}"
            yield from (f"| {' | '.join(map(escaped, row))} |" for row in section.rows)
    yield "\n## Signature\n"
    yield from (f"{line}:\n" for line in SIGNED)
    yield f"## For programs\n\n{_FENCE}json\n{_json(statement)}\n{_FENCE}"


def _json(statement: Statement) -> str:
    return json.dumps(to_json(statement), indent=1, ensure_ascii=False)


def _without_markup(text: str) -> str:
    """``text`` without the characters that Markdown or HTML give a meaning."""
    return _MARKUP.sub(lambda found: f"\\{found[0]}", text)


def _plain(text: str) -> str:
    """``text`` as plain text in Markdown: as :func:`_without_markup`, and an address is no link."""
    return _ADDRESS.sub(lambda found: f"&#{ord(found[0])};", _without_markup(text))


def html(statement: Statement) -> str:
    """The page as one HTML file for printing."""
    data = _json(statement).replace("<", "\\u003c")  # the end of a script, inside a text, would end it
    return page(
        "statement",
        title=_title(statement),
        verdict=verdict(statement),
        statement=statement,
        sections=list(sections(statement)),
        signed=SIGNED,
        data=data,
    )


_FORMS: Final[Mapping[str, tuple[Callable[[Statement], str], ...]]] = {
    "JSON": (),
    "Markdown": (markdown, _with_live_addresses),
    "HTML": (html,),
}
"""The pages that are valid for a statement by their form; a signed page of an earlier version stays valid."""


def read_statement(path: Path) -> Page:
    """The statement at ``path``: Markdown, HTML or its JSON form alone.

    Raises:
        StatementError: the file holds none.
        OSError: the file cannot be read.
    """
    with reading(path), path.open("rb") as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise StatementError(f"{path}: expected a statement of at most {LARGEST >> 20} MiB, but got more")
    text = content.decode("utf-8", "replace")
    kind, block = _block(text)
    if block is None:
        raise StatementError(
            f"{path}: expected a statement, as `conformance statement` writes it, and found no JSON in it"
        )
    try:
        data = safe_values(parse_json(block.encode()))
        version = data.get("schema_version") if isinstance(data, dict) else None
        if version != SCHEMA_VERSION:
            got = safe(repr(version))
            raise StatementError(f"{path}: expected a statement of schema version {SCHEMA_VERSION}, but got {got}")
        statement = from_json(Statement, data, path="statement")
    except (ForeignJsonError, RecordError) as error:
        raise StatementError(f"{path}: expected a statement: {safe(str(error))}") from None
    forms = _FORMS[kind]
    wrong = [_differs(text, made(statement)) for made in forms]
    return Page(statement, "" if "" in wrong or not wrong else wrong[0])


def _block(text: str) -> tuple[str, str | None]:
    """The form of a page, and the JSON in it; None for a page without JSON."""
    if text.lstrip().startswith("{"):
        return "JSON", text
    if _SCRIPT in text:
        return "HTML", text.rpartition(_SCRIPT)[2].partition("</script>")[0]
    block = re.search(rf"^{_FENCE}json\s*\n(.*?)\n^{_FENCE}\s*$", text, re.DOTALL | re.MULTILINE)
    return "Markdown", block[1] if block is not None else None


def _differs(text: str, due: str) -> str:
    """The first line of ``text`` that ``due`` does not have; lines for the signature may be filled in."""
    have, want = ([line.rstrip() for line in each.rstrip().splitlines()] for each in (text, due))
    for number, line in enumerate(have):
        wanted = want[number] if number < len(want) else ""
        filled = _FILLED.fullmatch(wanted)
        if line != wanted and not (filled and line.startswith(f"{filled[1]}:")):
            return safe(f"line {number + 1}, {line[:100]!r}")
    return "" if len(have) >= len(want) else f"line {len(have) + 1}, which is missing"
