"""Counts that several reports show, per chapter and level, and the lines at the head of a report."""

from __future__ import annotations

import dataclasses
import operator
import os.path
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from conformance.contain.text import many as _many
from conformance.contract.clause import CLAUSES, clients_of
from conformance.contract.closed import Question
from conformance.disk.files import data_file
from conformance.engine.causes import Cause, causes
from conformance.engine.events import CLIENT_PROFILE, READ_PROFILE, WRITE_PROFILE, CaseJudged, RunStarted
from conformance.engine.provenance import Provenance
from conformance.engine.result import NOT_JUDGED, Deviation, Result
from conformance.engine.selection import NO_ROW, LeftOut
from conformance.engine.standing import ClauseStanding, Standing
from conformance.protocol import DEFAULT_PROTOCOL
from conformance.records import Level, Outcome

__all__ = [
    "COLUMNS",
    "Cell",
    "ChapterRow",
    "broken_cases",
    "cell_of",
    "commit_of",
    "counted",
    "digests_of",
    "header",
    "headline",
    "level_of",
    "named_target",
    "number_rows",
    "numbers_line",
    "question_of",
    "replay_command",
    "section_of",
    "section_place",
    "summarise",
    "unjudged_cases",
    "untestable_cases",
    "verdict_line",
]


_REPLAYED_BY: Final = {
    READ_PROFILE: ("read", "--reader", "--vector"),
    WRITE_PROFILE: ("write", "--writer", "--case"),
    CLIENT_PROFILE: ("clients", "--client", "--select"),
}
"""The command that replays a case of a run on a reader, a writer or a client, and its two options."""


_SHORT: Final = 0.1
"""The seconds below which a duration has milliseconds."""
_TICK: Final = 0.001
"""The shortest duration that is told, in seconds."""


@dataclasses.dataclass(frozen=True, slots=True)
class Cell:
    """Clauses of one chapter and level, each counted once under its standing; the field names are those of
    :class:`~conformance.engine.standing.Standing`.
    """

    held: int = 0
    held_where_judged: int = 0
    failed: int = 0
    expected: int = 0
    not_judged: int = 0
    not_offered: int = 0

    @property
    def total(self) -> int:
        """The number of clauses that the target owes: all but those of what it does not offer."""
        return self.held + self.held_where_judged + self.failed + self.expected + self.not_judged

    @property
    def passed(self) -> int:
        """The number of clauses that passed: on every case that owed them, or at least wherever they were judged."""
        return self.held + self.held_where_judged

    @property
    def share(self) -> str:
        """The clauses that passed, out of those owed: *12/15*; empty if none is owed."""
        return f"{self.passed}/{self.total}" if self.total else ""

    @property
    def in_words(self) -> str:
        """The numbers at the top of every report: *220 pass · 52 fail · 22 not judged*."""
        return self.numbers()

    def numbers(self, left: str = "not judged") -> str:
        """The same; ``left`` says why clauses were not judged."""
        expected = f" · {self.expected} expected to fail" if self.expected else ""
        return f"{self.passed} pass · {self.failed} fail{expected} · {self.not_judged} {left}"

    def __add__(self, other: Cell) -> Cell:
        return Cell(*map(operator.add, _counts(self), _counts(other)))


_counts: Final = operator.attrgetter(*(field.name for field in dataclasses.fields(Cell)))
"""The counts of a cell in the order of its fields; ``astuple`` would copy each deeply, and cells are added often."""


@dataclasses.dataclass(frozen=True, slots=True)
class ChapterRow:
    """One chapter, or one question about a reader: a cell per level, in the order must, should, may."""

    chapter: str
    cells: tuple[Cell, ...]

    @property
    def total(self) -> Cell:
        """All levels added up."""
        return sum(self.cells, Cell())


def level_of(clause_id: str) -> Level:
    """The level of a clause; a verdict on a case as a whole counts as a MUST."""
    return CLAUSES[clause_id].level if clause_id in CLAUSES else Level.MUST


def question_of(clause_id: str) -> Question | None:
    """The question about a reader that a clause answers; None for any other clause."""
    return CLAUSES[clause_id].question if clause_id in CLAUSES else None


def section_of(clause_id: str) -> str:
    """The part of a report that shows a clause: the question about a reader that it answers, or else its chapter."""
    question = question_of(clause_id)
    return clause_id.partition(".")[0] if question is None else question.value


