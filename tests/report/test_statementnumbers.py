"""True statements are valid, whatever the run: seeds, shards, repetitions, interruptions, a later release."""

from __future__ import annotations

import dataclasses
import datetime as dt
from pathlib import Path

import pytest

import conformance
from conformance.contract import disputes
from conformance.contract.disputes import Dispute
from conformance.engine import causes, selection
from conformance.engine.events import Event, RunEnded
from conformance.engine.result import fold
from conformance.records import Finding, Outcome, Verdict, from_json
from conformance.report.document import document
from conformance.report.statementnumbers import LONGEST, FileDigest, Statement, statement_on
from conformance.report.statementpage import markdown, read_statement, sections
from conformance.report.summary import Cell
from conformance.truth.confirmed import Confirmed
from tests.cli.typed import conformance_
from tests.engine import samples
from tests.engine.samples import passing, started
from tests.report.statements import (
    SELECT,
    Files,
    judge,
    load,
    verified,
    write_edited,
    write_remade,
)
from tests.studies import sample

# --- statements that are true -------------------------------------------------------------------------------


OPTIONS = (
    ("honest.toml",),
    ("liar.toml",),
    ("known.toml",),
    ("known.toml", "--seed", "9"),
    ("honest.toml", "--cases", "3", "--seed", "1"),
    ("liar.toml", "--cases", "3", "--no-shrink"),
    ("honest.toml", "--level", "must"),
    ("liar.toml", "--level", "should"),
    ("honest.toml", "--clause", "framing.*"),
    ("known.toml", "--clause", "rows.*", "--clause", "framing.*"),
    ("honest.toml", "--clause", "types.*", "--level", "must", "--seed", "2"),
    ("honest.toml", "--deadline-multiplier", "2.5"),
    ("honest.toml", "--select", "*", "--capability", "zero-columns"),
    ("liar.toml", "--repeat", "2", "--parallel", "2"),
)
QUICK = (
    "honest.toml",
    "known.toml --seed 9",
    "liar.toml --cases 3 --no-shrink",
    "honest.toml --clause types.* --level must --seed 2",
    "honest.toml --deadline-multiplier 2.5",
    "liar.toml --repeat 2 --parallel 2",
)
"""Those in the quick set: each option is in one of them, but for capabilities."""


