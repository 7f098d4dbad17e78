"""The commands as a user types them: what they print, and the status they end with."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from pathlib import Path

import click.testing
import jsonschema
import pytest

from conformance.cli import _outputs
from conformance.cli._group import COMMANDS, cli
from conformance.contain.text import safe
from conformance.engine.events import CaseJudged
from conformance.engine.log import read_log
from conformance.engine.selection import all_clauses
from conformance.generate import save_case
from conformance.report.document import report_schema
from tests.cli.typed import CASE, conformance_, run
from tests.protocols.flight.records.steps import FLIGHT_CASE


class TestRun:
    """``conformance run``."""

    def test_an_honest_target_ends_in_0(self, user: Path) -> None:
        """Nothing unexpected, and the log is where the output says."""
        result = run("--target", "honest.toml")

        assert result.exit_code == 0, result.output
        assert "PASSED: " in result.output
        assert "log: .conformance/honest.jsonl\n" in result.output
        assert len(list(read_log(user / ".conformance" / "honest.jsonl"))) == 3

    @pytest.mark.usefixtures("user")
    def test_a_lying_target_ends_in_1_and_says_how_to_see_it_again(self) -> None:
        """The replay is one line that works unchanged."""
        result = run("--target", "liar.toml")

        assert result.exit_code == 1
        assert " conformance replay one --target liar.toml" in result.output

    def test_every_report_is_written(self, user: Path) -> None:
        """One run, four files."""
        files = {name: f"out/report.{name}" for name in ("junit", "json", "html", "badge")}

        run("--target", "liar.toml", *(text for name, path in files.items() for text in (f"--{name}", path)))

        assert [(user / path).stat().st_size > 200 for path in files.values()] == [True] * 4
        jsonschema.validate(json.loads((user / files["json"]).read_text()), report_schema())

    @pytest.mark.parametrize(
        ("options", "page"),
        [
            (["--open"], ".conformance/liar.html"),
            (["--open", "--html", "mine.html"], "mine.html"),
            (["--open", "--log", "mine.jsonl"], ".conformance/mine.html"),
        ],
    )
    @pytest.mark.parametrize("found", [True, False])
    def test_a_browser_shows_the_page(
        self, user: Path, monkeypatch: pytest.MonkeyPatch, *, options: list[str], page: str, found: bool
    ) -> None:
        """With --html its file, otherwise one next to the logs; where there is no browser, its path is left."""
        opened: list[str] = []
        monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or found)
        monkeypatch.setattr(_outputs, "_has_terminal", lambda: True)

        result = run("--target", "liar.toml", *options)

        assert opened == [(user / page).as_uri()]
        assert (user / page).read_text().startswith("<!doctype html>")
        assert f"page: {page}{'' if found else ' (no browser was found here)'}\n" in result.output

    def test_a_job_without_a_terminal_opens_no_browser(self, user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A browser may come back when it is closed, and nobody is there to close it."""
        monkeypatch.setattr("webbrowser.open", pytest.fail)

        result = run("--target", "liar.toml", "--open")

        assert result.exit_code == 1
        assert (user / ".conformance" / "liar.html").is_file()
        assert "page: .conformance/liar.html (there is no terminal here, so no browser is opened)\n" in result.output

    def test_generated_cases_are_added_and_failing_ones_saved(self, user: Path) -> None:
        """A counterexample is a case file that replays."""
        result = run("--target", "liar.toml", "--cases", "2", "--seed", "5")

        (saved,) = (user / ".conformance" / "counterexamples").iterdir()
        again = conformance_("replay", str(saved), "--target", "liar.toml", "--no-readers")
        assert "2 generated (arrow)" in result.output
        assert again.exit_code == 1
        assert "  got  " in again.output

    @pytest.mark.usefixtures("user")
    def test_the_same_seed_gives_the_same_verdicts(self) -> None:
        """Two runs differ in nothing but time."""
        logs = []
        for name in ("a", "b"):
            run("--target", "honest.toml", "--cases", "5", "--seed", "9", "--log", f"{name}.jsonl")
            logs.append([event.verdicts for event in read_log(Path(f"{name}.jsonl")) if isinstance(event, CaseJudged)])

        assert logs[0] == logs[1]
        assert len(logs[0]) == 6

    @pytest.mark.usefixtures("user")
    def test_what_was_not_selected_is_counted_in_the_header(self) -> None:
        """A narrow run cannot be taken for a whole one."""
        result = run("--target", "honest.toml", "--clause", "framing.*", "--level", "must")

        framing = sum(clause.chapter == "framing" and clause.level == "must" for clause in all_clauses().values())
        header = f"1 of 1 case, {framing} of {len(all_clauses())} clauses down to level must [--clause framing.*]"
        assert header in result.output