def cell_of(standing: Standing) -> Cell:
    """One clause, counted under its standing."""
    return Cell(**{standing.name.lower(): 1})


def summarise(standings: Mapping[str, ClauseStanding]) -> list[ChapterRow]:
    """One row per section, in the order of the clauses given, which are counted by their standing; conformance is
    before robustness.
    """
    cells: dict[str, dict[Level, Cell]] = {}
    for clause_id, item in standings.items():
        row = cells.setdefault(section_of(clause_id), dict.fromkeys(Level, Cell()))
        row[level_of(clause_id)] += cell_of(item.standing)
    return [ChapterRow(section, tuple(cells[section].values())) for section in sorted(cells, key=section_place)]


COLUMNS: Final = tuple((question, level) for question in (None, *Question) for level in Level)
"""The order of counts: by level, and for readers conformance before robustness."""


def section_place(section: str) -> int:
    """The place of a section: the questions about a reader come first; all others keep their order in a stable sort."""
    asked = [question.value for question in Question]
    return asked.index(section) if section in asked else len(asked)


def numbers_line(start: RunStarted, standings: Mapping[str, ClauseStanding]) -> str:
    """The clauses of each level that passed, failed and were not judged: *MUST 220 pass · 52 fail · 22 not judged; …*.

    Of a reader, conformance and robustness are counted apart: *conformance MUST 3 pass · …*. A run of some cases speaks
    of its selection, which most clauses are not about.
    """
    return "; ".join(" ".join(row) for row in number_rows(start, standings))


def number_rows(
    start: RunStarted, standings: Mapping[str, ClauseStanding], *, judged: bool = False
) -> list[tuple[str, str]]:
    """The same as pairs of a level and its numbers; with ``judged``, only those of SHOULD and MAY that were judged."""
    left = "not reached by this selection" if start.narrowed else "not judged"
    return [
        (f"{f'{question} ' if question else ''}{level.upper()}", cell.numbers(left))
        for (question, level), cell in counted(standings).items()
        if not judged or level is Level.MUST or cell.total > cell.not_judged
    ]


def headline(start: RunStarted, standings: Mapping[str, ClauseStanding], blocked: int = 0) -> str:
    """The result in plain words: *52 of 294 required clauses fail. Repairing the first cause lets 14 more be judged.*

    ``blocked`` are the clauses that the first cause keeps from being judged. A run of some cases counts the clauses
    that its selection reached.
    """
    must = sum((cell for (_, level), cell in counted(standings).items() if level is Level.MUST), Cell())
    asked = must.total - must.not_judged if start.narrowed else must.total
    required = "required clause" + ("" if asked == 1 else "s")
    reached = f"{required} that this selection reaches" if start.narrowed else required
    found = f"{must.failed or 'None'} of {asked} {reached} {'fail' if must.failed > 1 else 'fails'}"
    expected = f"; {must.expected} {'fails' if must.expected == 1 else 'fail'} as expected" if must.expected else ""
    left = f"; {must.not_judged} {'was' if must.not_judged == 1 else 'were'} not judged"
    more = f" Repairing the first cause lets {blocked} more be judged." if blocked else ""
    return f"{found}{expected}{left if must.not_judged and not start.narrowed else ''}.{more}"


def counted(standings: Mapping[str, ClauseStanding]) -> dict[tuple[Question | None, Level], Cell]:
    """The clauses by the question that they answer and by level, counted by standing, as far as any is owed.

    The verdict on a case as a whole answers no question; in a run on a reader it is counted under conformance.
    """
    apart = any(question_of(clause_id) for clause_id in standings)
    found: dict[tuple[Question | None, Level], Cell] = {}
    for clause_id, item in standings.items():
        question = question_of(clause_id) or (Question.CONFORMANCE if apart else None)
        key = question, level_of(clause_id)
        found[key] = found.get(key, Cell()) + cell_of(item.standing)
    return {key: found[key] for key in COLUMNS if key in found and found[key].total}


def combined_line(result: Result) -> str:
    """How many combinations of features the scenarios of a run covered: *350 of 351 pairs and 1,830 of 2,000 …*."""
    pairs, triples = (f"{one.reached:,} of {one.possible:,}" for one in result.combinations)
    return f"{pairs} pairs and {triples} triples of features met in a session"


