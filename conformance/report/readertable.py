"""The answers of each reader on a target, by group of cases: the table for the users of a client.

A group is the first word of the ids of its cases: ``types``, ``restriction``, ``generated``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from conformance.contain.text import many
from conformance.engine.answers import JUDGED, Answer
from conformance.engine.events import CaseJudged, RunStarted

__all__ = ["GroupAnswer", "ReaderResult", "by_reader", "reader_lines"]


@dataclasses.dataclass(frozen=True, slots=True)
class GroupAnswer:
    """The number of cases of a group in which a reader gave this answer; ``first`` and ``text`` are of the first.

    Each statement of what a reader cannot read counts by itself.
    """

    group: str
    answer: Answer
    cases: int
    first: str
    text: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class ReaderResult:
    """A reader of the run, and its answers; it has none if no case gave anything to read."""

    name: str
    version: str = ""
    answers: tuple[GroupAnswer, ...] = ()

    @property
    def absent(self) -> str:
        """The reason why it is not here: the first, if it gave no answer where it was asked; else empty."""
        gone = self.of(Answer.NO_ANSWER)
        return (gone[0].text or "no reason given") if gone and not self.of(*JUDGED, Answer.UNCOMPARED) else ""

    def of(self, *answers: Answer) -> list[GroupAnswer]:
        """Its answers of these kinds, by group."""
        return [item for item in self.answers if item.answer in answers]

    def cases(self, answer: Answer) -> int:
        """The cases in which it gave this answer."""
        return sum(item.cases for item in self.of(answer))

    def cell(self, group: str) -> str:
        """Its answers in one group: *12 rows, 1 error*."""
        here = [item for item in self.answers if item.group == group]
        counts = {item.answer: sum(one.cases for one in here if one.answer is item.answer) for item in here}
        return ", ".join(f"{count} {_words(answer)}" for answer, count in counts.items())

    @property
    def in_words(self) -> str:
        """Its answers over all groups: *80 rows; 1 error (types)*."""
        if not self.answers:
            return "no case gave it anything to read"
        if self.absent:
            return f"not here: {self.absent}"
        counts = {answer: self.of(answer) for answer in Answer}
        return "; ".join(
            f"{self.cases(answer)} {_words(answer)}"
            + ("" if answer is Answer.ROWS else f" ({', '.join(dict.fromkeys(item.group for item in items))})")
            for answer, items in counts.items()
            if items
        )


def _words(answer: Answer) -> str:
    return answer.replace("-", " ")


def by_reader(start: RunStarted, cases: Sequence[CaseJudged]) -> tuple[ReaderResult, ...]:
    """The readers of the run in its order, with their answers in the order of groups and answers."""
    versions = {reader.name: reader.version for reader in start.provenance.readers}
    found: dict[str, dict[tuple[str, Answer, str], dict[str, str]]] = {name: {} for name in versions}
    for case in cases:
        group = case.case_id.partition(".")[0]
        for item in case.answers:
            statement = item.text if item.answer is Answer.CANNOT else ""
            for reader in item.readers:
                counted = found.setdefault(reader, {}).setdefault((group, item.answer, statement), {})
                counted.setdefault(case.case_id, item.text)
    order = list(Answer)
    return tuple(
        ReaderResult(
            reader,
            versions.get(reader, ""),
            tuple(
                GroupAnswer(group, answer, len(texts), *next(iter(texts.items())))
                for (group, answer, _), texts in sorted(
                    answers.items(), key=lambda item: (item[0][0], order.index(item[0][1]), item[0][2])
                )
            ),
        )
        for reader, answers in found.items()
    )


def reader_lines(readers: Sequence[ReaderResult]) -> Iterator[str]:
    """A line for each reader, and a heading; nothing if no reader gave anything."""
    if not any(reader.answers for reader in readers):
        return
    width = max(len(reader.name) for reader in readers)
    yield f"{many(len(readers), 'reader')}, in cases: rows are those that the bytes contain"
    for reader in readers:
        version = f" [{reader.version}]" if reader.version else ""
        yield f"  {reader.name:<{width}}  {reader.in_words}{version}"
