"""The commands on what a run left: reports from logs and shards, expected failures, reports side by side."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.typed import CASE, conformance_, run
from tests.engine.samples import failing, passing
from tests.report.samples import save_report


class TestAfterwards:
    """Commands that work on what a run left."""

    def test_reports_are_made_from_the_log(self, user: Path) -> None:
        """The same JSON, byte for byte, and the status of the run."""
        run("--target", "liar.toml", "--json", "at-once.json")

        result = conformance_("report", ".conformance/liar.jsonl", "--json", "later.json")

        assert result.exit_code == 1
        assert (user / "later.json").read_bytes() == (user / "at-once.json").read_bytes()

    def test_without_a_log_the_last_run_is_reported(self, user: Path) -> None:
        """The latest of the logs in this directory, which standard error names."""
        run("--target", "honest.toml")
        run("--target", "liar.toml", "--json", "at-once.json")
        os.utime(user / ".conformance" / "honest.jsonl", ns=(0, 0))

        result = conformance_("report", "--json", "later.json")

        assert (result.exit_code, result.stderr) == (1, "log: .conformance/liar.jsonl\n")
        assert (user / "later.json").read_bytes() == (user / "at-once.json").read_bytes()

    def test_a_log_that_breaks_off_still_gives_a_report(self, user: Path) -> None:
        """After a crash of ours the verdicts so far are there, and the status is no success."""
        run("--target", "honest.toml")
        log = user / ".conformance" / "honest.jsonl"
        log.write_bytes(log.read_bytes()[:-20])

        result = conformance_("report", str(log))

        assert result.exit_code == 1
        assert "INCOMPLETE: the run was cut short after" in result.output

    def test_expected_failures_are_written_and_then_excused(self, user: Path) -> None:
        """Run, repair, run: the second run is clean, and repairing again changes nothing."""
        assert run("--target", "liar.toml").exit_code == 1
        assert conformance_("expect", "--target", "liar.toml").exit_code == 1
        assert conformance_("expect", "--target", "liar.toml", "--write").exit_code == 0
        written = (user / "liar.toml").read_text()

        assert "[[expected_failures]]" in written
        assert run("--target", "liar.toml").exit_code == 0
        assert conformance_("expect", "--target", "liar.toml").exit_code == 0

    def test_a_fixed_target_is_surprised_by_its_own_list(self, user: Path) -> None:
        """The unexpected pass fails the run, and repairing removes the entry."""
        run("--target", "liar.toml")
        conformance_("expect", "--target", "liar.toml", "--write")
        file = user / "liar.toml"
        file.write_text(file.read_text().replace("user_serializer:Liar", "user_serializer:Honest"))

        result = run("--target", "liar.toml")

        assert result.exit_code == 1
        assert "unexpected pass: " in result.output
        conformance_("expect", "--target", "liar.toml", "--write")
        assert "[[expected_failures]]" not in file.read_text()
        assert run("--target", "liar.toml").exit_code == 0


class TestShards:
    """``conformance run --shard`` and ``conformance report`` on several logs."""

    def test_shards_run_apart_make_the_report_of_the_whole(self, user: Path) -> None:
        """Each shard leaves a log; ``report`` on all of them writes what one run would have written."""
        common = ("run", "--target", "liar.toml", "--corpus", "corpus", "--cases", "6", "--no-readers", "--no-shrink")
        (user / "corpus" / "three.yaml").write_text(CASE.replace("id: one", "id: three"))
        whole = conformance_(*common, "--log", "whole.jsonl", "--json", "whole.json")
        parts = [conformance_(*common, "--shard", f"{index}/2", "--log", f"{index}.jsonl") for index in (1, 2)]

        merged = conformance_("report", "2.jsonl", "1.jsonl", "--json", "merged.json")

        reports = [json.loads(Path(name).read_text()) for name in ("whole.json", "merged.json")]
        for report in reports:
            del report["seconds"], report["summary"], report["run"]["provenance"]["began"]
        assert reports[0] == reports[1]
        assert (whole.exit_code, merged.exit_code) == (1, 1)
        assert "shard     1/2: a part of the run" in parts[0].stdout

    def test_a_shard_that_does_not_exist_is_refused(self, user: Path) -> None:
        """One sentence, status 2."""
        result = conformance_("run", "--target", "honest.toml", "--corpus", "corpus", "--shard", "3/2")

        assert result.exit_code == 2
        assert "expected a shard I/N with I from 1 to N, as in 2/4, but got '3/2'" in result.stderr


class TestReportsSideBySide:
    """``conformance diff`` and ``conformance matrix``."""

    @pytest.fixture
    def reports(self, user: Path) -> Path:
        """The reports on both targets, ``well_behaved.json`` and ``faulty.json``."""
        for name in ("honest", "liar"):
            run("--target", f"{name}.toml", "--json", f"{name}.json")
        return user

    def test_a_regression_ends_in_1(self, reports: Path) -> None:
        """A clause that passed and fails now is named with its replay."""
        result = conformance_("diff", "honest.json", "liar.json")

        assert result.exit_code == 1
        assert "Regressions: passed before, fail now (1)" in result.output
        assert "framing.batch-without-end-of-stream  [MUST]  pass -> fail" in result.output
        assert "conformance replay one --target liar.toml" in result.output

    def test_logs_are_compared_as_their_reports_are(self, reports: Path) -> None:
        """Nobody has to make the report first; a log and a report may stand beside each other."""
        logs = [f".conformance/{name}.jsonl" for name in ("honest", "liar")]
        expected = conformance_("diff", "honest.json", "liar.json")

        for pair in (logs, ["honest.json", logs[1]]):
            assert conformance_("diff", *pair).output == expected.output

    def test_a_repair_ends_in_0(self, reports: Path) -> None:
        """No clause that passed fails now."""
        result = conformance_("diff", "liar.json", "honest.json")

        assert result.exit_code == 0
        assert "repair: 1" in result.output

    def test_a_difference_is_also_json(self, reports: Path) -> None:
        """For programs."""
        difference = json.loads(conformance_("diff", "honest.json", "liar.json", "--json").output)

        assert [item["change"] for item in difference["clauses"]] == ["regression"]

    @pytest.mark.parametrize("width", [60, 80, 120, 200])
    def test_a_difference_breaks_no_word(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
        """At no width, of two reports or of more; both are of one target, so their files name them."""
        monkeypatch.setenv("COLUMNS", str(width))
        long = "'row_id': int64, 'word': string, 'number': double, 'words': list<item: string>, 'count': int64"
        cases = [f"flight.put-damaged.body-{name}" for name in ("alone", "behind", "cut", "longer", "missing")]
        old = save_report(tmp_path / "old.json", *(passing(case, "framing.x") for case in cases), target="mine")
        new = save_report(tmp_path / "new.json", *(failing(case, "framing.x", long) for case in cases), target="mine")
        monkeypatch.chdir(tmp_path)

        pair, series = conformance_("diff", old.name, new.name), conformance_("diff", old.name, new.name, new.name)

        assert pair.output.startswith("old  old.json: mine (suite 0.1.0)\nnew  new.json: mine (suite 0.1.0)\n")
        assert set(f"{long} {', '.join(cases)}".split()) <= set(pair.output.split())
        lines = (*pair.output.splitlines(), *series.output.splitlines())
        assert [line for line in lines if len(line) > width] == []

    def test_a_may_clause_that_is_no_longer_met_ends_in_0(self, tmp_path: Path) -> None:
        """Two reports list it apart, and a series counts it apart."""
        may = "session.trace-id-is-echoed"
        met, unmet = (
            str(save_report(tmp_path / f"{name}.json", verdict, target=name))
            for name, verdict in (("met", passing("a", may)), ("unmet", failing("a", may, "no trace_id")))
        )

        pair, series = conformance_("diff", met, unmet), conformance_("diff", met, met, unmet)

        assert (pair.exit_code, series.exit_code) == (0, 0)
        assert "MAY clauses no longer met, which is no regression: passed before, fail now (1)" in pair.output
        assert "of which 0 passed before, and 1 MAY clause, which is no regression" in series.output

    def test_a_log_is_no_report(self, reports: Path) -> None:
        """One sentence, status 2."""
        result = conformance_("diff", "honest.toml", "liar.json")

        assert result.exit_code == 2
        assert "expected a JSON report" in result.stderr

    def test_two_reports_make_a_site(self, reports: Path) -> None:
        """Pages that link each other, badges and Markdown."""
        result = conformance_("matrix", "honest.json", "liar.json", "--html", "site", "--markdown", "m.md")

        assert result.exit_code == 0
        assert (reports / "site" / "liar.svg").exists()
        anchor = "clause--framing.batch-without-end-of-stream"
        assert f'href="liar.html#{anchor}"' in (reports / "site" / "index.html").read_text()
        assert f'id="{anchor}"' in (reports / "site" / "liar.html").read_text()
        assert "`framing.batch-without-end-of-stream` | MUST | ✓ | ✗ |" in (reports / "m.md").read_text()


ALTERNATING = '''
class Alternating(Honest):
    """The batches of every second case have eight bytes too many."""
    cases = 0
    @classmethod
    def serialize_schema(cls, schema):
        cls.cases += 1
        return Honest.serialize_schema(schema)
    @classmethod
    def serialize_batch(cls, batch):
        return serialize_batch(batch) if cls.cases % 2 == 0 else Honest.serialize_batch(batch)
'''


class TestRepetition:
    """``conformance run --repeat`` and expected failures that occur sometimes."""

    @pytest.fixture
    def alternating(self, user: Path) -> Path:
        """A target whose second and fourth attempt at the only case fail."""
        with (user / "user_serializer.py").open("a") as file:
            file.write(ALTERNATING)
        target = user / "alternating.toml"
        target.write_text(
            (user / "liar.toml").read_text().replace("Liar", "Alternating").replace("liar", "alternating")
        )
        return target

    def test_a_failure_that_occurs_sometimes_is_found_and_then_expected(self, alternating: Path) -> None:
        """One attempt passes; five find the failure; its entry makes neither a pass nor a failure a surprise."""
        assert run("--target", "alternating.toml").exit_code == 0
        repeated = run("--target", "alternating.toml", "--repeat", "5")
        conformance_("expect", "--target", "alternating.toml", "--write")

        assert repeated.exit_code == 1
        assert "sometimes (2 of 5)" in repeated.output
        assert "sometimes = true" in alternating.read_text()
        assert run("--target", "alternating.toml").exit_code == 0
        assert run("--target", "alternating.toml", "--repeat", "5").exit_code == 0

    def test_shards_repeat_their_cases(self, alternating: Path) -> None:
        """The option reaches every process, and the merged log says how often."""
        (alternating.parent / "corpus" / "three.yaml").write_text(CASE.replace("id: one", "id: three"))

        result = run("--target", "alternating.toml", "--repeat", "2", "--parallel", "2")

        assert "sometimes (2 of 4)" in result.output
        assert "2 cases, 2 attempts each," in result.output


class TestSeries:
    """``conformance diff`` over several reports, and over the checks that ran."""

    @pytest.fixture
    def reports(self, user: Path) -> Path:
        """Reports on a correct target, a faulty one, and the correct one without its second case."""
        (user / "corpus" / "three.yaml").write_text(CASE.replace("id: one", "id: three"))
        for name in ("honest", "liar"):
            run("--target", f"{name}.toml", "--json", f"{name}.json")
        run("--target", "honest.toml", "--select", "one", "--json", "one.json")
        return user

    def test_a_series_names_the_first_version_that_fails_and_the_one_that_repairs_it(self, reports: Path) -> None:
        """As a table, with the versions in the order given; a repaired failure is no regression."""
        result = conformance_("diff", "honest.json", "liar.json", "one.json")

        assert result.exit_code == 0
        (row,) = [line.split() for line in result.output.splitlines() if "end-of-stream" in line]
        assert row[:2] == ["framing.batch-without-end-of-stream", "MUST"]
        assert row[2:] == ["honest", "(1)", "liar", "honest", "(2)"]
        assert result.output.endswith("1 failure: 1 repaired, 0 not repaired, of which 0 passed before\n")

    def test_a_failure_that_is_not_repaired_ends_in_1(self, reports: Path) -> None:
        """The same as JSON."""
        result = conformance_("diff", "one.json", "honest.json", "liar.json", "--json")

        assert result.exit_code == 1
        (span,) = json.loads(result.output)["spans"]
        assert (span["first"], span["passed"], "repaired" in span) == ("liar", "honest (2)", False)

    def test_a_case_that_no_longer_runs_is_named(self, reports: Path) -> None:
        """Although nothing fails; it is no regression."""
        result = conformance_("diff", "honest.json", "one.json")

        assert result.exit_code == 0
        assert "Cases on which nothing was judged any more (1)\n  three\n" in result.output
        assert result.output.endswith("cases no longer run: 1\n")

    def test_json_has_the_checks_too(self, reports: Path) -> None:
        """For programs."""
        found = json.loads(conformance_("diff", "honest.json", "one.json", "--json").output)

        assert found["no_longer_run"] == {"cases": ["three"]}

    def test_one_report_cannot_be_compared(self, reports: Path) -> None:
        """A usage error in one sentence."""
        result = conformance_("diff", "honest.json")

        assert result.exit_code == 2
        assert "expected at least two reports, got one" in result.stderr


class TestCauses:
    """One cause of a run, explained from its log or its report."""

    def test_a_cause_is_explained_by_number_and_by_key(self, user: Path) -> None:
        """From the log and from the JSON report alike."""
        run("--target", "liar.toml", "--json", "it.json")
        key = json.loads((user / "it.json").read_text())["causes"][0]["key"]

        by_number = conformance_("explain", ".conformance/liar.jsonl", "1")

        assert by_number.exit_code == 0
        assert by_number.output.startswith(f"{key} MUST, ")
        assert "\n  smallest  " in by_number.output
        assert "  bytes     " in by_number.output
        assert conformance_("explain", "it.json", key).output == by_number.output

    def test_the_only_cause_of_a_clause_is_explained_by_the_clause(self, user: Path) -> None:
        """Of several causes, each is named by its key."""
        run("--target", "liar.toml", "--json", "it.json")
        report = json.loads((user / "it.json").read_text())
        first = report["causes"][0]
        clause = first["key"].partition("~")[0]
        others = [{**first, "key": f"{clause}~{number:04}"} for number in range(3)]
        (user / "four.json").write_text(json.dumps({**report, "causes": [first, *others]}))
        (user / "one.json").write_text(json.dumps({**report, "causes": [first]}))

        one, four = (conformance_("explain", name, clause) for name in ("one.json", "four.json"))

        assert one.output == conformance_("explain", "one.json", "1").output
        assert four.exit_code == 2
        assert "expected one cause, got a clause with 4: " in four.output
        assert [each["key"] for each in (first, *others) if each["key"] not in four.output] == []

    def test_a_cause_is_explained_as_json(self, user: Path) -> None:
        """As the report has it."""
        run("--target", "liar.toml", "--json", "it.json")
        report = json.loads((user / "it.json").read_text())

        assert json.loads(conformance_("explain", "it.json", "1", "--json").output) == report["causes"][0]

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (["it.json", "99"], "expected a cause from 1 to "),
            (["it.json", "nothing.like-it~0000"], "no cause is called 'nothing.like-it~0000'"),
            (["it.json"], "expected a CAUSE of the RUN"),
            (["gone.jsonl", "1"], "expected the path of a log or a JSON report, got gone.jsonl"),
        ],
    )
    def test_what_is_no_cause_is_a_usage_error(self, user: Path, arguments: list[str], said: str) -> None:
        """One sentence, and status 2."""
        run("--target", "liar.toml", "--json", "it.json")

        result = conformance_("explain", *arguments)

        assert result.exit_code == 2
        assert said in result.output

    def test_the_complete_report_is_printed_on_demand(self, user: Path) -> None:
        """The first screen has no list of what was not judged."""
        short, complete = run("--target", "liar.toml"), run("--target", "liar.toml", "--all")

        assert "\nFIX FIRST" in short.output
        assert "\nFAILED (" in complete.output
        short_verdict, whole_verdict = (
            next(line for line in one.output.splitlines() if line.startswith("FAILED: ")) for one in (short, complete)
        )
        assert whole_verdict.split(";")[0] == short_verdict.split(";")[0]
