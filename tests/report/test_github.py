"""Annotations and the job summary say what fails a run, and no text of a target is markup or a command in them."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.cli._group import cli
from conformance.contract.clause import load_chapters
from conformance.disk.files import DiskError
from conformance.engine.log import LogWriter
from conformance.engine.result import NOT_JUDGED
from conformance.records import Outcome, Verdict
from conformance.report import github
from conformance.report.github import annotation_commands, append_summary, step_summary
from conformance.report.reading import read_report
from conformance.targets import ExpectedFailure
from tests.engine.samples import failing, judged, passing, started
from tests.fixtures import ROOT
from tests.report.samples import report_of, result_of

load_chapters()
EMULATOR = read_report(ROOT / "reports" / "bqemulator-1.4.0.json")
NASTY = "a|b `c` <script>x</script> [y](https://z) *b* _i_ ~s~ @name #1 www.x.example \\ % 100 && !"


class TestAnnotations:
    """The commands on standard output."""

    def test_a_deviation_is_one_command(self) -> None:
        """With the clause as its title and the command that shows it again; the line end is escaped."""
        assert annotation_commands(report_of(failing("a", "rows.x", "two messages"))) == [
            (
                "::error title=rows.x::required one message; observed two messages (1 case)%0A"
                "conformance replay a --target fake.toml"
            )
        ]

    def test_the_level_decides_the_kind_and_the_order(self) -> None:
        """A SHOULD is a warning, after each MUST."""
        lines = annotation_commands(report_of(failing("a", "structure.nesting", "x"), failing("a", "types.x", "y")))

        assert [line.partition("::required")[0] for line in lines] == [
            "::error title=types.x",
            "::warning title=structure.nesting",
        ]

    def test_what_follows_from_a_cause_has_none_of_its_own(self) -> None:
        """A reader cannot do better than the bytes."""
        lost, read = failing("a", "framing.schema-prefix", "x"), failing("a", "readers.find-the-values", "y")

        assert [line.partition("::required")[0] for line in annotation_commands(report_of(lost, read))] == [
            "::error title=framing.schema-prefix"
        ]

    def test_there_are_at_most_ten(self) -> None:
        """GitHub would drop the others without a word; the last one counts them."""
        lines = annotation_commands(EMULATOR)

        assert len(lines) == 11
        more = len(EMULATOR.causes) - 10
        assert lines[-1] == f"::notice title=bqemulator-1.4.0::and {more} more; the job summary lists them"

    def test_what_does_not_fail_the_run_is_not_annotated(self) -> None:
        """Neither expected failures nor what was not judged."""
        entry = ExpectedFailure("rows.x", "fail: *")
        unseeded = Verdict("a", "types.x", Outcome.UNTESTABLE, reason="no")

        assert annotation_commands(report_of(failing("a", "rows.x", "2"), unseeded, expectations=[entry])) == []

    def test_a_stale_entry_is_annotated(self) -> None:
        """It fails the run."""
        (line,) = annotation_commands(
            report_of(passing("a", "rows.x"), expectations=[ExpectedFailure("rows.x", "fail: *")])
        )

        assert line.startswith(("::error title=expected failures::", "::error title=rows.x::"))

    @pytest.mark.parametrize(
        ("text", "escaped"),
        [("50 %", "50 %25"), ("a%0Ab", "a%250Ab"), ("a\r\nb", "a\\r\\nb"), ("::error::x", "\\x3a:error::x")],
    )
    def test_a_text_cannot_end_its_command(self, text: str, escaped: str) -> None:
        """Line ends are made safe when a text is recorded, and what GitHub would decode is escaped."""
        (line,) = annotation_commands(report_of(failing("a", "rows.x", text)))

        assert f"observed {escaped} (1 case)%0A" in line
        assert "\n" not in line

    def test_a_title_cannot_end_before_its_command(self) -> None:
        """A colon or a comma would."""
        (line,) = annotation_commands(report_of(failing("a", "x,file=y::z", "t"), clauses=[]))

        assert line.startswith("::error title=x%2Cfile=y%3A%3Az::required")


class TestSummary:
    """The Markdown of the job."""

    def test_it_has_verdict_counts_and_deviations(self) -> None:
        """Each deviation has its clause with the source, the observation and the command."""
        text = step_summary(EMULATOR)
        lines = text.splitlines()

        assert lines[0] == "### Conformance of bqemulator-1.4.0"
        assert unescape(lines[2]) == f"❌ {EMULATOR.summary}"
        shown = sum(len(EMULATOR.parts(cause.own)) + len(EMULATOR.parts(cause.echoes)) for cause in EMULATOR.causes)
        assert sum(line.startswith(("| MUST |", "| SHOULD |", "| MAY |")) for line in lines) == shown
        assert "| MUST | [framing.schema-without-end-of-stream](https://" in text
        assert "conformance replay " in text
        reasons = sum(item.outcome in NOT_JUDGED for item in EMULATOR.deviations)
        assert f"Not judged: {reasons} reasons" in text
        assert len(text.encode()) < github.SUMMARY_BYTES

    def test_every_row_of_a_table_has_the_columns_of_its_head(self) -> None:
        """Also with a bar in a text."""
        text = step_summary(report_of(failing("a", "rows.x", NASTY)))

        for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
            assert len({line.count("|") for line in table.splitlines()}) == 1

    def test_a_text_is_shown_as_it_is(self) -> None:
        """As character references, which never begin markup."""
        text = step_summary(report_of(failing("a", "rows.x", NASTY)))

        (row,) = [line for line in text.splitlines() if line.startswith("| MUST |")]
        assert NASTY in unescape(row)
        observed = row.split(" | ")[2].replace("<br>required: ", "")
        assert not set(re.sub(r"&#\d+;|</?code>|<br>", "", observed)) & set("<>`[]*_~@#|\\!:")

    def test_it_stays_below_the_limit(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """GitHub refuses a summary that is too long as a whole."""
        monkeypatch.setattr(github, "SUMMARY_BYTES", 2000)

        text = step_summary(EMULATOR)

        assert re.search(r"^and \d{2} more, in the HTML and JSON reports$", text, re.MULTILINE)
        assert len(text) < 2000 + 3000

    def test_a_run_that_passes_has_no_list(self) -> None:
        """The verdict and the counts."""
        text = step_summary(report_of(passing("a", "rows.x")))

        assert "✅ PASSED" in text
        assert "what was observed" not in text

    def test_expected_failures_are_counted(self) -> None:
        """They do not fail the run, and are not listed."""
        report = report_of(failing("a", "rows.x", "2"), expectations=[ExpectedFailure("rows.x", "fail: *")])

        assert "Expected failures: 1 reason;" in step_summary(report)

    def test_it_is_appended(self, tmp_path: Path) -> None:
        """A step may run the suite twice."""
        for _ in range(2):
            append_summary(result_of(passing("a", "rows.x")), tmp_path / "summary")

        assert (tmp_path / "summary").read_text().count("### Conformance of fake 1.0\n") == 2

    def test_a_file_that_cannot_be_written_is_named(self, tmp_path: Path) -> None:
        """As every file that a command writes."""
        with pytest.raises(DiskError, match="cannot be written"):
            append_summary(result_of(passing("a", "rows.x")), tmp_path)


class TestCommand:
    """``conformance run`` in a job."""

    @pytest.fixture
    def log(self, tmp_path: Path) -> list[str]:
        """The arguments of a command that reports a run with a deviation."""
        with LogWriter(tmp_path / "log.jsonl") as log:
            log.write(started("rows.x", cases=["a"]))
            log.write(judged("a", failing("a", "rows.x", "two")))
        return ["report", str(tmp_path / "log.jsonl")]

    @pytest.mark.parametrize(
        ("actions", "option", "annotated"),
        [("true", [], True), ("", [], False), ("true", ["--no-github"], False), ("", ["--github"], True)],
    )
    def test_a_job_is_recognised(
        self, tmp_path: Path, log: list[str], actions: str, option: list[str], *, annotated: bool
    ) -> None:
        """By the variable that GitHub sets, unless the user decides."""
        summary = tmp_path / "summary"
        environment = {"GITHUB_ACTIONS": actions, "GITHUB_STEP_SUMMARY": str(summary)}

        result = CliRunner().invoke(cli, [*log, *option], env=environment)

        assert result.exit_code == 1
        assert ("::error title=rows.x::" in result.stdout) is annotated
        assert summary.exists() is annotated
        assert result.stdout.splitlines()[-1].startswith("INCOMPLETE")