def header(start: RunStarted, remarks: Sequence[str]) -> list[tuple[str, str]]:
    """The parameters of the run as (name, text) lines: versions, target, selection, seed; enough to repeat it."""
    corpus = f"{len(start.cases)} of {_many(start.all_cases, 'case')}"
    generated = f", {start.generated} generated ({start.profile})" if start.generated else ""
    generated += f", {_many(start.scenarios, 'scenario')}" if start.scenarios else ""
    clauses = f"{len(start.clauses)} of {_many(start.all_clauses, 'clause')}"
    down = "" if start.level == Level.MAY else f" down to level {start.level}"
    options = {"select": start.select, "clause": start.clause, "capability": start.capability}
    globs = [f"--data-format {start.form}"] if start.other_form else []
    globs += [f"--{option} {glob}" for option, given in options.items() for glob in given]
    narrowed = f" [{' '.join(globs)}]" if globs else ""
    known = start.provenance
    return [
        (
            "suite",
            f"conformance {start.suite}{commit_of(known)}, Python {start.python}, pyarrow {start.pyarrow}, "
            + start.platform,
        ),
        *([("date", known.began)] if known.began else []),
        ("target", f"{start.target} ({start.target_file})" if start.target_file else start.target),
        ("selection", f"{corpus}{generated}, {clauses}{down}{narrowed}"),
        *(
            [("shard", f"{start.shard}: a part of the run; `conformance report` merges the logs")]
            if start.shard
            else []
        ),
        ("seed", str(start.seed)),
        *([("repeat", f"{start.repeat} attempts at each case")] if start.repeat > 1 else []),
        *([] if start.profile in _REPLAYED_BY else [("readers", _readers(start))]),
        *([("profiles", f"not offered: {', '.join(start.not_offered)}")] if start.not_offered else []),
        *([("digests", digests_of(known))] if known.began else []),
        *([("command", known.command)] if known.command else []),
        *(("left out", text) for text in _left_out(start.left_out)),
        *(("remark", remark) for remark in remarks),
    ]


def commit_of(known: Provenance, digits: int = 12) -> str:
    """The suite's commit in parentheses after a space; empty if it is unknown."""
    changed = ", with changes" if known.modified else ""
    return f" (commit {known.commit[:digits]}{changed})" if known.commit else ""


def digests_of(known: Provenance) -> str:
    """The digests of clauses, cases and golden files, each short enough to be compared by eye."""
    parts = dataclasses.asdict(known.digests)
    return ", ".join(f"{name} {digest[:12] or 'unknown'}" for name, digest in parts.items())


def _readers(start: RunStarted) -> str:
    """The readers of the run; for those that are real clients, the versions of their packages."""
    if not start.readers or not start.provenance.began:
        return "on" if start.readers else "off"
    packages = dict.fromkeys(f"{client.package} {client.version}" for client in start.provenance.clients)
    decoders = sum(bool(reader.version) and not reader.client for reader in start.provenance.readers)
    clients = f"{_many(len(start.provenance.clients), 'real client')} ({', '.join(packages)})"
    return f"{_many(decoders, 'decoder')}, {clients if packages else 'no real client'}"


def _left_out(left_out: Sequence[LeftOut]) -> list[str]:
    """Everything that was not selected, counted by reason: a narrow run must not look like a complete one."""
    counts = Counter((left.kind, left.reason) for left in left_out)
    return [f"{_many(count, kind)}: {reason}" for (kind, reason), count in counts.items()]


def replay_command(result: Result, shown: Deviation | Cause | CaseJudged) -> str:
    """The command that shows a case, that of a deviation or the smallest of a cause, again with every byte."""
    if (words := _REPLAYED_BY.get(result.start.profile)) is not None:
        command, who, what = words
        protocols = {clients_of(one) for one in result.start.clauses} - {DEFAULT_PROTOCOL}
        named = result.start.target_file
        subject = ["--program" if named.endswith(".toml") else who, named]  # a program of the user's own, by its file
        return shlex.join(["conformance", command, *(f"--{name}" for name in protocols), *subject, what, shown.replay])
    # A recording has no target file: its log is judged again.
    target = ["--target", named_target(result.start)] if result.start.target_file else []
    return shlex.join(["conformance", "replay", shown.replay, *target])


