"""Turn verdicts into final outcomes and failure classes, using how the calls ended, which the judge does not see.

The judge decides per clause. This module decides whether a failure is a crash or a hang, and makes sure that a case
that died is reported even if no clause failed.
A *reason class* describes a failure without the data of the case: two failures of one class are one deviation, and an
expected failure excuses its class and no other.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from conformance.contract.clause import Clause, is_binding
from conformance.contract.comparing.received import IN_ROW
from conformance.contract.raised import reason_of
from conformance.contract.wholecase import WHOLE_CASE
from conformance.engine.selection import Patterns
from conformance.records import CallEnd, Case, Exchange, Finding, Outcome, Verdict

__all__ = [
    "BROKE",
    "WHOLE_CASE",
    "answer_that",
    "finding_class",
    "first_line",
    "reason_classes",
    "refine",
    "shape",
    "unsupported",
    "whole_case",
]

BROKE: Final = "the suite itself broke"
"""The beginning of the reason of an *error* of a whole case."""

_DIED: Final = {
    CallEnd.CRASH: Outcome.CRASH,
    CallEnd.DEADLINE: Outcome.HANG,
    CallEnd.OVER_BUDGET: Outcome.HANG,
}

_QUOTED = re.compile(r"(?<!\w)b?'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`")
_BREAK = re.compile(r"\\t")
"""A tab in foreign text, as :func:`conformance.contain.text.safe` writes it: white space here."""
_LINES = re.compile(r"(?:\\[nr]|[\n\r]).*", re.DOTALL)
"""All behind the first line of a text, whose line ends may be written as :func:`conformance.contain.text.safe` does."""
_BYTES = re.compile(r"(?<=\bbytes )[0-9a-f]{2}(?: [0-9a-f]{2})*\b")
_HEXADECIMAL = re.compile(
    r"\b0x[0-9a-fA-F]+\b|(?<![\w.])-?(?=[a-f]*\d)[0-9a-f]{8,}\b|\b[0-9a-fA-F]{2}(?: [0-9a-fA-F]{2}){2,}\b"
)
_ONE = re.compile(
    r"(?<![\w.,-])1 ((?:[a-z]+ )?)(bit|buffer|byte|child|column|count|dimension|element|entry|field|id|index|item|list|"
    r"message|node|null|pair|place|response|row|run|slot|split|stream|stride|table|value|pointer)\b"
)
_PLURALS: Final = {"child": "children", "entry": "entries"}
_NUMBER = re.compile(r"(?<![A-Za-z_\d])[-+]?\d[\d_]*(?:\.\d+)?(?:[eE][-+]?\d+)?")
_HINT = re.compile(r"; byte-swapped it would be #| \(hint: [^()]*\)")
_STATUS = re.compile(r"^([A-Z]+(?:_[A-Z]+)*): .*", re.DOTALL)
_READERS: Final = "readers."
_ON_CLIENTS: Final = "-client."
"""In the ids of clauses on clients of other protocols than the default one."""
_VALUES: Final = "values."
_SAYS_END: Final = ", and ends with {end} {when} its messages"
"""How :func:`answer_that` says that a call ends early. A class keeps the moment, not the end and not the content."""
_ENDED = re.compile(r"(, where the answer of \w+) has .*" + _SAYS_END.format(end=r"\w+", when=r"(\w+)") + "$")
_ITEMS = re.compile(r"\d+ items?")
_BRACES = re.compile(r"\{[^{}]*\}|(?<!\w)\[[^\[\]]*\]|(?<=\w)<[^<>]*>")
_UNCLOSED = re.compile(r"\{.*$")
_MORE = re.compile(r" and # more\b")
_RUN = re.compile(r"(['#]…?'?)(?:, \1)+")

MAX_CLASS: Final = 120
"""The longest reason class in characters: enough to distinguish failures, short enough for a line of a TOML file."""


def first_line(text: str) -> str:
    """``text`` up to its first line end outside of quotes, for a heading: what a program says behind it is a trace."""
    hidden = _QUOTED.sub(lambda found: "'" * len(found[0]), text)
    end = _LINES.search(hidden)
    return text if end is None else f"{text[: end.start()]}…"


def shape(text: str) -> str:
    """``text`` without its data: quoted text becomes ``'…'``, numbers become ``#``, rows and lists ``<…>``.

    Of several lines only the first counts: databases and compilers repeat in the others what they were given.

    What varies with the data varies with nothing else: counts are in the plural, and a remark on the other byte order,
    which only some numbers permit, is left out. So is a hint at what is behind it.

    >>> shape("row 3 of column 'a': expected 17, found 18")
    "row # of column '…': expected #, found #"
    >>> shape("1 byte of metadata") == shape("24 bytes of metadata")
    True
    """
    text = _LINES.sub(" …", _QUOTED.sub("'…'", text.strip()))
    text = _collapsed(" ".join(_BREAK.sub(" ", text).split()))
    text = _ONE.sub(lambda one: f"1 {one[1]}{_PLURALS.get(one[2], one[2] + 's')}", text)
    text = _NUMBER.sub("#", _HEXADECIMAL.sub("#", _BYTES.sub("#", text)))
    text = _HINT.sub("", _MORE.sub("", _RUN.sub(r"\1", text)))
    return text if len(text) <= MAX_CLASS else text[: MAX_CLASS - 1] + "…"


def _collapsed(text: str) -> str:
    """``text`` with rows, lists and the children of types as ``<…>``, however deep they nest and wherever they are cut;
    the units of a type stay.
    """
    while (shorter := _BRACES.sub("\0", text)) != text:
        text = shorter
    return _UNCLOSED.sub("\0", text).replace("\0", "<…>")


def finding_class(outcome: Outcome, finding: Finding) -> str:
    """The reason class of one finding of a verdict with ``outcome``.

    Of two values that differ, the class says only whether one is NULL or a list has another number of items.
    """
    observed, required = _nameless(finding), finding.required
    if finding.clause.startswith(_VALUES) and (place := IN_ROW.search(observed)) is not None:
        observed, required = _value(observed[: place.start()]), _value(required)
    return f"{outcome}: {shape(observed)} (required: {shape(required)})"


def _value(text: str) -> str:
    return text if text == "NULL" or _ITEMS.fullmatch(text) else "'…'"


def _nameless(finding: Finding) -> str:
    """The observed text without the parts that vary between cases with the same failure.

    It drops the description of the field (``name: type``), because the finding names its place separately; the prose
    after a gRPC status, because the prose quotes the request; a reader's own words, because the text before them names
    the reader and its outcome; and the messages before the end of a call, where a client is judged by that end.
    """
    if _ON_CLIENTS in finding.clause:
        return _ENDED.sub(r"\1 ends \2 its messages", finding.observed)
    if finding.clause.startswith(_READERS):
        return finding.observed.partition(": ")[0]
    name = finding.field.rpartition(".")[2]
    if name and finding.observed.startswith(f"{name}: "):
        return "'…': its type"
    return _STATUS.sub(r"\1: …", finding.observed)


def answer_that(method: str, title: str, end: str = "", when: str = "") -> str:
    """What is unusual in an answer to a client, in words. With an ``end``, a class does not have ``title``.

    >>> answer_that("DoGet", "three batches", "INTERNAL", "behind")
    'the answer of DoGet has three batches, and ends with INTERNAL behind its messages'
    """
    return f"the answer of {method} has {title}{_SAYS_END.format(end=end, when=when) if end else ''}"


def reason_classes(verdict: Verdict) -> tuple[str, ...]:
    """The reason classes of ``verdict``, one per distinct finding, in their order; the class of its reason if it has
    no finding.
    """
    if not verdict.findings:
        return (f"{verdict.outcome}: {shape(verdict.reason)}",)
    return tuple(dict.fromkeys(finding_class(verdict.outcome, finding) for finding in verdict.findings))


def whole_case(case: Case, outcome: Outcome, reason: str) -> Verdict:
    """A verdict about ``case`` as a whole."""
    return Verdict(case.id, WHOLE_CASE, outcome, reason=reason)


def unsupported(case: Case, clauses: Iterable[Clause], reason: str) -> list[Verdict]:
    """The verdicts of a case that was not put to the target: one per clause that the case is made for."""
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
    """``verdicts`` of the judge, corrected by how the calls ended.

    A failure that occurs only on calls that died is a crash or a hang. ``reason_not_judged`` returns the first thing
    that went wrong in the exchange (:meth:`conformance.contract.view.View.reason_not_judged`): if no clause failed, a
    death or a refusal fails the case as a whole, so that it is never lost. A clause that a refusal left without
    observation is a failed dependency if another clause failed on the same call. The failure of a MAY clause counts for
    neither: it fails no run.
    A case whose driver stopped before its end says so once.
    A case without any verdict gets one that says so; ``passed`` says that there are passes that ``verdicts`` leaves
    out.
    """
    refined = _explained([_died(verdict, exchange) for verdict in verdicts])
    if any(one.outcome.fails_run and one.outcome is not Outcome.ERROR and not _is_optional(one) for one in refined):
        return refined
    try:
        outcome, reason = reason_not_judged()
    except Exception as error:  # noqa: BLE001  # the verdicts of the clauses are kept, whatever failed here
        outcome, reason = Outcome.ERROR, reason_of(error)
    stopped = exchange.stopped and all(verdict.reason != exchange.stopped for verdict in refined)
    if outcome.fails_run or stopped or not (refined or passed):
        refined.append(whole_case(case, outcome, reason))
    return refined


def _explained(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The verdicts; those refused for a call on which a clause failed become failed dependencies."""
    binding = (one for one in verdicts if one.outcome is Outcome.FAIL and not _is_optional(one))
    failed = {f"call {finding.call}" for one in binding for finding in one.findings}
    return [
        dataclasses.replace(verdict, outcome=Outcome.DEPENDENCY_FAILED)
        if verdict.outcome is Outcome.REFUSED and verdict.reason.partition(",")[0] in failed
        else verdict
        for verdict in verdicts
    ]


def _is_optional(verdict: Verdict) -> bool:
    return verdict.outcome is Outcome.FAIL and not is_binding(verdict.clause)


def _died(verdict: Verdict, exchange: Exchange) -> Verdict:
    if verdict.outcome is not Outcome.FAIL:
        return verdict
    ends = {None if finding.call is None else exchange.calls[finding.call].end for finding in verdict.findings}
    outcomes = {Outcome.FAIL if end is None else _DIED.get(end, Outcome.FAIL) for end in ends}
    return dataclasses.replace(verdict, outcome=outcomes.pop()) if len(outcomes) == 1 else verdict
