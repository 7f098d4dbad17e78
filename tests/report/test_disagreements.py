"""Statements that are not true are refused, each with its own sentence; ``test_statement`` has the true ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.report.statements import (
    SELECT,
    Edit,
    Files,
    judge,
    load,
    verified,
    write_edited,
    write_remade,
)

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
        (_case_of_another_seed, "that the run, with seed 4, 2 generated cases and"),
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
    files.page = (targets / "judged.md").read_text().replace(" fail ", " failures ", 1)
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