def named_target(start: RunStarted) -> str:
    """What ``--target`` takes: the name of a target that ships with the suite, which works in every directory, or the
    path or URL that the user gave.
    """
    given = Path(os.path.abspath(start.target_file))  # noqa: PTH100  # resolve() would read the disk
    return given.stem if given.parent == data_file("targets") else start.target_file


def verdict_line(result: Result) -> str:
    """One sentence about the result of the run."""
    judged = sum(count for outcome, count in result.outcomes.items() if outcome not in NOT_JUDGED)
    untestable = untestable_cases(result)
    cases = _many(len(result.cases), "case") + (f" ({untestable} untestable)" if untestable else "")
    repeated = f", {result.start.repeat} attempts each," if result.start.repeat > 1 else ""
    scope = f"{judged:,} verdict{'s'[: judged != 1]} on {cases}{repeated} in {_lasting(result.seconds)}"
    if result.set_up:
        return f"INCOMPLETE: {result.set_up}; {scope}"
    if not result.complete:
        why = next((left.reason for left in result.start.left_out if left.reason.startswith(NO_ROW)), "")
        return f"INCOMPLETE: {why}; {scope}" if why else f"INCOMPLETE: the run was cut short after {scope}"
    if result.judged_nothing:
        passes = f"; a server that serves nothing would pass {_many(judged, 'verdict')}, too" if judged else ""
        return f"FAILED: nothing was judged on {cases}{passes}"
    if result.served_nothing:
        calls = _many(sum(case.calls for case in result.cases), "call")
        return f"FAILED: the server answered {calls} with refusals or nothing, so that a pass says nothing; {scope}"
    if not result.fails:
        unmet = len({item.clause for item in result.optional})
        return f"PASSED: {scope}, {_many(unmet, 'MAY clause') + ' not met' if unmet else 'nothing unexpected'}"
    errors = result.listed(Outcome.ERROR)
    found = causes(result)
    parts = [f"{_apart(found)}{_flaky(result)}"] if found else []
    if errors:
        parts.append(f"{_many(broken_cases(result), 'case')} on which the suite itself broke")
    if unexpected := result.listed(Outcome.UNEXPECTED_PASS):
        parts.append(_many(len(unexpected), "unexpected pass", "unexpected passes"))
    if stale := [problem for problem in result.problems if problem.fails_run]:
        parts.append(_many(len(stale), "stale expected failure"))
    return f"FAILED: {', '.join(parts)}; {scope}"


def _lasting(seconds: float) -> str:
    """A duration as a person reads it: no run takes no time.

    >>> _lasting(63.52), _lasting(0.0413), _lasting(0.0)
    ('63.5 s', '0.041 s', 'less than 0.001 s')
    """
    if seconds < _TICK:
        return f"less than {_TICK:g} s"
    return f"{seconds:.{1 if seconds >= _SHORT else 3}f} s"


def untestable_cases(result: Result) -> int:
    """The number of cases that could not be judged, at least in part."""
    return len({case for item in result.listed(Outcome.UNTESTABLE) for case in item.cases})


def unjudged_cases(result: Result) -> int:
    """The number of these cases on which no clause was judged."""
    judged = {case.case_id for case in result.cases for one in case.verdicts if one.outcome not in NOT_JUDGED}
    return len({case for item in result.listed(Outcome.UNTESTABLE) for case in item.cases} - judged)


def broken_cases(result: Result) -> int:
    """The number of cases on which the suite itself broke, each counted once."""
    return len({case for item in result.listed(Outcome.ERROR) for case in item.cases})


def _apart(found: Sequence[Cause]) -> str:
    """The number of causes; of a reader, those against conformance and those against robustness."""
    groups: dict[Question | None, list[Cause]] = {}
    for cause in found:
        groups.setdefault(question_of(cause.clause), []).append(cause)
    return ", ".join(f"{f'{question}: ' if question else ''}{_levels(group)}" for question, group in groups.items())


def _levels(found: Sequence[Cause]) -> str:
    counts = {level: sum(cause.level is level for cause in found) for level in Level}
    per_level = ", ".join(f"{count} {level.upper()}" for level, count in counts.items() if count)
    return f"{_many(len(found), 'cause')} ({per_level})"


def _flaky(result: Result) -> str:
    sometimes = sum(item.sometimes for item in result.failed)
    return f", {_many(sometimes, 'deviation')} only sometimes" if sometimes else ""