class TestUnusable:
    """Input that cannot be used ends in status 2 and one sentence."""

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["run", "--target", "absent.toml"], "absent.toml: cannot read the target file: No such file or directory"),
            (["run", "--target", "wrong.toml"], "wrong.toml: expected TOML"),
            (["run", "--target", "dead.toml", "--corpus", "corpus", "--no-readers"], "dead"),
            (["run", "--target", "honest.toml", "--corpus", "corpus", "--select", "tow"], "no case matches 'tow'"),
            (["run", "--target", "honest.toml", "--corpus", "corpus", "--clause", "farming.*"], "no clause matches"),
            (["run", "--target", "honest.toml", "--corpus", "broken"], "broken/bad.yaml: "),
            (["replay", "onee", "--corpus", "corpus"], "no case is called 'onee'; did you mean one?"),
            (["show", "corpus/one.yaml.bak", "--corpus", "corpus"], "no case is called 'corpus/one.yaml.bak'"),
            (["explain", "framing.batch-singel-message"], "did you mean framing.batch-single-message"),
            (["check", "--schema", "schema.bin", "--batch", "wrong.toml"], "wrong.toml: expected Arrow data, got text"),
            (["check", "--schema", "empty.bin"], "empty.bin: expected an Arrow message, got an empty file"),
            (["dissect", "empty.bin"], "empty.bin: expected an Arrow message, got no bytes"),
            (["dissect", "batch.bin", "--schema", "batch.bin"], "batch.bin: expected a schema message"),
            (["report", "schema.bin"], "schema.bin, line 1: expected a JSON object"),
            (["report"], "no run is logged in .conformance below this directory: give the path of a log, or make one"),
            (["serve", "--mutant", "nobody"], "no mutant is called 'nobody'"),
            (["serve", "--mutant", "reader.loses-rows"], "no mutant is called 'reader.loses-rows'"),
            (["serve", "--mutant", "body.length-short+liar.null"], "expected liar.null alone: only mutants"),
            (["expect", "--target", "honest.toml"], "run `conformance run --target honest.toml` first"),
            (["list", "cases", "--corpus", "corpus", "--select", "x*"], "no case matches 'x*'"),
        ],
        ids=lambda value: " ".join(value[:3]) if isinstance(value, list) else "",
    )
    def test_it_is_refused_in_one_sentence(self, user: Path, arguments: Sequence[str], message: str) -> None:
        """No traceback, nothing on standard output, the cause and the cure on standard error."""
        (user / "wrong.toml").write_text("name = ")
        (user / "dead.toml").write_text(
            'name = "dead"\nkind = "server"\n\n[endpoint]\ngrpc = "127.0.0.1:1"\nrest = "http://127.0.0.1:1"\n'
            "\n[deadlines]\nstart = 0.5\n"
        )
        (user / "broken").mkdir()
        (user / "broken" / "bad.yaml").write_text("id: bad\ntitle: x\n")

        result = conformance_(*arguments)

        assert result.exit_code == 2, result.output
        assert message in result.stderr
        assert "Traceback" not in result.stderr
        (sentence,) = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
        assert message in sentence


