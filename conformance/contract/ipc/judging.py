"""Judging whole streams, files and tensors: from bytes to verdicts, by the profile of their kind."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

import pyarrow as pa

from conformance.contract.clause import CLAUSES, Clause, Role, load_chapters
from conformance.contract.files import judge_bytes
from conformance.contract.ipc.view import Attached, IpcView
from conformance.contract.judge import judge_view
from conformance.records import Verdict
from conformance.wire import Kind, TensorReading, sniff

__all__ = ["PROFILE_OF", "ipc_clauses", "judge_ipc"]

PROFILE_OF: Final[Mapping[Kind, str]] = MappingProxyType({kind: f"ipc-{kind}" for kind in Kind})
"""The profile of each kind: ``ipc-message``, ``ipc-stream``, ``ipc-file``, ``ipc-tensor``."""


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
    findings the call is 0, and bytes count from the first byte of ``data``. A message alone is judged as a schema by
    :func:`conformance.contract.files.judge_bytes`.
    """
    kind = sniff(data) if kind is None else kind
    if kind is Kind.MESSAGE:
        return judge_bytes(data, [], profile=PROFILE_OF[kind])
    asked = (expected is not None or given is not None) if writer is None else writer
    view = IpcView(data, kind, expected, attached, given, read_back=read_back)
    return judge_view(view, ipc_clauses(PROFILE_OF[kind], writer=asked))


def ipc_clauses(profile: str, *, writer: bool = False) -> tuple[Clause, ...]:
    """Return the clauses of a profile on bytes; those on writers as well, if asked for."""
    load_chapters()
    return _clauses(profile, len(CLAUSES), writer=writer)


@functools.lru_cache(maxsize=16)
def _clauses(profile: str, _number: int, *, writer: bool) -> tuple[Clause, ...]:
    """Return these clauses, cached for a given size of the register, which only grows."""
    roles = {Role.BYTES, Role.WRITER} if writer else {Role.BYTES}
    return tuple(one for one in CLAUSES.values() if profile in one.profiles and one.role in roles)
