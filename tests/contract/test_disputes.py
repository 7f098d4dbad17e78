"""A disputed clause is put aside for everybody, visibly, and for a limited time."""

from __future__ import annotations

import dataclasses
import datetime as dt
import re
import shutil
import subprocess
from typing import Final

import pytest
import yaml

from conformance.cli._group import cli
from conformance.cli._ipcfiles import counting
from conformance.contract import disputes
from conformance.contract.closed import EvidenceKind
from conformance.contract.disputes import DISPUTES, Dispute, complaints, current, dispute_of, expired
from conformance.engine import selection as selection_module
from conformance.engine.corpus import load_corpus
from conformance.engine.selection import Selection, SelectionError, all_clauses, plan
from conformance.records import Outcome, Verdict
from conformance.report.summary import header
from tests.engine.samples import started
from tests.fixtures import ROOT

LAST = dt.date(2027, 2, 28)
CLAUSE = "offsets.negative-is-refused"
ENTRY = Dispute(CLAUSE, "the service accepts -1", "https://example.org/1", since=dt.date(2026, 12, 1), until=LAST)
TEXT = "disputed until 2027-02-28: the service accepts -1 (https://example.org/1)"
AFTER = LAST + dt.timedelta(days=1)


@pytest.fixture(autouse=True)
def _disputed(monkeypatch: pytest.MonkeyPatch) -> None:
    """One clause is disputed, and today is the last day of it."""
    monkeypatch.setattr(disputes, "DISPUTES", (ENTRY,))
    monkeypatch.setattr(selection_module, "today", lambda: LAST)


def test_a_dispute_lasts_until_the_end_of_its_last_day() -> None:
    """On the next day the clause is judged again, and the entry is named."""
    assert dispute_of(CLAUSE, LAST) == ENTRY
    assert [*current(LAST)] == [ENTRY]
    assert [*expired(LAST)] == []

    assert dispute_of(CLAUSE, AFTER) is None
    assert [*expired(AFTER)] == [
        f"the dispute of {CLAUSE} expired on 2027-02-28, so the clause is judged again (https://example.org/1)"
    ]


def test_a_run_does_not_judge_a_disputed_clause_and_says_so() -> None:
    """The reason and the date are in the head of every report."""
    chosen = plan([*load_corpus().values()], all_clauses(), Selection(), LAST)

    assert CLAUSE not in {clause.id for clause in chosen.clauses}
    assert chosen.left_out[-1].reason == TEXT
    lines = header(dataclasses.replace(started(), left_out=chosen.left_out), chosen.remarks)
    assert ("left out", f"1 clause: {TEXT}") in lines


def test_a_run_ignores_an_expired_dispute_and_remarks_it() -> None:
    """Nothing stays aside because nobody looked."""
    chosen = plan([*load_corpus().values()], all_clauses(), Selection(), AFTER)

    assert CLAUSE in {clause.id for clause in chosen.clauses}
    assert chosen.remarks == tuple(expired(AFTER))


def test_a_run_of_disputed_clauses_alone_is_refused() -> None:
    """There is nothing to judge; the reason is named."""
    with pytest.raises(SelectionError, match=f"every selected clause is disputed; {CLAUSE} is disputed until"):
        plan([*load_corpus().values()], all_clauses(), Selection(clauses=(CLAUSE,)), LAST)


def test_bytes_are_not_judged_by_a_disputed_clause(monkeypatch: pytest.MonkeyPatch) -> None:
    """`check` and `dissect` leave its verdicts out."""
    monkeypatch.setattr("conformance.cli._ipcfiles.today", lambda: LAST)
    verdicts = [Verdict("files", clause, Outcome.FAIL) for clause in (CLAUSE, "framing.batch-single-message")]

    assert [one.clause for one in counting(verdicts)] == ["framing.batch-single-message"]