class TestFiles:
    """``check`` and ``dissect``: bytes without a server."""

    @pytest.mark.usefixtures("user")
    def test_clean_messages_end_in_0(self) -> None:
        """A schema alone, and with batches."""
        assert conformance_("check", "--schema", "schema.bin").exit_code == 0
        assert conformance_("check", "--schema", "schema.bin", "--batch", "batch.bin").exit_code == 0

    @pytest.mark.usefixtures("user")
    def test_findings_end_in_1_with_the_bytes(self) -> None:
        """The clause, the source and the marked bytes."""
        result = conformance_("check", "--schema", "schema.bin", "--batch", "trailing.bin")

        assert result.exit_code == 1
        assert "  where     trailing.bin" in result.output
        assert "\n  > 0x" in result.output

    @pytest.mark.usefixtures("user")
    def test_the_verdicts_are_there_as_json(self) -> None:
        """For programs."""
        result = conformance_("check", "--schema", "schema.bin", "--batch", "trailing.bin", "--json")

        outcomes = {verdict["outcome"] for verdict in json.loads(result.stdout)}
        assert outcomes == {"pass", "fail"}

    @pytest.mark.usefixtures("user")
    def test_a_dump_accounts_for_every_byte(self) -> None:
        """Regions cover the file once and in order."""
        result = conformance_("dissect", "batch.bin", "--schema", "schema.bin", "--json")

        regions = json.loads(result.stdout)["regions"]
        ends = [region["end"] for region in regions]
        assert [region["start"] for region in regions] == [0, *ends[:-1]]
        assert ends[-1] == Path("batch.bin").stat().st_size
        assert result.exit_code == 0

    def test_standard_input_is_dissected(self, user: Path) -> None:
        """A dash is standard input."""
        data = (user / "schema.bin").read_bytes()

        result = click.testing.CliRunner().invoke(cli, ["dissect", "-"], input=data)

        assert "continuation" in result.output


