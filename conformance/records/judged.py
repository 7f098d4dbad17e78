"""What an exchange came to: findings, readings, verdicts."""

from __future__ import annotations

from typing import Final

from conformance.contain.text import keep_safe
from conformance.records.base import record
from conformance.records.closed import Outcome, ReadingOutcome

__all__ = ["Finding", "Reading", "Verdict"]

PATH: Final = 6000
"""Characters of a path in a schema that are kept: fifteen levels of names of 300 characters, as BigQuery permits."""


@record
class Finding:
    """One violation: which clause, where, what was required, what was there.

    ``call`` indexes ``Exchange.calls`` and ``response`` its responses; ``field`` is a path in the schema or message;
    ``start`` and ``end`` are byte offsets into that response's Arrow bytes (or into the response where it has none).
    """

    clause: str
    required: str
    observed: str
    call: int | None = None
    response: int | None = None
    field: str = ""
    start: int | None = None
    end: int | None = None

    def __post_init__(self) -> None:
        keep_safe(self, "required", "observed")
        keep_safe(self, "field", limit=PATH)


@record
class Reading:
    """What one reader made of one whole read: a table (as an Arrow IPC stream), or an error, crash or hang.

    ``differences`` say, a sentence each, how the table differs from what the bytes hold: first the reader and the kind
    of difference, then, behind a colon, what it was this time. ``camp`` names the first of the readers that made the
    same of this read, and is empty where nothing was compared. Both are worked out by the readers' room, which knows
    what each library documents to rewrite.
    """

    reader: str
    case_id: str
    label: str
    outcome: ReadingOutcome
    table: bytes = b""
    error_class: str = ""
    error_text: str = ""
    differences: tuple[str, ...] = ()
    camp: str = ""

    def __post_init__(self) -> None:
        if self.error_text:
            object.__setattr__(self, "error_text", self.error_text.strip())
        keep_safe(self, "error_class", "error_text", "differences")


@record
class Verdict:
    """What became of one clause on one case, with its findings, or the reason why there is none."""

    case_id: str
    clause: str
    outcome: Outcome
    findings: tuple[Finding, ...] = ()
    reason: str = ""

    def __post_init__(self) -> None:
        if self.reason:  # passes have none, and there are very many of them
            keep_safe(self, "reason")
