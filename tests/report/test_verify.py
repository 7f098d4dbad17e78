"""Statements that are not true are refused, each with its own sentence; true ones are accepted."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Iterator
from pathlib import Path

import pytest

import conformance
from conformance.contract import disputes
from conformance.contract.disputes import Dispute
from conformance.engine import causes, recount, selection
from conformance.engine.corpus import load_corpus
from conformance.engine.events import RunEnded
from conformance.engine.result import fold
from conformance.report.document import document
from conformance.report.statement import FileDigest, statement_on
from conformance.report.statementpage import sections
from conformance.report.summary import Cell
from tests.cli.typed import conformance_
from tests.engine import samples
from tests.engine.samples import passing, started
from tests.report.statements import (
    SELECT,
    Edit,
    Files,
    judge,
    load,
    verified,
    write_edited,
    write_remade,
    write_targets,
)


@pytest.fixture(scope="module", autouse=True)
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A directory for counterexamples, and a corpus that is read once and not for every statement."""
    cases = load_corpus()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("current"))
        patch.setattr(recount, "load_corpus", lambda: cases)
        yield


@pytest.fixture(scope="module")
def targets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of target files."""
    folder = tmp_path_factory.mktemp("targets")
    write_targets(folder)
    return folder


@pytest.fixture(scope="module")
def judged(targets: Path) -> Files:
    """A run with two generated cases, a failure that is expected and others that are not."""
    judge(targets, "--target", str(targets / "known.toml"), *SELECT, "--cases", "2", "--seed", "3", name="judged")
    return load(targets, "judged")


# --- edits of the statement, the report or the log; the rest stays as it was --------------------------------


def _edit_score(files: Files) -> None:
    row = next(row for row in files.statement["results"] if row["group"] == "framing")
    row["clauses"]["held"] += 1


def _hide_expected(files: Files) -> None:
    files.statement["expected"] = []


def _other_digest(files: Files) -> None:
    files.statement["run"]["provenance"]["digests"]["clauses"] = "0" * 64


def _other_suite(files: Files) -> None:
    files.statement["run"]["suite"] = "0.1.0"


def _more_releases(files: Files) -> None:
    files.statement["releases"].insert(0, "0.1")


def _other_seed(files: Files) -> None:
    files.statement["run"]["seed"] = 4


def _other_target(files: Files) -> None:
    files.statement["run"]["target"] = "better 2.0"


def _other_date(files: Files) -> None:
    files.statement["run"]["provenance"]["began"] = "2031-01-01T00:00:00Z"


def _other_commit(files: Files) -> None:
    files.statement["run"]["provenance"]["commit"] = "f" * 40


def _no_remark(files: Files) -> None:
    files.statement["remarks"] = []


def _claim_readers(files: Files) -> None:
    files.statement["run"]["readers"] = True


def _empty_left_out(files: Files) -> None:
    del files.statement["left_out"]


def _claim_to_pass(files: Files) -> None:
    files.statement["passed"] = not files.statement["passed"]


def _of_another_report(files: Files) -> None:
    files.statement["report"]["sha256"] = "1" * 64


def _report_of_another_run(files: Files) -> None:
    files.report["run"]["provenance"]["began"] = "2030-01-01T00:00:00Z"


def _report_with_a_pass(files: Files) -> None:
    item = next(item for item in files.report["clauses"] if item["outcome"] == "expected-fail")
    item["outcome"] = "pass"


def _cut_log(files: Files) -> None:
    files.log.pop()


def _flip_verdict(files: Files) -> None:
    verdict = next(one for case in files.cases for one in case["verdicts"] if one["outcome"] == "fail")
    verdict.update(outcome="pass", findings=[])


def _drop_line(files: Files) -> None:
    del files.log[2]


def _repeat_line(files: Files) -> None:
    files.log.insert(2, files.log[1])


def _swap_lines(files: Files) -> None:
    files.log[1], files.log[2] = files.log[2], files.log[1]


def _append_line(files: Files) -> None:
    files.log.append(files.log[1])


def _no_digest(files: Files) -> None:
    del files.log[-1]["digest"]


CHANGED = "the lines before it are not those that the run wrote"


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (_edit_score, "the statement says otherwise than the log about 'framing must' in its results"),
        (_hide_expected, "the statement leaves 'framing.batch-without-end-of-stream fail: an end-of-stream marker of"),
        (_other_digest, "the statement has run.provenance.digests.clauses '00000000"),
        (_other_suite, "the statement has run.suite '0.1.0', and the log gives '"),
        (
            _more_releases,
            "the statement names suite release 0.1, whose frozen clauses and cases are not those of the run",
        ),
        (_other_seed, "the statement has run.seed '4', and the log gives '3'"),
        (_other_target, "the statement has run.target 'better 2.0', and the log gives 'known'"),
        (_other_date, "the statement has run.provenance.began '2031-01-01T00:00:00Z', and the log gives"),
        (_other_commit, "the statement has run.provenance.commit 'ffff"),
        (_no_remark, "the statement leaves 'no real client library read the data: the verdicts are those of the bytes"),
        (_claim_readers, "the statement has run.readers 'True', and the log gives 'False'"),
        (_empty_left_out, "out of its left_out, and the log has it"),
        (_claim_to_pass, "the statement has passed '"),
        (_of_another_report, "the statement is on another report: the digest of run.json is "),
        (_report_of_another_run, "the report has run.provenance.began '2030-01-01T00:00:00Z', and the log gives"),
        (
            _report_with_a_pass,
            "the report says otherwise than the log about 'framing.batch-without-end-of-stream' in its clauses",
        ),
        (_cut_log, "the report has complete 'True', and the log gives 'False'"),
        (_flip_verdict, CHANGED),
        (_drop_line, CHANGED),
        (_repeat_line, CHANGED),
        (_swap_lines, CHANGED),
        (_append_line, "expected no line after 'run-ended', got 'case-judged'"),
        (_no_digest, "the log ends without the digest of its lines, which every run writes there"),
    ],
    ids=lambda value: value.__name__.strip("_") if callable(value) else "",
)
def test_an_edited_file_is_refused(judged: Files, tmp_path: Path, edit: Edit, sentence: str) -> None:
    """One of three files was edited, and the others show it."""
    files = judged.copy()
    edit(files)
    write_edited(files, tmp_path)

    status, said = verified(tmp_path)

    assert sentence in said
    assert status == 1


# --- edits of the log, whose digest, report and statement were then made again ------------------------------


def _case_missing(files: Files) -> None:
    files.log.remove(files.cases[0])


def _case_unlisted(files: Files) -> None:
    files.start["cases"].remove("types.bool")
    files.log.remove(next(case for case in files.cases if case["case_id"] == "types.bool"))


def _case_twice(files: Files) -> None:
    files.log.insert(2, files.cases[0])


def _case_of_another_seed(files: Files) -> None:
    files.start["seed"] = 4


def _cases_reordered(files: Files) -> None:
    files.start["cases"].reverse()
    files.log[1:4] = files.log[3:0:-1]


def _clause_dropped(files: Files) -> None:
    clause = "framing.batch-without-end-of-stream"
    files.start["clauses"].remove(clause)
    for case in files.cases:
        case["verdicts"] = [one for one in case["verdicts"] if one["clause"] != clause]


def _clause_left_out(files: Files) -> None:
    _clause_dropped(files)
    clause = {"kind": "clause", "id": "framing.batch-without-end-of-stream", "reason": "its level is may"}
    files.start["left_out"].insert(0, clause)


def _level_lowered(files: Files) -> None:
    files.start["level"] = "must"


def _selection_unsaid(files: Files) -> None:
    files.start["select"] = []


def _left_out_emptied(files: Files) -> None:
    files.start["left_out"] = [left for left in files.start["left_out"] if left["kind"] == "clause"]


def _fewer_in_all(files: Files) -> None:
    files.start["all_cases"] = 3


def _older_list(files: Files) -> None:
    files.start["suite"] = "0.1.0"


def _unknown_suite(files: Files) -> None:
    files.start["suite"] = "9.9.0"


def _other_clauses(files: Files) -> None:
    files.start["provenance"]["digests"]["clauses"] = "2" * 64


def _other_cases(files: Files) -> None:
    files.start["provenance"]["digests"]["cases"] = "3" * 64


def _remark_removed(files: Files) -> None:
    files.log[-1]["remarks"] = []


def _readers_claimed(files: Files) -> None:
    files.start["readers"] = True


def _clients_claimed(files: Files) -> None:
    files.start["readers"] = True
    client = {"name": "x", "package": "google-cloud-bigquery", "version": "3.0", "client": True}
    files.start["provenance"]["readers"] = [client]


def _flip_with_findings(files: Files) -> None:
    verdict = next(one for case in files.cases for one in case["verdicts"] if one["outcome"] == "fail")
    verdict["outcome"] = "pass"


def _flip_without_findings(files: Files) -> None:
    for case in files.cases:
        for verdict in case["verdicts"]:
            if verdict["outcome"] == "fail":
                verdict.update(outcome="pass", findings=[])


def _verdict_twice(files: Files) -> None:
    files.cases[0]["verdicts"].append(files.cases[0]["verdicts"][0])


def _no_such_level(files: Files) -> None:
    files.start["level"] = "perhaps"


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (_case_missing, "the log says that the run is complete, and does not judge the case types.bool"),
        (_case_unlisted, "the log does not list the case types.bool that its selection includes"),
        (_case_twice, "the log judges the case types.bool twice"),
        (_case_of_another_seed, "that the run, with seed 4 and 2 generated cases, does not have"),
        (_cases_reordered, "the log lists its cases in another order than the suite"),
        (_clause_dropped, "the log does not mention the clause framing.batch-without-end-of-stream of the frozen list"),
        (_clause_left_out, "the log does not list the clause framing.batch-without-end-of-stream that its selection"),
        (_level_lowered, "the log lists the clauses "),
        (_selection_unsaid, "the log does not list the cases "),
        (_left_out_emptied, "the log does not say that it left out the cases "),
        (_fewer_in_all, "the log counts 3 cases and "),
        (_older_list, "the run judged the clauses and cases of suite 0.1.0, and those of this suite, "),
        (_unknown_suite, "the run is of suite 9.9.0, a version that this suite, "),
        (_other_clauses, "the digest of the clauses is 222222222222 in the log and "),
        (_other_cases, "the digest of the cases is 333333333333 in the log and "),
        (_remark_removed, "its last event does not remark that none read the data"),
        (_readers_claimed, "the log says that readers were on, and names 0"),
        (_clients_claimed, "the log names real clients, and its last event remarks that none read the data"),
        (_flip_with_findings, "the log has a pass with findings on "),
        (_flip_without_findings, "the log has the bytes of a finding on "),
        (_verdict_twice, "the log has two verdicts on types.bool by the clause "),
        (_no_such_level, "the log records a selection that this suite cannot make: 'perhaps' is not a valid Level"),
    ],
    ids=lambda value: value.__name__.strip("_") if callable(value) else "",
)
def test_a_forgery_that_agrees_with_itself_is_refused(judged: Files, tmp_path: Path, edit: Edit, sentence: str) -> None:
    """Statement, report and log agree; the suite shows that they are not of such a run."""
    files = judged.copy()
    edit(files)
    write_remade(files, tmp_path)

    status, said = verified(tmp_path)

    assert sentence in said
    assert status == 1


def test_a_report_with_another_cause_is_refused(targets: Path, tmp_path: Path) -> None:
    """The cause is named by its key."""
    judge(tmp_path, "--target", str(targets / "liar.toml"), *SELECT)
    files = load(tmp_path)
    files.report["causes"][0]["title"] = "nothing of note"
    write_edited(files, tmp_path)

    status, said = verified(tmp_path)

    assert f"the report says otherwise than the log about {files.report['causes'][0]['key']!r} in its causes" in said
    assert status == 1


def test_an_edited_page_is_refused(targets: Path, judged: Files, tmp_path: Path) -> None:
    """The numbers for programs are true, and the sentence for people is not."""
    files = judged.copy()
    files.page = (targets / "judged.md").read_text().replace(" failed,", " failures,", 1)
    write_edited(files, tmp_path)

    assert verified(tmp_path) == (
        1,
        f"the text of the statement is not what its numbers give: line 3, {_third(files)!r}\nrefused: 1 disagreement\n",
    )


def _third(files: Files) -> str:
    return files.page.splitlines()[2][:100]


def test_a_line_below_the_signature_is_refused(targets: Path, judged: Files, tmp_path: Path) -> None:
    """Nothing is added to the page but what the lines for the signature ask for."""
    files = judged.copy()
    files.page = (targets / "judged.md").read_text().replace("Date:\n", "Date: today\nAll clauses hold.\n", 1)
    write_edited(files, tmp_path)

    status, said = verified(tmp_path)

    assert (status, "'All clauses hold.'" in said) == (1, True)


def test_a_statement_on_another_run_is_refused(judged: Files, targets: Path, tmp_path: Path) -> None:
    """The files of one run do not prove the statement on another one."""
    judge(targets, "--target", str(targets / "honest.toml"), *SELECT, name="other")
    files = load(targets, "other")
    files.statement = judged.statement
    write_edited(files, tmp_path)

    status, said = verified(tmp_path)

    assert "the statement is on another report" in said
    assert "the statement has run.target 'known', and the log gives 'honest'" in said
    assert status == 1


# --- statements that are true -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
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
        ("honest.toml", "--parallel", "2"),
        ("honest.toml", "--deadline-multiplier", "2.5"),
        ("honest.toml", "--select", "*", "--capability", "zero-columns"),
        ("liar.toml", "--repeat", "2", "--parallel", "2"),
    ],
    ids=" ".join,
)
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
    assert verified(tmp_path, "--rerun", statement="run.md")[0] == 0

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

    assert verified(tmp_path, "--rerun", statement="run.md")[0] == 0


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

    believed, refuted = verified(tmp_path), verified(tmp_path, "--rerun")

    assert believed[0] == 0
    assert refuted[0] == 1
    assert "framing.batch-without-end-of-stream was held, and is failed when it is run again" in refuted[1]
