"""The results for an exchange: findings, readings and verdicts."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Final

from conformance.contain.text import LIMIT, keep_safe, safe, told_apart
from conformance.records.base import record
from conformance.records.closed import Outcome, ReadingOutcome

__all__ = ["CANNOT", "Finding", "Reading", "Verdict"]

CANNOT: Final = "cannot"
"""The error class of an unavailable reading if the reader itself states that it does not read this."""

PATH: Final = 6000
"""The limit of a path in a schema, in characters: fifteen levels of names of 300 characters, as BigQuery permits."""


@record
class Finding:
    """One violation: the clause, the place, the requirement and the observation.

    ``call`` indexes ``Exchange.calls`` and ``response`` its responses; ``field`` is a path in the schema or message;
    ``start`` and ``end`` are byte offsets into that response's Arrow bytes, or into the response if it has no Arrow
    bytes.
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
        one, other = self.required, self.observed
        if len(one) + len(other) > LIMIT and one != other and safe(one) == safe(other):
            required, observed = told_apart(one, other, LIMIT // 2)
            object.__setattr__(self, "required", required)
            object.__setattr__(self, "observed", observed)
        keep_safe(self, "required", "observed")
        keep_safe(self, "field", limit=PATH)


@record
class Reading:
    """The result of one reader on one full stream: a table (as an Arrow IPC stream), an error, a crash or a hang.

    ``differences`` are sentences, one for each difference between the table and the rows that the bytes contain:
    first the reader and the kind of difference, then, after a colon, the details of this reading. ``camp`` names the
    first of the readers that agree about this stream, and is empty if no readings were compared.
    :mod:`conformance.readers` computes both, because it knows which values each library is documented to rewrite.
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
    """The outcome of one clause on one case, with its findings or, for another outcome, the reason."""

    case_id: str
    clause: str
    outcome: Outcome
    findings: tuple[Finding, ...] = ()
    reason: str = ""

    def __post_init__(self) -> None:
        if self.reason:  # a run has very many passes, and a pass has no reason: this saves the call
            keep_safe(self, "reason")

    @staticmethod
    def passes(case_id: str, clauses: Iterable[str]) -> list[Verdict]:
        """Return the verdicts of clauses that passed on a case.

        A run has very many of them; the constructor of a frozen dataclass takes more than twice as long.
        """
        made = []
        set_case, set_clause, set_outcome, set_findings, set_reason = _SETTERS
        for clause in clauses:
            verdict = Verdict.__new__(Verdict)
            set_case(verdict, case_id)
            set_clause(verdict, clause)
            set_outcome(verdict, Outcome.PASS)
            set_findings(verdict, ())
            set_reason(verdict, "")
            made.append(verdict)
        return made


_SETTERS: Final = tuple(vars(Verdict)[field.name].__set__ for field in dataclasses.fields(Verdict))
"""The functions that set the slots of a verdict, in the order of its fields."""