@pytest.mark.parametrize("options", sample(OPTIONS, QUICK, env="studies", name=" ".join))
def test_a_true_statement_is_valid(
    targets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    """Whatever was selected, and whether it passed or failed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(Path(conformance.__file__).parents[1]))
    target, *rest = options
    judge(tmp_path, "--target", str(targets / target), *(() if "--select" in rest else SELECT), *rest)
    load(tmp_path)

    status, said = verified(tmp_path, statement="run.md")

    assert (status, said.startswith("valid: ")) == (0, True), said


def test_the_reasons_count_each_clause_once(judged: Files) -> None:
    """Their sum is the number of clauses that are neither held nor failed."""
    by_reason = sum(gap["count"] for gap in judged.statement["not_judged"])

    undecided = ("held_where_judged", "not_judged", "not_offered")
    assert by_reason == sum(row["clauses"].get(name, 0) for row in judged.statement["results"] for name in undecided)


def test_a_statement_on_a_run_with_readers_is_valid(targets: Path, tmp_path: Path) -> None:
    """The clients are named with their versions."""
    judge(tmp_path, "--target", str(targets / "honest.toml"), "--select", "types.bool", readers=True)
    files = load(tmp_path)

    assert verified(tmp_path, statement="run.md")[0] == 0
    assert files.statement["run"]["provenance"]["readers"]


def test_a_statement_on_an_interrupted_run_is_valid_and_says_so(judged: Files, tmp_path: Path) -> None:
    """It is a true statement on a part of a run."""
    files = judged.copy()
    del files.log[3:]
    write_remade(files, tmp_path)

    assert verified(tmp_path)[0] == 0
    assert "**INCOMPLETE run: " in (tmp_path / "statement.md").read_text()


def test_a_statement_on_merged_shards_is_valid(targets: Path, tmp_path: Path) -> None:
    """One report on the logs of two machines, which are both named."""
    options = ("--target", str(targets / "liar.toml"), *SELECT, "--cases", "4")
    for part in "12":
        judge(tmp_path, *options, "--shard", f"{part}/2", name=f"part{part}")
    logs = [str(tmp_path / f"part{part}.jsonl") for part in "12"]
    conformance_("report", *logs, "--json", str(tmp_path / "run.json"))
    named = [word for log in logs for word in ("--log", log)]

    made = conformance_("statement", str(tmp_path / "run.json"), *named, "--markdown", str(tmp_path / "s.md"))
    done = conformance_("verify", str(tmp_path / "s.md"))
    alone = conformance_("verify", str(tmp_path / "s.md"), "--log", logs[0])

    assert (made.exit_code, done.exit_code, alone.exit_code) == (0, 0, 1), made.output + done.output
    assert "the logs are not those of one whole run" in alone.output
    assert "the log part2.jsonl, as the statement names it by its digest, is not here" in alone.output


def test_a_signed_page_is_valid(targets: Path, judged: Files, tmp_path: Path) -> None:
    """The lines for the signature are filled in, and an editor wrote the ends of lines of another system."""
    files = judged.copy()
    signed = (
        (targets / "judged.md").read_text().replace("Name:\n", "Name: A. Vendor\n").replace("Date:\n", "Date: 1 May\n")
    )
    files.page = signed.replace("\n", "\r\n")
    write_edited(files, tmp_path)

    assert verified(tmp_path)[0] == 0


def named(judged: Files, target: str) -> Statement:
    """The statement on a target of another name."""
    statement = from_json(Statement, judged.statement, path="statement")
    return dataclasses.replace(statement, run=dataclasses.replace(statement.run, target=target))


def test_a_bare_address_is_no_link(judged: Files) -> None:
    """What becomes a link, a mention or a reference by itself on GitHub is written with character references."""
    page = markdown(named(judged, "http://a.example www.b.example me@c.example mailto:d #12"))

    shown = "http&#58;//a.example www&#46;b.example me&#64;c.example mailto&#58;d &#35;12"
    assert page.startswith(f"# Conformance statement: {shown}\n")


def test_a_page_of_an_earlier_version_is_valid(judged: Files, tmp_path: Path) -> None:
    """Up to 0.3.0, an address stood in the page as it is."""
    page = markdown(named(judged, "http://a.example"))
    assert "http&#58;//a.example" in page
    (tmp_path / "statement.md").write_text(page.replace("http&#58;//a.example", "http://a.example"))

    assert read_statement(tmp_path / "statement.md").wrong == ""


def test_the_html_page_is_valid(judged: Files, tmp_path: Path) -> None:
    """It holds the same numbers for programs."""
    files = judged.copy()
    files.kind = "html"
    write_remade(files, tmp_path)

    assert verified(tmp_path, statement="statement.html")[0] == 0


def test_a_repeated_run_counts_each_case_once_and_needs_every_attempt(targets: Path, tmp_path: Path) -> None:
    """A second run makes as many attempts; a log that lacks one is refused."""
    judge(tmp_path, "--target", str(targets / "known.toml"), *SELECT, "--repeat", "2")
    files = load(tmp_path)

    assert files.statement["cases"] == len(files.start["cases"])
    assert "| repeat | 2 attempts at each case |" in (tmp_path / "run.md").read_text()
    assert verified(tmp_path, "--rerun", "--target", str(targets / "known.toml"), statement="run.md")[0] == 0

    files.log.remove(files.cases[-1])
    write_remade(files, tmp_path)

    assert verified(tmp_path) == (
        1,
        "the log does not have 2 attempts at each case, in their order\nrefused: 1 disagreement\n",
    )


def test_a_statement_stays_valid_after_a_dispute_has_expired(
    targets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clause was put aside on the day of the run."""
    today = dt.datetime.now(tz=dt.UTC).date()
    entry = Dispute("framing.schema-prefix", "in doubt", "https://example.org/1", since=today, until=today)
    monkeypatch.setattr(disputes, "DISPUTES", (entry,))
    judge(tmp_path, "--target", str(targets / "honest.toml"), *SELECT)
    load(tmp_path)
    monkeypatch.setattr(selection, "today", lambda: today + dt.timedelta(days=1))

    assert verified(tmp_path, statement="run.md")[0] == 0


def test_the_results_of_a_server_are_by_profile() -> None:
    """Core first, and what is not offered is a fact of the statement."""
    start = dataclasses.replace(started("split.child-resumes", "rows.none-is-missing"), not_offered=("splits",))
    events = [start, samples.judged("a", passing("a", "rows.none-is-missing")), RunEnded(1.0)]
    file = FileDigest("run.json", "0")

    made = statement_on(document(fold(events)), releases=(), report_file=file, logs=(), cases=1)

    assert [(row.group, row.clauses) for row in made.results] == [
        ("core", Cell(held=1)),
        ("splits", Cell(not_offered=1)),
    ]
    assert ("profiles", "not offered: splits") in next(sections(made)).rows


def test_a_clause_that_is_held_in_part_has_the_reason_of_the_rest() -> None:
    """A table that could not be made failed nothing."""
    clause = "rows.none-is-missing"
    gap = Verdict("b", clause, Outcome.UNTESTABLE, reason="its table could not be made")
    events: list[Event] = [
        started(clause),
        samples.judged("a", passing("a", clause)),
        samples.judged("b", gap),
        RunEnded(1.0),
    ]

    made = statement_on(
        document(fold(events)),
        releases=(),
        report_file=FileDigest("run.json", "0"),
        logs=(),
        cases=2,
    )

    assert [(one.kind, one.count, one.reason) for one in made.not_judged] == [
        ("clause pass where judged", 1, "untestable: its table could not be made")
    ]


def test_a_statement_on_a_server_says_what_the_service_has_confirmed() -> None:
    """Whoever signs it says, too, how far the clauses rest on the service itself."""
    events = [started("rows.none-is-missing"), samples.judged("a", passing("a", "rows.none-is-missing")), RunEnded(1.0)]

    made = statement_on(document(fold(events)), releases=(), report_file=FileDigest("r", "0"), logs=(), cases=1)

    assert Confirmed(0, 1).sentence in markdown(made)


def test_a_later_patch_release_accepts_the_statement(
    targets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its frozen clauses and cases are the same, though texts of clauses and causes may have been corrected."""
    judge(tmp_path, "--target", str(targets / "liar.toml"), *SELECT)
    files = load(tmp_path)
    files.start["provenance"]["digests"]["clauses"] = "4" * 64
    write_remade(files, tmp_path)
    monkeypatch.setattr(conformance, "__version__", f"{conformance.__version__}1")
    monkeypatch.setattr(causes, "_title", lambda _: "other words")

    assert verified(tmp_path)[0] == 0


def test_a_run_again_confirms_the_statement(targets: Path, tmp_path: Path) -> None:
    """The same selection, seed and target give the same outcome of each clause."""
    judge(tmp_path, "--target", str(targets / "known.toml"), *SELECT, "--cases", "2", "--seed", "5")
    load(tmp_path)

    assert verified(tmp_path, "--rerun", "--target", str(targets / "known.toml"), statement="run.md")[0] == 0


def test_a_run_again_refutes_the_statement(targets: Path, tmp_path: Path) -> None:
    """A forgery that agrees with itself and with the suite, but not with the target."""
    judge(tmp_path, "--target", str(targets / "liar.toml"), *SELECT)
    files = load(tmp_path)
    for case in files.cases:
        for verdict in case["verdicts"]:
            if verdict["outcome"] == "fail":
                verdict.update(outcome="pass", findings=[])
        case["evidence"] = []
    write_remade(files, tmp_path)

    believed, refuted = verified(tmp_path), verified(tmp_path, "--rerun", "--target", str(targets / "liar.toml"))

    assert believed[0] == 0
    assert refuted[0] == 1
    assert "framing.batch-without-end-of-stream: pass in the statement, fail when it is run again" in refuted[1]


def test_what_was_observed_is_not_cut_to_what_is_required() -> None:
    """A cell has the lengths and the first difference of two texts that it cannot hold."""
    same = "a" * 300
    finding = Finding("types.record", f"{same}b", f"{same}c", call=0)
    failed = Verdict("a", "types.record", Outcome.FAIL, (finding,))
    events: list[Event] = [started("types.record"), samples.judged("a", failed), RunEnded(1.0)]

    made = statement_on(document(fold(events)), releases=(), report_file=FileDigest("r", "0"), logs=(), cases=1)

    (broken,) = made.failed
    assert broken.observed.endswith("(301 characters, from 300 on: c)")
    assert broken.required.endswith("(301 characters, from 300 on: b)")
    assert max(len(broken.observed), len(broken.required)) <= LONGEST
