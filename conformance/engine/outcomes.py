"""Which outcome it is, and of which class: the rules that the judge, who sees one exchange, cannot apply.

The judge speaks of clauses. Whether a failure is a crash or a hang depends on how the calls ended, and a case that
died where no clause was looking must not go unseen; that is decided here.
A *reason class* is what a failure is a failure of, without the data of the case: two failures of one class are
one deviation, and an expected failure excuses its class and no other.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from conformance.contract.clause import Clause
from conformance.contract.raised import reason_of
from conformance.engine.selection import Patterns
from conformance.records import CallEnd, Case, Exchange, Finding, Outcome, Verdict

__all__ = ["BROKE", "WHOLE_CASE", "finding_class", "reason_classes", "refine", "shape", "unsupported", "whole_case"]

WHOLE_CASE: Final = "case"
"""The clause id of a verdict about a case as a whole: an error of the suite, a crash that no clause saw."""

BROKE: Final = "the suite itself broke"
"""How the reason of an *error* of a whole case begins."""

_DIED: Final = {
    CallEnd.CRASH: Outcome.CRASH,
    CallEnd.DEADLINE: Outcome.HANG,
    CallEnd.OVER_BUDGET: Outcome.HANG,
}

_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`")
_BREAK = re.compile(r"\\[nrt]")
"""A line end or tab in foreign text, as :func:`conformance.contain.text.safe` leaves it: white space here."""
_HEXADECIMAL = re.compile(
    r"\b0x[0-9a-fA-F]+\b|(?<![\w.])-?(?=[a-f]*\d)[0-9a-f]{8,}\b|\b[0-9a-fA-F]{2}(?: [0-9a-fA-F]{2}){2,}\b"
)
_NUMBER = re.compile(r"(?<![A-Za-z_\d])[-+]?\d[\d_]*(?:\.\d+)?(?:[eE][-+]?\d+)?")
_STATUS = re.compile(r"^([A-Z]+(?:_[A-Z]+)*): .*", re.DOTALL)
_READERS: Final = "readers."
_BRACES = re.compile(r"\{[^{}]*\}|(?<!\w)\[[^\[\]]*\]")
_UNCLOSED = re.compile(r"\{.*$")
_MORE = re.compile(r" and # more\b")
_RUN = re.compile(r"(['#]…?'?)(?:, \1)+")

MAX_CLASS: Final = 120
"""Characters of a reason class: enough to tell failures apart, short enough for a line of a TOML file."""


def shape(text: str) -> str:
    """``text`` without its data: quoted text becomes ``'…'``, numbers become ``#``, rows and lists ``<…>``.

    >>> shape("row 3 of column 'a': expected 17, found 18")
    "row # of column '…': expected #, found #"
    """
    text = _collapsed(_QUOTED.sub("'…'", " ".join(_BREAK.sub(" ", text).split())))
    text = _NUMBER.sub("#", _HEXADECIMAL.sub("#", text))
    text = _MORE.sub("", _RUN.sub(r"\1", text))
    return text if len(text) <= MAX_CLASS else text[: MAX_CLASS - 1] + "…"


def _collapsed(text: str) -> str:
    """``text`` with rows and lists, however deep and however cut, as ``<…>``; a type's own brackets stay."""
    while (shorter := _BRACES.sub("<…>", text)) != text:
        text = shorter
    return _UNCLOSED.sub("<…>", text)


def finding_class(outcome: Outcome, finding: Finding) -> str:
    """The reason class of one finding of a verdict with ``outcome``."""
    return f"{outcome}: {shape(_nameless(finding))} (required: {shape(finding.required)})"


def _nameless(finding: Finding) -> str:
    """What was observed, without what tells cases apart and not failures.

    The description of the very field (``name: type``) is one such thing, for its place is told apart.
    The prose behind a gRPC status is another: the status is the code, the prose quotes the request.
    A reader's own words are a third: which reader it is and what became of it stand before them.
    """
    if finding.clause.startswith(_READERS):
        return finding.observed.partition(": ")[0]
    name = finding.field.rpartition(".")[2]
    if name and finding.observed.startswith(f"{name}: "):
        return "'…': its type"
    return _STATUS.sub(r"\1: …", finding.observed)


def reason_classes(verdict: Verdict) -> tuple[str, ...]:
    """The reason classes of ``verdict``, one per distinct finding, in their order; its reason where it has none."""
    if not verdict.findings:
        return (f"{verdict.outcome}: {shape(verdict.reason)}",)
    return tuple(dict.fromkeys(finding_class(verdict.outcome, finding) for finding in verdict.findings))


def whole_case(case: Case, outcome: Outcome, reason: str) -> Verdict:
    """A verdict about ``case`` as a whole."""
    return Verdict(case.id, WHOLE_CASE, outcome, reason=reason)


def unsupported(case: Case, clauses: Iterable[Clause], reason: str) -> list[Verdict]:
    """The verdicts of a case that was not put to the target: one per clause that it exists to observe."""
    globs: Patterns = Patterns(case.clauses)
    named = [clause.id for clause in clauses if case.clauses and globs.match(clause.id)]
    verdicts = [Verdict(case.id, name, Outcome.UNSUPPORTED, reason=reason) for name in named]
    return verdicts or [whole_case(case, Outcome.UNSUPPORTED, reason)]


def refine(
    case: Case,
    exchange: Exchange,
    verdicts: Sequence[Verdict],
    reason_not_judged: Callable[[], tuple[Outcome, str]],
    *,
    passed: bool = False,
) -> list[Verdict]:
    """``verdicts`` as the judge gave them, with what is known of how the calls ended.

    A failure seen only on calls that died is a crash or a hang. ``reason_not_judged`` names the first thing that
    went wrong in the exchange (:meth:`conformance.contract.view.View.reason_not_judged`): a death or a refusal that no
    clause has failed for fails the case as a whole, so that nothing is lost because no clause was looking.
    What a refusal kept from being seen depends on it, where a clause has failed for that very call.
    A case without any verdict gets one that says so; with ``passed`` there are passes that ``verdicts`` leaves out.
    """
    refined = _explained([_died(verdict, exchange) for verdict in verdicts])
    if any(verdict.outcome.fails_run and verdict.outcome is not Outcome.ERROR for verdict in refined):
        return refined
    try:
        outcome, reason = reason_not_judged()
    except Exception as error:  # noqa: BLE001  # the verdicts of the clauses stand, whatever this was
        outcome, reason = Outcome.ERROR, reason_of(error)
    if outcome.fails_run or not (refined or passed):
        refined.append(whole_case(case, outcome, reason))
    return refined


def _explained(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The verdicts, with those refused for a call that a clause has failed for as failed dependencies."""
    failed = {f"call {one.call}" for verdict in verdicts if verdict.outcome is Outcome.FAIL for one in verdict.findings}
    return [
        dataclasses.replace(verdict, outcome=Outcome.DEPENDENCY_FAILED)
        if verdict.outcome is Outcome.REFUSED and verdict.reason.partition(",")[0] in failed
        else verdict
        for verdict in verdicts
    ]


def _died(verdict: Verdict, exchange: Exchange) -> Verdict:
    if verdict.outcome is not Outcome.FAIL:
        return verdict
    ends = {None if finding.call is None else exchange.calls[finding.call].end for finding in verdict.findings}
    outcomes = {Outcome.FAIL if end is None else _DIED.get(end, Outcome.FAIL) for end in ends}
    return dataclasses.replace(verdict, outcome=outcomes.pop()) if len(outcomes) == 1 else verdict
