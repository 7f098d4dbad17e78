"""Judging whole streams, files and tensors: from bytes to verdicts, by the profile of their kind."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import pyarrow as pa

from conformance.contract.clause import CLAUSES, MAX_FINDINGS, Clause, Role, load_chapters
from conformance.contract.files import judge_bytes
from conformance.contract.ipc.ipcview import IPC_CASE, Attached, IpcView
from conformance.contract.ipc.unread import judge_read
from conformance.contract.raised import Raised, attempt
from conformance.records import Finding, Outcome, Verdict
from conformance.wire import Kind, TensorReading, sniff

__all__ = ["PROFILE_OF", "ipc_clauses", "judge_ipc"]

PROFILE_OF: Final[Mapping[Kind, str]] = MappingProxyType({kind: f"ipc-{kind}" for kind in Kind})
"""The profile of each kind: ``ipc-message``, ``ipc-stream``, ``ipc-file``, ``ipc-tensor``."""

MAX_STREAMS: Final = 64
"""The number of streams behind the first one that are judged."""


def judge_ipc(
    data: bytes,
    kind: Kind | None = None,
    *,
    expected: Sequence[pa.RecordBatch] | None = None,
    attached: Attached | None = None,
    given: TensorReading | None = None,
    writer: bool | None = None,
    read_back: str | None = None,
) -> list[Verdict]:
    """Return the verdicts on ``data`` as one stream, file or tensor; without ``kind``, of the kind that it seems to be.

    With ``expected``, the content of the bytes is compared with these batches; ``attached`` is the metadata that the
    writer was asked to put on batches or on the file. ``given`` is the tensor that a writer of tensors was given.
    ``read_back`` is the error with which the writer's own library reads the bytes, empty if it reads them.
    ``writer`` includes the clauses on writers, which require more than the format does; the default is to include them
    if the writer's input is known. In
    findings the call is 0, and bytes count from the first byte of ``data``. Streams behind the first one are judged,
    too, by the clauses on bytes. A message alone is judged as a schema by
    :func:`conformance.contract.files.judge_bytes`.
    """
    kind = sniff(data) if kind is None else kind
    if kind is Kind.MESSAGE:
        return judge_bytes(data, [], profile=PROFILE_OF[kind])
    asked = (expected is not None or given is not None) if writer is None else writer
    view = IpcView(data, kind, expected, attached, given, read_back=read_back)
    verdicts = judge_read(view, ipc_clauses(PROFILE_OF[kind], writer=asked))
    following = _following(view)
    return verdicts if following is None else _joined(verdicts, *_judged_from(data, following))


def _following(view: IpcView) -> int | None:
    """The offset of another stream behind this one; None if there is none, or reading this one raised."""
    stream = attempt(lambda: view.stream) if view.kind is Kind.STREAM else None
    return None if stream is None or isinstance(stream, Raised) or not stream.followed else stream.end


def _judged_from(data: bytes, start: int) -> Iterator[list[Verdict]]:
    """Yield the verdicts on each stream from ``start`` on; beyond :data:`MAX_STREAMS`, that they are not judged."""
    clauses = ipc_clauses(PROFILE_OF[Kind.STREAM])
    for _ in range(MAX_STREAMS):
        view = IpcView(data[start:], Kind.STREAM)
        yield [
            dataclasses.replace(one, findings=tuple(_moved(finding, start) for finding in one.findings))
            for one in judge_read(view, clauses)
        ]
        following = _following(view)
        if following is None:
            return
        start += following
    reason = f"there are more than {MAX_STREAMS} streams, where the suite stops reading"
    yield [Verdict(IPC_CASE.id, one.id, Outcome.UNTESTABLE, reason=reason) for one in clauses]


def _moved(finding: Finding, by: int) -> Finding:
    if finding.start is None or finding.end is None:
        return finding
    return dataclasses.replace(finding, start=finding.start + by, end=finding.end + by)


def _joined(first: list[Verdict], *others: list[Verdict]) -> list[Verdict]:
    """One verdict per clause: of several streams, the first that is not a pass, with the findings of all."""
    made = {one.clause: one for one in first}
    for one in itertools.chain.from_iterable(others):
        before = made.setdefault(one.clause, one)
        if before is one:
            continue
        if before.findings:
            findings = (*before.findings, *one.findings)[:MAX_FINDINGS]
            made[one.clause] = dataclasses.replace(before, findings=findings)
        elif one.findings or before.outcome is Outcome.PASS:
            made[one.clause] = one
    return list(made.values())


def ipc_clauses(profile: str, *, writer: bool = False) -> tuple[Clause, ...]:
    """Return the clauses of a profile on bytes; those on writers as well, if asked for."""
    load_chapters()
    return _clauses(profile, len(CLAUSES), writer=writer)


@functools.lru_cache(maxsize=16)
def _clauses(profile: str, _number: int, *, writer: bool) -> tuple[Clause, ...]:
    """Return these clauses, cached for a given size of the register, which only grows."""
    roles = {Role.BYTES, Role.WRITER} if writer else {Role.BYTES}
    return tuple(one for one in CLAUSES.values() if profile in one.profiles and one.role in roles)