@pytest.mark.parametrize(
    ("changes", "on", "complaint"),
    [
        ({}, LAST, None),
        ({}, AFTER, f"the dispute of {CLAUSE} expired on 2027-02-28"),
        ({"clause": "gone.clause"}, LAST, "gone.clause is no clause"),
        ({"reason": ""}, LAST, "needs a reason and an https:// address"),
        ({"source": "a letter"}, LAST, "needs a reason and an https:// address"),
        ({"since": dt.date(2026, 8, 1)}, LAST, "not at most 180 days"),
        ({"since": dt.date(2027, 3, 1)}, LAST, "not at most 180 days"),
    ],
)
def test_a_faulty_entry_is_complained_about(changes: dict[str, object], on: dt.date, complaint: str | None) -> None:
    """An expired entry is one, too."""
    found = [*complaints([dataclasses.replace(ENTRY, **changes)], all_clauses(), on)]  # type: ignore[arg-type]  # fields

    assert (complaint is None and not found) or (complaint is not None and complaint in found[0])


def test_entries_are_unique_and_in_order() -> None:
    """Two entries of one clause would contradict each other."""
    other = dataclasses.replace(ENTRY, clause="framing.batch-single-message")

    assert any("disputed twice" in text for text in complaints([ENTRY, ENTRY], all_clauses(), LAST))
    assert [*complaints([ENTRY, other], all_clauses(), LAST)] == ["the disputes are not in the order of their clauses"]
    assert [*complaints([other, ENTRY], all_clauses(), LAST)] == []


def test_the_disputes_of_the_suite_are_in_order() -> None:
    """On the day of the last commit, so that a commit that passes goes on passing."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout: nothing says which day it is from")
    day = subprocess.run(
        ["git", "log", "-1", "--format=%cs"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    ).stdout.strip()

    assert [*complaints(DISPUTES, all_clauses(), dt.date.fromisoformat(day))] == []


def test_disputes_are_listed_and_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user sees which clauses nobody judges at present."""
    from click.testing import CliRunner  # noqa: PLC0415

    monkeypatch.setattr("conformance.cli.explain.today", lambda: LAST)
    listed = CliRunner().invoke(cli, ["list", "disputes"])
    explained = CliRunner().invoke(cli, ["explain", CLAUSE])
    monkeypatch.setattr(disputes, "DISPUTES", ())
    none = CliRunner().invoke(cli, ["list", "disputes"])

    assert listed.output == f"{CLAUSE}  {TEXT}\n"
    assert "disputed  until 2027-02-28: the service accepts -1" in explained.output
    assert (none.exit_code, none.stdout, none.stderr) == (0, "", "no clause is disputed\n")


class TestForm:
    """``.github/ISSUE_TEMPLATE/dispute.yml``"""

    form: Final = yaml.safe_load((ROOT / ".github" / "ISSUE_TEMPLATE" / "dispute.yml").read_text(encoding="utf-8"))
    fields: Final = {item["id"]: item for item in form["body"] if "id" in item}

    def test_it_asks_for_what_an_entry_needs(self) -> None:
        """Clause, reason, source and date; all but the proposal are required."""
        required = {name for name, item in self.fields.items() if item.get("validations", {}).get("required")}

        assert required == {"clause", "suite", "observed", "evidence", "source", "date"}
        assert {*self.fields} - required == {"proposal"}

    def test_its_example_is_a_clause(self) -> None:
        """The placeholder is an id as reports show it."""
        assert self.fields["clause"]["attributes"]["placeholder"] in all_clauses()

    def test_its_kinds_of_evidence_are_those_of_the_suite(self) -> None:
        """In the same words and order."""
        assert self.fields["evidence"]["attributes"]["options"] == [kind.words for kind in EvidenceKind]

    def test_its_commands_and_pages_exist(self) -> None:
        """What the form tells people to run and to read is there."""
        text = str(self.form)
        commands = {word.split()[1] for word in text.split("`") if word.startswith("conformance ")} - {"--version"}
        pages = set(re.findall(r"docs/\w+\.md", text))

        assert commands == {"explain", "replay"}
        assert commands <= set(cli.list_commands(None))  # type: ignore[arg-type]  # the context is not used
        assert pages == {"docs/disputes.md", "docs/terms.md"}
        assert all((ROOT / page).exists() for page in pages)

    def test_it_has_only_elements_that_forms_have(self) -> None:
        """Others are refused when somebody opens an issue."""
        assert set(self.form) == {"name", "description", "title", "labels", "body"}
        assert {item["type"] for item in self.form["body"]} == {"markdown", "input", "textarea", "dropdown"}
