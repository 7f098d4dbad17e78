"""Rewrite the expected failures of a target file from a run: sorted, stable, and without other changes.

The TOML file has the list as ``[[expected_failures]]`` tables. They are cut out and written again at the end of the
file; every other line stays as its owner wrote it, comments included. The written file parses to the intended entries.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from conformance.disk.files import write_whole
from conformance.engine.expectations import covers_any, glob_match
from conformance.engine.result import Result
from conformance.engine.shown import skipped
from conformance.records import Outcome
from conformance.targets import ExpectedFailure, TargetError
from conformance.targets.drafting import quoted

__all__ = ["describe_changes", "repaired", "rewrite"]

_TABLE: Final = "expected_failures"
_HEADER = re.compile(r"\s*\[+\s*([^\[\]]+?)\s*\]+\s*(#.*)?")
_KEYS: Final = ("clause", "case", "reason", "note", "issue", "sometimes")
_EXCUSABLE: Final = frozenset({Outcome.FAIL, Outcome.CRASH, Outcome.HANG, Outcome.REFUSED})


def repaired(result: Result, entries: Sequence[ExpectedFailure]) -> list[ExpectedFailure]:
    """``entries``, corrected by ``result``.

    An entry is kept if it excuses a failure of the run, if its failure could have occurred on cases or clauses that
    were not chosen, or if it says *sometimes* and covers anything. Each failure that nothing excuses gets an entry of
    its own, for all cases; it says *sometimes* if a run that repeated its cases saw it only sometimes.
    """
    expected = result.listed(Outcome.EXPECTED_FAIL)
    cases, clauses = ([*skipped(result.start.left_out, kind)] for kind in ("case", "clause"))
    # The run names the entries that it was given; the file may have changed since.
    decided = result.start.decided if tuple(entries) == result.start.expectations else ()
    kept = [
        entry
        for index, entry in enumerate(entries)
        if any(
            glob_match(clause, entry.clause) and glob_match(item.reason, entry.reason)
            for item in expected
            for clause in item.clauses
            if any(glob_match(case_id, entry.case) for case_id in item.cases)
        )
        or (entry.sometimes and _met(entry, result))
        or (index not in decided and covers_any(entry, cases, clauses))
    ]
    new = [
        ExpectedFailure(clause, item.reason, sometimes=item.sometimes)
        for item in result.failed
        if item.outcome in _EXCUSABLE
        for clause in item.clauses
    ]
    return sorted(dict.fromkeys([*kept, *new]), key=_order)


def _met(entry: ExpectedFailure, result: Result) -> bool:
    """True if ``entry`` covers a verdict of the run."""
    return any(
        glob_match(verdict.clause, entry.clause) and glob_match(verdict.case_id, entry.case)
        for verdict in result.verdicts
    )


def _order(entry: ExpectedFailure) -> tuple[str, ...]:
    return entry.clause, entry.case, entry.reason, entry.note, entry.issue, str(entry.sometimes)


def describe_changes(before: Iterable[ExpectedFailure], after: Iterable[ExpectedFailure]) -> list[str]:
    """One line per removed (``-``) or added (``+``) entry."""
    old, new = set(before), set(after)
    gone = [f"- {_words(entry)}" for entry in sorted(old - new, key=_order)]
    return gone + [f"+ {_words(entry)}" for entry in sorted(new - old, key=_order)]


def _words(entry: ExpectedFailure) -> str:
    where = "" if entry.case == "*" else f" on {entry.case}"
    often = " (sometimes)" if entry.sometimes else ""
    return f"{entry.clause}{where}: {entry.reason}{often}"


def rewrite(path: Path, entries: Sequence[ExpectedFailure]) -> None:
    """Write ``entries`` into the target file at ``path``, in place of those it contains.

    Raises:
        TargetError: the new text would not parse to the intended entries; the file is left unchanged.
    """
    before = path.read_text(encoding="utf-8")
    after = (
        _without_table(before).rstrip("\n")
        + "\n"
        + "".join(f"\n{_toml(entry)}" for entry in sorted(entries, key=_order))
    )
    wanted = tomllib.loads(before) | {_TABLE: [_values(entry) for entry in sorted(entries, key=_order)]}
    if not entries:
        del wanted[_TABLE]
    try:
        safe = tomllib.loads(after) == wanted
    except tomllib.TOMLDecodeError:
        safe = False
    if not safe:
        raise TargetError(
            f"{path}: cannot rewrite expected failures that are not [[{_TABLE}]] tables; write them as such first"
        )
    write_whole(path, after)


def _without_table(text: str) -> str:
    """``text`` without the ``[[expected_failures]]`` tables: each from its header to the next one.

    Comments right above a header belong to the table below them, so they end the table before it.
    """
    kept: list[str] = []
    pending: list[str] = []
    inside = False
    for line in text.splitlines(keepends=True):
        header = _HEADER.fullmatch(line.rstrip("\r\n"))
        if header is not None:
            was_inside, inside = inside, header[1].strip("\"' ") == _TABLE
            if not inside:
                kept += pending if was_inside else []
                kept.append(line)
            pending = []
        elif not inside:
            kept.append(line)
        elif line.lstrip().startswith("#") or not line.strip():
            pending.append(line)
        else:
            pending = []
    return "".join(kept)


def _values(entry: ExpectedFailure) -> dict[str, str | bool]:
    default = ExpectedFailure(entry.clause, entry.reason)
    chosen = {key: getattr(entry, key) for key in _KEYS}
    return {
        key: value for key, value in chosen.items() if key in ("clause", "reason") or value != getattr(default, key)
    }


def _toml(entry: ExpectedFailure) -> str:
    lines = [
        f"{key} = {str(value).lower() if isinstance(value, bool) else quoted(value)}"
        for key, value in _values(entry).items()
    ]
    return f"[[{_TABLE}]]\n" + "\n".join(lines) + "\n"