class TestWords:
    """Commands that teach."""

    def test_every_command_has_help(self) -> None:
        """The help names what the command takes and ends in 0."""
        for name in COMMANDS:
            result = conformance_(name, "--help")
            assert result.exit_code == 0, name
            assert result.output.startswith(f"Usage: cli {name}"), name

    def test_the_help_states_the_exit_codes(self) -> None:
        """A script is written from the help alone."""
        assert "Exit status:\n  0  " in conformance_("--help").output.replace("\n    ", "\n  ")

    def test_clauses_are_listed_with_their_level(self) -> None:
        """All of them."""
        result = conformance_("clauses")

        assert f"\n{len(all_clauses())} clauses; " in result.output
        assert all(f"{clause.id}  [{clause.level.upper()}]" in result.output for clause in all_clauses().values())

    def test_the_clauses_of_a_level_are_listed_as_json(self) -> None:
        """For tables made by others."""
        listed = json.loads(conformance_("clauses", "--level", "should", "--json").output)

        assert {clause["level"] for clause in listed} == {"should"}
        assert len(listed) < len(all_clauses())

    def test_a_clause_is_explained_with_all_its_sources_and_its_evidence(self) -> None:
        """Further sources follow the first one; the JSON form names the kinds by their short names."""
        output = conformance_("explain", "offsets.end-is-served").output
        facts = json.loads(conformance_("explain", "offsets.end-is-served", "--json").output)

        assert all(f"also      {address}\n" in output for address in facts["also"])
        assert "evidence  recorded from the service, measured on the service\n" in output
        assert facts["evidence"] == ["recorded", "measured"]

    def test_a_chapter_and_a_profile_of_one_name_are_explained_together(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """With each clause of both, and no line is longer than the terminal is wide."""
        monkeypatch.setenv("COLUMNS", "60")

        lines = conformance_("explain", "projection").output.splitlines()

        assert {"projection.filter-may-use-other-columns  [MUST]", "errors.unknown-column-is-named  [MAY]"} <= {*lines}
        assert max(map(len, lines)) <= 60

    @pytest.mark.parametrize("width", [60, 80, 120, 200])
    @pytest.mark.parametrize(
        "line",
        [
            *("clauses", "list targets", "list profiles", "show session.plain", "show types.record", "list cases"),
            "replay session.plain --target broken --no-readers",
        ],
    )
    @pytest.mark.usefixtures("user")
    def test_no_line_of_a_long_text_is_wider_than_the_terminal(
        self, monkeypatch: pytest.MonkeyPatch, line: str, width: int
    ) -> None:
        """A terminal would break it inside a word."""
        monkeypatch.setenv("COLUMNS", str(width))

        lines = conformance_(*line.split()).output.splitlines()

        assert len(lines) > 5
        assert [one for one in lines if len(one) > width] == []

    def test_a_rule_on_bytes_is_explained_with_its_source(self) -> None:
        """`replay` prints such a name next to the bytes, and it is no clause: users ask what it is worth."""
        output = conformance_("explain", "compression.empty-without-frame").output
        facts = json.loads(conformance_("explain", "compression.empty-without-frame", "--json").output)

        assert "[rule on bytes]" in output
        assert "the format does not forbid it" in output
        assert facts["requirement"].lower() in output.lower().replace("\n", " ")
        assert facts["source"] in output

    @pytest.mark.parametrize("rule", ["protobuf.field-order", "stream.schema-first"])
    def test_of_a_rule_and_a_clause_of_one_name_the_clause_is_explained(self, rule: str) -> None:
        """The clause is what a run judges."""
        assert ("[rule on bytes]" in conformance_("explain", rule).output) is (rule == "protobuf.field-order")

    def test_a_clause_is_explained_with_its_source(self) -> None:
        """What, by whose word, who breaks."""
        clause = next(iter(all_clauses().values()))

        output = conformance_("explain", clause.id).output

        assert clause.source in output
        assert " ".join(clause.explanation.split()) in " ".join(output.split())

    @pytest.mark.usefixtures("user")
    def test_a_case_is_shown_in_words_and_as_its_file(self) -> None:
        """The JSON form reads back as the case."""
        words = conformance_("show", "one", "--corpus", "corpus").output
        data = json.loads(conformance_("show", "one", "--corpus", "corpus", "--json").output)

        assert "  a INT64\n" in words
        assert '  row 1: {"a": null}' in words
        assert data["id"] == "one"

    @pytest.mark.usefixtures("user")
    @pytest.mark.parametrize("form", ["", "--json", "--yaml"])
    def test_a_case_of_somebody_else_moves_no_cursor(self, form: str) -> None:
        """Cells and restrictions are the bytes of the file, and are shown in escapes."""
        text = "\x9b2J\u202e##[error]"
        table = {"columns": [{"name": "a", "type": "STRING"}], "rows": [{"a": text}]}
        steps = [{"op": "create-session", "row_restriction": text}]
        Path("foreign.json").write_text(json.dumps({"id": "foreign", "title": "t", "table": table, "steps": steps}))
        shown = conformance_("show", "./foreign.json", *filter(None, [form]))

        assert shown.exit_code == 0
        assert [line for line in shown.output.split("\n") if safe(line) != line] == []

    @pytest.mark.usefixtures("user")
    def test_a_case_of_a_matrix_is_a_file_to_copy(self) -> None:
        """Shown as YAML, a case of many is a file of its own, which is checked and shown like any other."""
        shown = conformance_("show", "types.range-date-repeated", "--yaml").output
        Path("mine.yaml").write_text(shown, encoding="utf-8")

        assert shown.startswith("id: types.range-date-repeated\ntitle: ARRAY<RANGE<DATE>> values arrive as lists")
        assert conformance_("cases", "mine.yaml").output == "1 case, 0 complaints\n"
        assert conformance_("show", "mine.yaml", "--yaml").output == shown

    @pytest.mark.usefixtures("user")
    def test_a_matrix_is_linted_and_no_case(self) -> None:
        """Every case of the file is checked; a command about one case wants its id."""
        matrix = "case:\n" + textwrap.indent(CASE, "  ").replace("id: one", "id: my.$n") + "  clauses: [$n.*]\n"
        Path("my.yaml").write_text(matrix + "matrix: {n: {framing: {}, nothing: {}}}\n")

        linted, shown = conformance_("cases", "my.yaml"), conformance_("show", "my.yaml")

        assert (linted.exit_code, linted.output) == (
            1,
            "my.nothing: no clause matches 'nothing.*'\n2 cases, 1 complaint\n",
        )
        assert shown.exit_code == 2
        assert "expected one case, but this is a matrix of 2; name one by its id (my.framing, …)" in shown.output

    def test_a_generated_case_is_found_by_its_id(self) -> None:
        """The id alone draws it again."""
        assert "generated.server.s4.i2" in conformance_("show", "generated.server.s4.i2").output

    def test_schemas_are_printed(self) -> None:
        """The case file, the report and the log each have one."""
        for arguments in (["cases", "--schema"], ["report", "--schema", "report"], ["report", "--schema", "log"]):
            schema = json.loads(conformance_(*arguments).output)
            jsonschema.Draft202012Validator.check_schema(schema)

    @pytest.mark.usefixtures("user")
    def test_a_case_of_flight_is_shown_and_not_put_to_a_target(self) -> None:
        """Its fields and steps in words; a Storage Read target does not support it, which fails no run."""
        Path("corpus/flight").mkdir()
        save_case(FLIGHT_CASE, Path("corpus/flight/words.yaml"))

        shown = conformance_("show", "corpus/flight/words.yaml").output.splitlines()
        run = conformance_("run", "--target", "honest.toml", "--corpus", "corpus", "--no-readers", "--json", "r.json")
        replay = conformance_("replay", "flight.words", "--target", "honest.toml", "--corpus", "corpus")

        assert "protocol  flight" in shown
        assert "table     3 Arrow fields, 2 rows in 1 batch" in shown
        assert '  1. do-put descriptor={"path": ["words"]}, in_turns=true' in shown
        assert run.exit_code == 0
        said = "this case speaks flight; the target storage-read"
        (left,) = [
            one for one in json.loads(Path("r.json").read_text())["deviations"] if one["cases"] == ["flight.words"]
        ]
        assert (left["outcome"], left["text"]) == ("unsupported", said)
        assert (replay.exit_code, said in replay.stderr) == (2, True)

    @pytest.mark.usefixtures("user")
    def test_cases_are_linted(self) -> None:
        """A pattern that names no clause would observe nothing, ever."""
        Path("odd.yaml").write_text(CASE + "clauses: [framing.nothing-such, 'framing.*']\n")

        result = conformance_("cases", "odd.yaml")

        assert result.exit_code == 1
        assert result.output == "one: no clause matches 'framing.nothing-such'\n1 case, 1 complaint\n"


class TestOneCase:
    """``replay`` and ``extract``."""

    @pytest.mark.usefixtures("user")
    def test_a_replay_shows_every_message_annotated(self) -> None:
        """From the call to the field in the metadata."""
        result = conformance_("replay", "one", "--target", "honest.toml", "--corpus", "corpus", "--no-readers")

        assert result.exit_code == 0
        assert "call 0  SerializeSchema" in result.output
        assert "schema message, " in result.output
        assert "continuation word" in result.output

    @pytest.mark.usefixtures("user")
    def test_a_replay_that_was_kept_is_judged_again_without_the_target(self) -> None:
        """The same bytes come to the same verdicts, wherever they are."""
        options = ("--target", "liar.toml", "--corpus", "corpus", "--no-readers", "--log", "kept.jsonl")
        once = conformance_("replay", "one", *options)
        Path("liar.toml").unlink()

        again = conformance_("replay", "kept.jsonl")

        assert (once.exit_code, again.exit_code) == (1, 1)
        shown, verdicts = once.output.split("\n\n"), again.output.split("\n\n")
        assert shown[:2] == verdicts[:2]
        assert [line for line in shown[-1].splitlines() if " in " not in line] == [
            line for line in verdicts[-1].splitlines() if " in " not in line
        ]

    def test_extracted_messages_are_what_check_takes(self, user: Path) -> None:
        """Any program can be fed with them, ours too."""
        result = conformance_("extract", "one", "--target", "liar.toml", "--corpus", "corpus", "--out", "out")

        names = sorted(path.relative_to(user / "out").as_posix() for path in (user / "out").rglob("*.*"))
        assert result.exit_code == 0
        assert {"case.json", "exchange.json", "verdicts.json"} <= set(names)
        (schema,) = (user / "out" / "arrow").glob("*-schema.bin")
        batches = [text for path in (user / "out" / "arrow").glob("*-batch.bin") for text in ("--batch", str(path))]
        assert conformance_("check", "--schema", str(schema), *batches).exit_code == 1


class TestFreeze:
    """``conformance freeze``."""

    def test_what_was_frozen_is_checked(self, user: Path) -> None:
        """Another corpus is seen."""
        conformance_("freeze", "--file", "c.json", "--corpus", "corpus")
        same = conformance_("freeze", "--check", "--file", "c.json", "--corpus", "corpus")
        (user / "corpus" / "two.yaml").write_text(CASE.replace("id: one", "id: two"))
        other = conformance_("freeze", "--check", "--file", "c.json", "--corpus", "corpus")

        assert (same.exit_code, other.exit_code) == (0, 1)
        assert "the corpus of 2 cases is not the one that was frozen" in other.output


def test_a_defect_of_the_suite_is_marked_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception that nobody expected ends in a status of its own; foreign text in it begins no line."""

    def broken(*_: object) -> None:
        raise AssertionError("quoted\n::error::from a target")

    monkeypatch.setattr("conformance.cli.explain.find_clause", broken)

    done = conformance_("explain", "schema.order")

    assert done.exit_code == 70
    lines = done.stderr.splitlines()
    assert lines[-1] == "Error: the suite itself broke; please report it with the lines above"
    assert all(line.startswith("  | ") for line in lines[:-1])
    assert "AssertionError: quoted" in done.stderr
