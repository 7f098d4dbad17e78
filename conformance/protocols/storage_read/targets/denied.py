"""Requests that a running server refuses because of who asks or how often, and not because of what is asked.

Such an answer says nothing about a clause if the server gives it to a plain request as well: then the set-up is wrong.
If the plain request is served, the answer belongs to the case. This module decides which answers are in question, and
says what is wrong; :mod:`.server` puts the plain request.
"""

from __future__ import annotations

import dataclasses
from typing import Final

import pyarrow as pa

from conformance.contract.rpcstatus import STATUS_OF_HTTP, TRAILER, quota_of
from conformance.generate.materialise import materialise
from conformance.records import (
    SET_UP,
    BqType,
    Call,
    Case,
    Column,
    CreateSession,
    Exchange,
    Json,
    ReadRows,
    RunQuery,
    Table,
)

__all__ = ["PLAIN", "PLAIN_TABLE", "Denied", "denied", "needs_table"]

PLAIN: Final = Case(
    id="plain",
    title="A read of one row",
    table=Table((Column("a", BqType.INT64),), rows=(Json({"a": 1}),)),
    steps=(CreateSession(), ReadRows()),
)
"""The plain request: a server that refuses it serves nobody with these credentials."""
PLAIN_TABLE: Final[pa.Table] = materialise(PLAIN.table)

_UNKNOWN, _FORBIDDEN, _QUOTA = "UNAUTHENTICATED", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED"
_WORDS: Final = {
    _UNKNOWN: "the server does not accept the credentials",
    _FORBIDDEN: "the credentials lack a permission",
    _QUOTA: "a quota is exceeded",
}
NO_CREDENTIALS: Final = "the server asks for credentials, and [endpoint] names none"
_LIMITS: Final = ("quota", "rate limit", "ratelimit")
"""Words of a 403 about a limit: BigQuery answers quotaExceeded and rateLimitExceeded with that status
(https://cloud.google.com/bigquery/docs/error-messages).
"""


@dataclasses.dataclass(frozen=True, slots=True)
class Denied:
    """An answer about who asks: ``status`` as gRPC names it, ``said`` in the server's words.

    ``retry`` is the number of seconds after which a quota can be asked again; None if nobody knows.
    """

    status: str
    said: str
    retry: float | None = None

    @property
    def quota(self) -> bool:
        """True if the server limits how often it is asked."""
        return self.status == _QUOTA

    @property
    def unknown(self) -> bool:
        """True if the server does not accept the token; a new one may help."""
        return self.status == _UNKNOWN

    def sentence(self, *, named: bool) -> str:
        """What is wrong; ``named`` is true if the target file names credentials."""
        what = NO_CREDENTIALS if self.unknown and not named else _WORDS[self.status]
        return f"{SET_UP}{what}, not even for a plain request ({self.said})"


def denied(exchange: Exchange, rest: str) -> Denied | None:
    """The first answer in an exchange that may be about who asks; ``rest`` is the last REST answer, if it is one."""
    if exchange.untestable:
        return _by_rest(rest) if rest else None
    return next(filter(None, map(_by_call, exchange.calls)), None)


def _by_call(call: Call) -> Denied | None:
    if call.status not in _WORDS:
        return None
    said = f"{call.method} ended in {call.status}: {call.details}"
    if call.method == RunQuery.METHOD and (call.status == _QUOTA or _names_limit(call.details)):
        return Denied(_QUOTA, said)  # over REST, BigQuery answers in 403 where a limit is reached
    if call.status != _QUOTA:
        return Denied(call.status, said)
    quota = next((quota_of(entry.value) for entry in call.trailers if entry.key == TRAILER), None)
    if quota is not None:
        return Denied(_QUOTA, said, quota.retry)
    return Denied(_QUOTA, said) if _names_limit(call.details) else None


def _by_rest(said: str) -> Denied:
    if _names_limit(said):  # the end of a job, too, which has no HTTP status
        return Denied(_QUOTA, said)
    return Denied(STATUS_OF_HTTP[int(said.partition(": HTTP ")[2][:3])], said)


def _names_limit(said: str) -> bool:
    return any(word in said.lower() for word in _LIMITS)


def needs_table(case: Case) -> bool:
    """True unless every step of a case names its table, session or stream, and none of them is the case's table."""
    named = [step.table if isinstance(step, CreateSession) else getattr(step, "name", "") for step in case.steps]
    return any(not name or "{table}" in name for name in named)
