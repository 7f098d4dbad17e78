"""The evidence of a case: the annotated bytes around its findings, each distinct finding once."""

from __future__ import annotations

import dataclasses
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from conformance.contain.text import safe
from conformance.contract.clause import Clause
from conformance.contract.comparing.received import Compared
from conformance.contract.view import BatchBytes, SchemaBytes, View
from conformance.engine.annotated import Line, around, hex_lines, regions_of
from conformance.engine.events import Evidence
from conformance.engine.outcomes import finding_class
from conformance.records import Exchange, Finding, Verdict
from conformance.wire import Region

__all__ = ["Gathered", "gather"]

Message: TypeAlias = SchemaBytes | BatchBytes
Place: TypeAlias = tuple[int | None, int | None]


@dataclasses.dataclass(frozen=True, slots=True)
class Gathered:
    """The evidence of an exchange, and the tracebacks of exceptions that prevented more evidence."""

    evidence: tuple[Evidence, ...]
    broke: tuple[str, ...] = ()


def gather(view: View, verdicts: Iterable[Verdict], clauses: Mapping[str, Clause]) -> Gathered:
    """The evidence for the findings of ``verdicts`` on bytes or on a value, one per clause and reason class.

    If gathering evidence for a finding raises, only that finding goes without evidence.
    """
    evidence, broke, shown = [], [], _Shown(view, clauses)
    for finding in _distinct(verdicts):
        try:
            found = shown.around(finding)
        except Exception as error:  # noqa: BLE001  # the finding is reported without evidence
            broke.append("".join(traceback.format_exception(error)))
            continue
        if found is not None:
            evidence.append(Evidence(finding, *found))
    return Gathered(tuple(evidence), tuple(broke))


def _distinct(verdicts: Iterable[Verdict]) -> Iterator[Finding]:
    for verdict in verdicts:
        seen: set[tuple[str, bool]] = set()
        for finding in verdict.findings:
            reason = finding_class(verdict.outcome, finding), finding.start is None
            if reason in seen:
                continue
            seen.add(reason)
            yield finding


class _Shown:
    """The annotated bytes of one view; the messages of a clause and the dissection of a message are cached."""

    def __init__(self, view: View, clauses: Mapping[str, Clause]) -> None:
        self._view = view
        self._clauses = clauses
        self._subjects: tuple[str, dict[Place, list[Message]]] = ("", {})
        self._regions: tuple[Message | None, Sequence[Region]] = (None, ())

    def around(self, finding: Finding) -> tuple[str, tuple[Line, ...]] | None:
        """A description of the data into which the finding's offsets point, and the lines around them; None without
        data.
        """
        clause = self._clauses.get(finding.clause)
        if finding.start is None:
            return None if clause is None else self._cell(clause, finding)
        start = finding.start
        end = max(start + 1, start if finding.end is None else finding.end)
        messages = [] if clause is None else self._messages(clause).get((finding.call, finding.response), [])
        if len(messages) > 1 and clause is not None:
            messages = [item for item in messages if _found_in(item, clause, finding)] or messages
        if messages:
            message = messages[0]
            return _of(message), around(message.data, self._dissected(message), start, end)
        data = _response(self._view.exchange, finding)
        if data is None:
            return None
        return f"bytes of {_place(finding)}, {len(data)} in all", hex_lines(data, start, end)

    def _cell(self, clause: Clause, finding: Finding) -> tuple[str, tuple[Line, ...]] | None:
        """The bytes of the value that a finding is about; None if it is about none."""
        subjects = (one for one in clause.over(self._view) if isinstance(one, Compared) and one.call == finding.call)
        cell = next((cell for one in subjects if (cell := one.cell(finding.field, finding.observed))), None)
        if cell is None:
            return None
        lines = around(cell.batch.data, self._dissected(cell.batch), cell.start, max(cell.start + 1, cell.end))
        return f"{_of(cell.batch)}, row {cell.row}", lines

    def _messages(self, clause: Clause) -> Mapping[Place, list[Message]]:
        """The messages that a clause judges, by call and response; only the latest clause is cached, for findings come
        clause by clause.
        """
        if self._subjects[0] != clause.id:
            places: dict[Place, list[Message]] = {}
            for item in clause.over(self._view):
                if isinstance(item, SchemaBytes | BatchBytes):
                    places.setdefault((item.call, item.response), []).append(item)
            self._subjects = clause.id, places
        return self._subjects[1]

    def _dissected(self, message: Message) -> Sequence[Region]:
        if self._regions[0] is not message:
            schema = None if isinstance(message, SchemaBytes) else message.schema
            self._regions = message, regions_of(message.data, schema)
        return self._regions[1]


def _found_in(message: SchemaBytes | BatchBytes, clause: Clause, finding: Finding) -> bool:
    """True if the clause has this finding for this message: a response may carry a schema and a batch."""
    return any((item.start, safe(item.observed)) == (finding.start, finding.observed) for item in clause.check(message))


def _of(message: Message) -> str:
    kind = "schema" if isinstance(message, SchemaBytes) else "record batch"
    return f"{kind} message of {_place(message)}, {len(message.data)} bytes"


def _place(found: Finding | Message) -> str:
    call = "the exchange" if found.call is None else f"call {found.call}"
    return call if found.response is None else f"{call}, response {found.response}"


def _response(exchange: Exchange, finding: Finding) -> bytes | None:
    if finding.call is None or finding.call >= len(exchange.calls):
        return None
    responses = exchange.calls[finding.call].responses
    index = finding.response or 0
    return responses[index] if index < len(responses) else None
