"""Judging bare bytes: a schema message and batch messages, without a case, a table or a server.

Only the clauses about messages alone are judged. Columns and values are not: nothing is there to compare them with.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pyarrow as pa

from conformance.contract.clause import CLAUSES, MESSAGES, Clause, load_chapters
from conformance.contract.comparing.declarations import UnpairedFields
from conformance.contract.comparing.uncompared import Loose
from conformance.contract.judge import judge_view
from conformance.contract.messages import Messages
from conformance.contract.view import View
from conformance.records import Call, Case, Exchange, Table, Verdict

__all__ = ["FILES_CASE", "byte_clauses", "judge_bytes"]

FILES_CASE: Final = Case(id="files", title="Messages from files", table=Table(columns=(), rows=()))
"""The case in the verdicts of :func:`judge_bytes`: it has no table."""


def byte_clauses(profile: str) -> tuple[Clause, ...]:
    """Return the clauses of a profile that can be judged on messages alone.

    Raises:
        ValueError: ``profile`` is not a profile of messages.
    """
    if profile not in MESSAGES:
        raise ValueError(f"expected a profile out of {', '.join(MESSAGES)}, got {profile!r}")
    load_chapters()
    return tuple(
        one
        for one in CLAUSES.values()
        if isinstance(one.over, Messages | Loose | UnpairedFields) and profile in one.profiles
    )


def judge_bytes(schema: bytes, batches: Sequence[bytes], *, profile: str = "bq-arrow") -> list[Verdict]:
    """Return the verdicts of the byte clauses of ``profile`` on a schema message and the batches that follow it.

    In the findings call 0 is the schema and call n is the n-th batch.

    Raises:
        ValueError: ``profile`` is not a profile of messages.
    """
    calls = [Call(0, "", "SerializeSchema", b"", (schema,))]
    calls += [Call(0, "", "SerializeBatch", b"", (batch,)) for batch in batches]
    exchange = Exchange(FILES_CASE.id, "files", tuple(calls))
    return judge_view(View(FILES_CASE, exchange, pa.table({})), byte_clauses(profile))
