"""Judging whole streams, files and tensors: bytes to verdicts, by the profile of their kind."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

import pyarrow as pa

from conformance.contract.clause import CLAUSES, Clause, Role, load_chapters
from conformance.contract.files import judge_bytes
from conformance.contract.ipc.view import IpcView
from conformance.contract.judge import judge_view
from conformance.records import Verdict
from conformance.wire import Kind, sniff

__all__ = ["PROFILE_OF", "ipc_clauses", "judge_ipc"]

PROFILE_OF: Final[Mapping[Kind, str]] = MappingProxyType({kind: f"ipc-{kind}" for kind in Kind})
"""The profile of each kind: ``ipc-message``, ``ipc-stream``, ``ipc-file``, ``ipc-tensor``."""


def judge_ipc(
    data: bytes,
    kind: Kind | None = None,
    *,
    expected: Sequence[pa.RecordBatch] | None = None,
    writer: bool | None = None,
) -> list[Verdict]:
    """The verdicts on ``data`` as one stream, file or tensor; of the kind that it seems to be, unless one is given.

    With ``expected``, what the bytes hold is compared with these batches. ``writer`` asks the clauses on writers, too,
    which want more than the format does; that is the default where there is something expected.
    Findings are of call 0, their bytes count from the first byte of ``data``. A message alone is judged as
    :func:`conformance.contract.files.judge_bytes` does, as a schema.
    """
    kind = sniff(data) if kind is None else kind
    if kind is Kind.MESSAGE:
        return judge_bytes(data, [], profile=PROFILE_OF[kind])
    asked = expected is not None if writer is None else writer
    return judge_view(IpcView(data, kind, expected), ipc_clauses(PROFILE_OF[kind], writer=asked))


def ipc_clauses(profile: str, *, writer: bool = False) -> tuple[Clause, ...]:
    """The clauses of a profile on bytes; those on writers as well, if asked for."""
    load_chapters()
    return _clauses(profile, len(CLAUSES), writer=writer)


@functools.lru_cache(maxsize=16)
def _clauses(profile: str, _number: int, *, writer: bool) -> tuple[Clause, ...]:
    """Those clauses while the register, which only ever grows, has that number of them."""
    roles = {Role.BYTES, Role.WRITER} if writer else {Role.BYTES}
    return tuple(one for one in CLAUSES.values() if profile in one.profiles and one.role in roles)
