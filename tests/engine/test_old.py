"""Files that earlier versions of the suite stored can be read, and get the same verdicts.

``old/version-1.tar.xz`` was written by the last version whose records had format 1, with the suite's own commands:
``extract`` of the reference, of nine of its mutants and of pyarrow as a serializer (``extracted``), a ``run`` and the
report on it (``run.jsonl``, ``run.json``), and a ``campaign`` of twelve cases (``campaign``, ``counterexamples``).
Never write it again: it represents the files that people have. Its members are stored and not compressed, because the
source distribution compresses what they have in common.
"""

from __future__ import annotations

import json
import tarfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from conformance.campaign.rejudging import stored_exchange
from conformance.contract.clause import CLAUSES
from conformance.engine.casestep import CaseStep, CaseWork
from conformance.engine.log import read_log
from conformance.engine.recorded import Stored
from conformance.engine.result import NOT_JUDGED, fold
from conformance.engine.selection import all_clauses
from conformance.generate import load_case
from conformance.protocol import DEFAULT_PROTOCOL
from conformance.records import Case, Exchange, RecordError, Verdict, from_json, from_row

ARCHIVE = Path(__file__).parent / "old" / "version-1.tar.xz"
with tarfile.open(ARCHIVE) as packed:
    NAMES = packed.getnames()
EXTRACTED = sorted({name.split("/")[1] for name in NAMES if name.startswith("extracted/")})


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files, unpacked."""
    directory = tmp_path_factory.mktemp("old")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(directory, filter="data")
    return directory


PLACED_SINCE = frozenset({"rows.response-is-a-message", "session.answer-is-a-session"})

JUDGED_SINCE = frozenset({"restriction.in-list", "restriction.between", "restriction.is-null", "restriction.like"})
"""The clauses that judge an operator now, whatever its operands are; then another clause judged some of these."""

LEFT_SINCE = frozenset({"session.rows-have-a-stream"})
"""The clauses that leave sessions with a restriction to those on restrictions now."""


def judged(case: Case, exchange: Exchange) -> list[Verdict]:
    """The verdicts of today under the clauses of then, which are all there."""
    step = CaseStep(all_clauses().values(), Stored({case.id: exchange}))
    return list(step.verdicts(step.take(CaseWork(case))))


def _places(verdicts: Iterable[Verdict]) -> list[str]:
    """The verdicts without the texts of findings and reasons, which may change.

    What depends on bytes that cannot be read was untestable then, and is a failed dependency now. The findings of
    :data:`PLACED_SINCE` had no place then.
    """
    return [
        f"{one.case_id}, {one.clause}: {'not judged' if one.outcome in NOT_JUDGED else one.outcome}"
        + "".join(
            f"; {f.call}, {f.response}" + ("" if one.clause in PLACED_SINCE else f", {f.field}, {f.start} to {f.end}")
            for f in one.findings
        )
        for one in verdicts
    ]


@pytest.mark.parametrize("name", EXTRACTED)
def test_an_extracted_exchange_has_the_verdicts_of_then(old: Path, name: str) -> None:
    """One by one, with every finding."""
    files = (old / "extracted" / name / f"{part}.json" for part in ("case", "exchange", "verdicts"))
    case, exchange, verdicts = (json.loads(file.read_bytes()) for file in files)
    read = from_json(Exchange, exchange)
    known = {verdict["clause"] for verdict in verdicts}

    found = [verdict for verdict in judged(from_json(Case, case), read) if verdict.clause in known]

    then = [from_json(Verdict, verdict) for verdict in verdicts]
    left = LEFT_SINCE - {one.clause for one in found}
    assert _places(found) == _places(one for one in then if one.clause not in left)
    assert (read.protocol, read.driven) == (DEFAULT_PROTOCOL, True)


def test_what_is_frozen_ends_in_every_way(old: Path) -> None:
    """Calls that ended well, were refused, hung and died, and a case that was not put to the target."""
    verdicts = [
        verdict
        for name in EXTRACTED
        for verdict in json.loads((old / "extracted" / name / "verdicts.json").read_bytes())
    ]

    assert {verdict["outcome"] for verdict in verdicts} == {
        *("pass", "fail", "crash", "hang", "untestable", "dependency-failed"),
    }


def test_an_old_log_gives_the_report_of_then(old: Path) -> None:
    """Its verdicts are counted as they were."""
    result = fold(read_log(old / "run.jsonl"))
    report = json.loads((old / "run.json").read_bytes())

    then = {clause["id"]: {one["outcome"]: one["count"] for one in clause["verdicts"]} for clause in report["clauses"]}
    found: dict[str, Counter[str]] = {}
    for verdict in result.verdicts:
        found.setdefault(verdict.clause, Counter())[verdict.outcome.value] += 1

    assert result.start.format == 1
    assert found == {clause: counts for clause, counts in then.items() if counts}


def rows(old: Path, stage: str) -> Iterator[dict[str, Any]]:
    """The rows of a stage of the campaign."""
    (part,) = (old / "campaign" / stage).rglob("*.parquet")
    yield from pq.ParquetFile(part).read().to_pylist()


def test_a_stored_exchange_of_a_campaign_has_the_verdicts_of_then(old: Path) -> None:
    """Those that are no passes with every finding, and exactly the passes; clauses on readers are not asked again."""
    (run,) = (old / "campaign" / "runs").glob("*/run.json")
    clauses = json.loads(run.read_bytes())["job"]["clauses"]
    passed = {row["index"]: int.from_bytes(row["passed"], "little") for row in rows(old, "judge")}
    columns = {"case_id", "clause", "outcome", "findings", "reason"}
    others: dict[int, list[Verdict]] = {}
    for row in rows(old, "verdicts"):
        held = from_row(Verdict, {name: value for name, value in row.items() if name in columns})
        others.setdefault(row["index"], []).append(held)

    for row in rows(old, "drive"):
        found = [one for one in judged(*stored_exchange(old, row)) if one.clause in clauses]
        then = {clause for place, clause in enumerate(clauses) if passed[row["index"]] >> place & 1}

        passes = {one.clause for one in found if one.outcome == "pass"}
        # Sessions that select fields and ask for something else too, and those of a restriction that selects no row
        # and gives no stream, are judged by these clauses as well now.
        assert passes >= {clause for clause in then if not clause.startswith("readers.")} - LEFT_SINCE
        assert {clause.partition(".")[0] for clause in passes - then} <= {"projection", "restriction"}
        before = [one for one in others.get(row["index"], []) if not one.clause.startswith("readers.")]
        since = JUDGED_SINCE - {one.clause for one in before}
        now = [one for one in found if one.outcome != "pass" and one.clause not in since]
        assert sorted(_places(now)) == sorted(_places(before))
    assert len(passed) == 12
    assert sum(map(len, others.values())) > 9


def test_a_stored_exchange_of_a_later_version_is_refused(old: Path) -> None:
    """Whatever else it holds: nobody can say what it means."""
    row = next(rows(old, "drive"))

    with pytest.raises(RecordError, match=r"format: expected 2 or an earlier one, as this version .* but got 3"):
        stored_exchange(old, row | {"format": 3, "seen_from": "afar"})


def test_an_old_counterexample_is_a_case(old: Path) -> None:
    """Saved where a campaign found them."""
    cases = [load_case(path) for path in sorted((old / "counterexamples").iterdir())]

    assert [case.protocol for case in cases] == [DEFAULT_PROTOCOL] * 3
    assert all(clause in CLAUSES for case in cases for clause in case.clauses)
