"""Rewrite the expected failures of a target file from a run, without other changes.

The TOML file has the list as ``[[expected_failures]]`` tables. Those that stay keep their place and their comments,
those that excuse nothing are cut out, and new ones come last, sorted; every other line stays as its owner wrote it.
The written file parses to the intended entries.
"""

from __future__ import annotations

import dataclasses
import re
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from conformance.contain.text import quoted, safe
from conformance.disk.files import read_text, write_whole
from conformance.engine.expectations import covers_any, glob_match, is_for_another
from conformance.engine.result import Deviation, Result
from conformance.engine.shown import skipped
from conformance.generate.forms import BASE, form_id, parted
from conformance.records import Outcome
from conformance.targets import ExpectedFailure, TargetError

__all__ = ["describe_changes", "repaired", "rewrite"]

_TABLE: Final = "expected_failures"
_HEADER = re.compile(r"\s*\[+\s*([^\[\]]+?)\s*\]+\s*(#.*)?")
_REASON = re.compile(r"\s*reason\s*=")
_KEYS: Final = ("clause", "case", "reason", "note", "issue", "sometimes")
_EXCUSABLE: Final = frozenset({Outcome.FAIL, Outcome.CRASH, Outcome.HANG, Outcome.REFUSED})


def repaired(result: Result, entries: Sequence[ExpectedFailure]) -> list[ExpectedFailure]:
    """``entries``, corrected by ``result``.

    An entry is kept if it excuses a failure of the run, if its failure could have occurred on cases or clauses that
    were not chosen, or if it says *sometimes* and covers anything. An entry whose reason no failure has, although what
    it covers fails, gets the reason of that failure: an older suite had other words for it. Each other failure that
    nothing excuses gets an entry of its own, for all cases, or for all cases in the only form on which it occurred; it
    says *sometimes* if a run that repeated its cases saw it only sometimes.
    """
    expected = result.listed(Outcome.EXPECTED_FAIL)
    cases, clauses = ([*skipped(result.start.left_out, kind)] for kind in ("case", "clause"))
    # The run names the entries that it was given; the file may have changed since.
    decided = result.start.decided if tuple(entries) == result.start.expectations else ()
    kept = [
        entry
        for index, entry in enumerate(entries)
        if any(_excuses(entry, item) for item in expected)
        or (entry.sometimes and _met(entry, result))
        or (index not in decided and covers_any(entry, cases, clauses))
        or is_for_another(entry, result.start.form)
    ]
    idle = [entry for entry in entries if entry not in kept]
    for item in result.failed:
        for clause in item.clauses if item.outcome in _EXCUSABLE else ():
            open_cases = list(item.cases)
            for entry in idle:
                covered = [case_id for case_id in open_cases if glob_match(case_id, entry.case)]
                if covered and glob_match(clause, entry.clause) and _outcome(entry.reason) == _outcome(item.reason):
                    kept.append(dataclasses.replace(entry, reason=item.reason))
                    open_cases = [case_id for case_id in open_cases if case_id not in covered]
            if open_cases:
                kept.append(ExpectedFailure(clause, item.reason, _in_its_form(open_cases), sometimes=item.sometimes))
    return sorted(dict.fromkeys(kept), key=_order)


def _excuses(entry: ExpectedFailure, item: Deviation) -> bool:
    """True if ``entry`` covers the failure on one of its clauses and cases."""
    return (
        glob_match(item.reason, entry.reason)
        and any(glob_match(clause, entry.clause) for clause in item.clauses)
        and any(glob_match(case_id, entry.case) for case_id in item.cases)
    )


def _in_its_form(cases: Iterable[str]) -> str:
    """A pattern for every case, or for those in the one form of ``cases`` if this is not the base."""
    forms = {parted(case)[1] for case in cases}
    return form_id("*", forms.pop() if len(forms) == 1 else BASE)


def _outcome(reason: str) -> str:
    return reason.partition(":")[0]


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
    return safe(f"{entry.clause}{where}: {entry.reason}{often}")


def rewrite(path: Path, entries: Sequence[ExpectedFailure]) -> None:
    """Write ``entries`` into the file at ``path``, in place of those it contains; a list alone may be a new file.

    An entry of the file stays where it is, with its comments; if only its reason is another, that line is written
    again. New entries come last.

    Raises:
        TargetError: the new text would not parse to the intended entries; the file is left unchanged.
    """
    before = read_text(path) if path.exists() else ""
    end = "\r\n" if before.partition("\n")[0].endswith("\r") else "\n"
    new = [entry for entry in sorted(entries, key=_order) if entry not in _listed(before)]
    kept: list[str] = []
    for is_entry, lines in _parts(before):
        kept += _rewritten(lines, entries, new, end) if is_entry else lines
    after = "".join(kept)
    if after != before:
        # If the last entry goes, the empty lines above it do so as well.
        after = after.rstrip("\r\n") + end
    if new and before:
        after += "" if after.endswith("\n") else end
        after += end
    after += end.join(_toml(entry).replace("\n", end) for entry in new)
    try:
        same = sorted(_listed(after), key=_order) == sorted(entries, key=_order)
        safe = same and _without_list(after) == _without_list(before)
    except tomllib.TOMLDecodeError:
        safe = False
    if not safe:
        raise TargetError(
            f"{path}: cannot rewrite expected failures that are not [[{_TABLE}]] tables; write them as such first"
        )
    write_whole(path, after)


def _listed(text: str) -> list[ExpectedFailure]:
    return [ExpectedFailure(**entry) for entry in tomllib.loads(text).get(_TABLE, [])]


def _without_list(text: str) -> dict[str, object]:
    return {key: value for key, value in tomllib.loads(text).items() if key != _TABLE}


def _parts(text: str) -> list[tuple[bool, list[str]]]:
    """The lines of ``text``, divided at the headers, and for each part whether it is a table of the list.

    Comments right above a header belong to the table below them.
    """
    parts: list[tuple[bool, list[str]]] = [(False, [])]
    pending: list[str] = []
    # Not splitlines(): a comment and a text may have other characters that it takes for the end of a line.
    for line in re.findall(r"[^\n]*\n|[^\n]+", text):
        inside, lines = parts[-1]
        header = _HEADER.fullmatch(line.rstrip("\r\n"))
        if header is not None:
            parts.append((header[1].strip("\"' ") == _TABLE, [*pending, line]))
            pending = []
        elif inside and (line.lstrip().startswith("#") or not line.strip()):
            pending.append(line)
        else:
            lines += [*pending, line]
            pending = []
    parts[-1][1].extend(pending)
    return parts


def _rewritten(lines: list[str], entries: Sequence[ExpectedFailure], new: list[ExpectedFailure], end: str) -> list[str]:
    """The lines of a table of the file: as they are if its entry stays, with another reason if one of ``new`` differs
    in that alone, and none if the entry goes. An entry that was written leaves ``new``; a new line ends with ``end``.
    """
    try:
        (old,) = _listed("".join(lines))
    except tomllib.TOMLDecodeError:  # a text of several lines, one of which looks like the header of a table
        return lines
    if old in entries:
        return lines
    places = [place for place, line in enumerate(lines) if _REASON.match(line)]
    for entry in new:
        if dataclasses.replace(entry, reason=old.reason) == old and len(places) == 1:
            new.remove(entry)
            lines[places[0]] = f"reason = {quoted(entry.reason)}{end}"
            return lines
    return []


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
