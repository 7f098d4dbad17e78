"""What was not judged in a stream or file, said of each clause that did not fail.

A clause passes if nothing is found. Where a fault keeps the suite from reading what the clause is about, nothing can be
found, so the verdict gives the reason instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from conformance.contract.clause import Clause
from conformance.contract.ipc.ipcview import IPC_CASE, IpcView
from conformance.contract.ipc.selectors import encoded
from conformance.contract.judge import judge_view
from conformance.contract.messages import bodies
from conformance.contract.raised import Raised, attempt
from conformance.records import Outcome, Verdict
from conformance.wire import Header, Rule, WireRule

__all__ = ["judge_read"]

_BATCHES: Final = frozenset({Header.RECORD_BATCH, Header.DICTIONARY_BATCH})
_IN_BUFFERS: Final = frozenset(
    {"validity", "offsets", "data", "compression", "utf8", "decimal", "time", "date64", "null", "struct"}
    | {"fixed-size-list", "list-view", "map", "view", "run-ends", "union", "dictionary"}
)
"""Groups of rules on what is in the buffers: they are judged only if the header of a batch fits its schema."""
_IN_VALUES: Final = frozenset({Rule.BATCH_NULL_COUNT_MISMATCH, Rule.BATCH_NULLS_IN_NON_NULLABLE})
_IN_HEADERS: Final = frozenset({Rule.COMPRESSION_CODEC_UNKNOWN, Rule.COMPRESSION_METHOD_UNKNOWN})


def judge_read(view: IpcView, clauses: Sequence[Clause]) -> list[Verdict]:
    """Return the verdicts of ``clauses`` on a view; a clause on what could not be read is not judged, with the reason.

    Of a stream or file below V4, every clause that does not fail is not judged.
    """
    found = {one.clause: one for one in judge_view(view, clauses)}
    stream = attempt(lambda: view.stream)
    if isinstance(stream, Raised):
        return list(found.values())  # each clause that needs the stream says what it raised
    if stream is not None and stream.outdated:
        reason = f"{stream.messages[0].version} has other tables and layouts than V4 and V5"
        return _replaced(clauses, found, {clause.id: reason for clause in clauses})
    unread = sorted(_unread(view), key=lambda one: one.headed)  # those without a legible header first
    if not unread:
        return list(found.values())
    headed, reason = unread[0].headed, unread[0].reason
    about = (clause for clause in clauses if _is_about(clause, headed=headed, judged=clause.id in found))
    return _replaced(clauses, found, {clause.id: reason for clause in about})


class _Unread(NamedTuple):
    """A batch whose body was not judged or is not all there: whether its header was judged, and why."""

    headed: bool
    reason: str


def _unread(view: IpcView) -> Iterator[_Unread]:
    """Each such batch; a message that does not say what it is may be one."""
    headed = {id(one) for one in bodies(view)}
    for batch in view.batches:
        message, read = batch.first, batch.message
        if message is None:
            continue
        place = f"message at byte {message.start}"
        if message.header is Header.UNKNOWN:
            yield _Unread(headed=False, reason=f"the {place} could not be read")
        elif message.header in _BATCHES and (read is None or read.body is None):
            reason = f"the {message.header} {place} could not be read by its schema"
            yield _Unread(headed=id(batch) in headed, reason=reason)
        elif read is not None and any(fault.rule is Rule.MESSAGE_BODY_TRUNCATED for fault in read.faults):
            yield _Unread(headed=id(batch) in headed, reason=f"the bytes end within the {message.header} {place}")


def _is_about(clause: Clause, *, headed: bool, judged: bool) -> bool:
    if clause.over is encoded:
        return judged and all(map(_is_in_buffers, clause.rules))
    return clause.over is bodies and (not headed or all(map(_is_in_buffers, clause.rules)))


def _is_in_buffers(rule: WireRule) -> bool:
    """True if a rule is about the content of buffers."""
    if rule.startswith("dictionary."):
        return rule in (Rule.DICTIONARY_INDEX_NEGATIVE, Rule.DICTIONARY_INDEX_RANGE, Rule.DICTIONARY_MISSING)
    return rule in _IN_VALUES or (rule.partition(".")[0] in _IN_BUFFERS and rule not in _IN_HEADERS)


def _replaced(clauses: Sequence[Clause], found: dict[str, Verdict], reasons: dict[str, str]) -> list[Verdict]:
    """The verdicts in the order of the clauses, with a reason in place of a pass, or of no verdict."""
    told: list[Verdict] = []
    for clause in clauses:
        verdict, reason = found.get(clause.id), reasons.get(clause.id, "")
        if reason and (verdict is None or verdict.outcome is Outcome.PASS):
            verdict = Verdict(IPC_CASE.id, clause.id, Outcome.UNTESTABLE, reason=reason)
        if verdict is not None:
            told.append(verdict)
    return told
