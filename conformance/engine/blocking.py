"""Which clauses a case did not judge because of what failed on it, and would judge if that were mended.

A failure blocks a clause in one of two ways. It ended a call: nothing that the call had to bring was there. Or it is
one after which the judge cannot go on: :data:`_TABLE`, written from runs of the reference with one mutant each. Any
other failure of the same case blocks nothing: an absent trace id hides no expiry.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from conformance._globs import matches
from conformance.contract.view import NOTHING_SHOWN
from conformance.engine.dependence import BYTES, ROWS, Symptom
from conformance.engine.events import CaseJudged
from conformance.engine.outcomes import WHOLE_CASE
from conformance.engine.result import NOT_JUDGED
from conformance.records import Outcome

__all__ = ["blocked", "call_in"]

CONTENT: Final = (*ROWS, "values.*")
"""Clauses that are judged only where rows were decoded."""

HARMLESS: Final = (
    "body.length-multiple-of-8", "body.required-without-nulls", "body.child-lengths*", "body.buffers-aligned",
    "body.padding-zero", "body.no-unused-bytes", "body.text-utf8", "body.decimals-*", "body.times-*", "layouts.*",
    "buffers.empty-frame", "buffers.frame-length",
    "framing.metadata-[!l]*", "framing.schema-without-[!d]*", "framing.*-single-message",
    "structure.booleans", "structure.no-stale-bytes", "structure.version*", "structure.metadata-pairs",
)  # fmt: skip
"""The clauses on bytes after whose failure a message is decoded all the same."""

ANSWERED: Final = ("[!ce]*", "co*")
"""The clauses on what a session brings: all but those on how calls end and on what a refusal says."""

_TABLE: Final[Sequence[tuple[tuple[str, ...], tuple[str, ...]]]] = (
    (("session.answer-is-a-session", "session.carries-a-schema", "session.schema-is-of-the-format",
      "session.rows-have-a-stream", "rows.response-is-a-message", "rows.payload-is-of-the-format",
      "rows.every-response-has-a-payload"), ANSWERED),
    (("session.answer-is-a-session", "rows.response-is-a-message"), ("encoding.*",)),
    (("session.answer-is-a-session", "session.rows-have-a-stream", "errors.permanent-one-is-not-unknown"),
     ("errors.*",)),
    (("structure.slots-in-table",), ("structure.*", "body.*", "buffers.*", "compression.*")),
    (("structure.strings-*",), ("framing.*", "schema.*", "types.*", "values.*", "history.*")),
    (("schema.little-endian", "body.validity-*", "body.column-lengths"),
     ("rows.*", "values.*", "restriction.*", "projection.*")),
    (("rows.first-response-has-the-schema",), ("rows.schema-is-the-sessions", "offsets.resumed-schema-*")),
    (("*-is-refused", "restriction.bad-one-yields-no-rows"), ("errors.*", "*-has-its-code")),
    (("session.expire-time-is-set", "session.expire-time-is-ahead"), ("session.expire-time-*",)),
    (("session.name-has-the-pattern",), ("session.name-is-in-the-parent",)),
    (("rows.progress-*",), ("rows.progress-*",)),
    # Nobody knows the children, and the case may have been there for what is done with them.
    (("split.answer-is-a-message",), ("split.*", "history.*", "abandon.*", "offsets.resumed-*")),
    (ROWS, ("history.*", "combination.*", "offsets.*", "rows.progress-*")),
    # A filter that wrongly selects nothing leaves a session without streams.
    (("restriction.[!m]*",), ("values.*", "rows.*", "responses.*", "session.stream*", "framing.batch-*", "body.*",
      "buffers.*", "compression.*", "structure.versions-agree")),
    (("schema.columns-present",), ("schema.metadata-*", "types.*", "values.*")),
    (("types.*", "projection.record-comes-whole"), ("types.*", "values.*", "schema.metadata-*")),
    (("compression.*-is-applied",), ("compression.codec-is-the-one-asked-for",)),
    (("compression.payload-size-is-set",), ("compression.payload-*",)),
)  # fmt: skip
"""Clauses by glob, and the clauses that a case does not judge if one of them fails on it."""

_CALL: Final = re.compile(r"call (\d{1,19})\b")


def call_in(reason: str) -> int | None:
    """The call that the reason of a verdict begins with."""
    found = _CALL.match(reason)
    return int(found[1]) if found else None


def blocked(
    cases: Iterable[CaseJudged], symptoms: Mapping[str, Sequence[Symptom]], ends: Callable[[Symptom], bool]
) -> Iterator[tuple[str, Symptom]]:
    """The clauses that cases did not judge, each with a symptom that kept one from it.

    ``symptoms`` are those of each case by its id, ``ends`` says whether one is the end of its call. A clause that
    some case left out although nothing on it explains that is one that the target does not show: nothing blocks it.
    """
    found: list[tuple[str, Symptom]] = []
    absent: set[str] = set()
    for case in cases:
        here = symptoms.get(case.case_id, ())
        for clause, call in _unjudged(case):
            if blocking := [*_blocking(case, clause, call, here, ends)]:
                found += ((clause, one) for one in blocking)
            else:
                absent.add(clause)
        absent.update(clause for clause in _not_shown(case) if not [*_blocking(case, clause, None, here, ends)])
    yield from ((clause, one) for clause, one in found if clause not in absent)


def _unjudged(case: CaseJudged) -> Iterator[tuple[str, int | None]]:
    """The clauses that a case owed and did not judge, and the call that the reason names."""
    for verdict in case.verdicts:
        if verdict.clause != WHOLE_CASE and verdict.outcome in (Outcome.DEPENDENCY_FAILED, Outcome.REFUSED):
            yield verdict.clause, call_in(verdict.reason)
    # Clauses that only the steps after the end would have shown are not distinguished from those that a failure hides.
    yield from ((clause, None) for clause in case.blocked if not case.stopped)


def _not_shown(case: CaseJudged) -> Iterator[str]:
    """The clauses that a case names, and that the target did not show in it."""
    return (one.clause for one in case.verdicts if (one.outcome, one.reason) == (Outcome.UNTESTABLE, NOTHING_SHOWN))


def _blocking(
    case: CaseJudged, clause: str, call: int | None, symptoms: Sequence[Symptom], ends: Callable[[Symptom], bool]
) -> Iterator[Symptom]:
    """The symptoms of a case that kept a clause from being judged: those on its call, else all that can."""
    can = [one for one in symptoms if ends(one) or _hides(case, one.clause, clause)]
    there = [one for one in can if call is not None and one.call == call]
    yield from there or [one for one in can if ends(one)] or can


def _hides(case: CaseJudged, cause: str, clause: str) -> bool:
    if matches(clause, _hidden_by(cause)):
        return True
    return matches(cause, BYTES) and not matches(cause, HARMLESS) and matches(clause, ANSWERED) and not _decoded(case)


@functools.cache
def _hidden_by(cause: str) -> tuple[str, ...]:
    """The clauses, as globs, that a failure of ``cause`` hides."""
    return tuple(glob for causes, hidden in _TABLE if matches(cause, causes) for glob in hidden)


def _decoded(case: CaseJudged) -> bool:
    return any(matches(one.clause, CONTENT) for one in case.verdicts if one.outcome not in NOT_JUDGED)
