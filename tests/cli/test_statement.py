"""``conformance statement`` and ``conformance verify``: which files they take, and what they refuse with status 2."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.engine.events import READ_PROFILE
from tests.cli.typed import conformance_


@pytest.fixture
def judged(user: Path) -> Path:
    """A run on the suite's cases, in the user's directory."""
    options = ("--target", "honest.toml", "--select", "types.bool", "--no-readers", "--json", "report.json")
    assert conformance_("run", *options).exit_code == 0
    return user


def edited(path: Path, **run: object) -> None:
    """Change the parameters of the run in a report."""
    report = json.loads(path.read_text())
    report["run"].update(run)
    path.write_text(json.dumps(report))


@pytest.mark.usefixtures("judged")
def test_the_log_is_found_and_markdown_is_printed() -> None:
    """Neither needs an option."""
    done = conformance_("statement", "report.json")

    assert done.exit_code == 0
    assert done.stdout.startswith("# Conformance statement: honest\n\n**The run passed: ")


def test_the_files_are_found_next_to_the_statement(judged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three files that were sent together are enough."""
    conformance_("statement", "report.json", "--html", "sent/statement.html")
    (judged / "report.json").rename(judged / "sent" / "report.json")
    (judged / ".conformance" / "honest.jsonl").rename(judged / "sent" / "honest.jsonl")
    monkeypatch.chdir(judged / "corpus")

    done = conformance_("verify", "../sent/statement.html")

    assert (done.exit_code, done.stdout[:13]) == (0, "valid: honest")


def test_a_report_that_disagrees_with_its_log_gets_no_statement(judged: Path) -> None:
    """Nobody signs a page that is refused later."""
    edited(judged / "report.json", seed=8)

    done = conformance_("statement", "report.json", "--log", ".conformance/honest.jsonl", "--markdown", "s.md")

    assert done.exit_code == 1
    assert "the report has run.seed '8', and the log gives '0'" in done.stdout
    assert not (judged / "s.md").exists()


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (
            {"provenance": {}},
            "expected a report with date and digests, but an older suite made it; run the target again",
        ),
        ({"profile": READ_PROFILE}, "expected the report of a run on a target, but it is on a reader or a writer"),
        (
            {"left_out": [{"kind": "case", "id": "a.b", "reason": "no row came for types.int64 (…)"}]},
            "expected a run that judged its cases, but no row came, so it ended before them",
        ),
        ({"seed": 8}, "expected the log of its run in .conformance, and found none; name it with --log"),
    ],
    ids=lambda value: "" if isinstance(value, str) else next(iter(value)),
)
def test_an_unusable_report_is_refused(judged: Path, run: dict[str, object], said: str) -> None:
    """One sentence says why."""
    edited(judged / "report.json", **run)

    done = conformance_("statement", "report.json")

    assert (done.exit_code, done.stderr) == (2, f"Error: report.json: {said}\n")


@pytest.mark.usefixtures("judged")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("report.json",), "report.json: expected a statement"),
        (
            ("honest.toml",),
            "honest.toml: expected a statement, as `conformance statement` writes it, and found no JSON",
        ),
        (("v.json",), "v.json: expected a statement of schema version 1, but got 9"),
        (("s.md",), "s.md: expected the file 'honest.jsonl' next to it; name it with --report or --log"),
        (("s.md", "--target", "liar.toml"), "expected --rerun with --target"),
    ],
    ids=lambda value: "" if isinstance(value, str) else " ".join(value),
)
def test_an_unusable_statement_is_refused(judged: Path, arguments: tuple[str, ...], said: str) -> None:
    """It is no forgery: nothing can be said about it."""
    conformance_("statement", "report.json", "--markdown", "s.md")
    (judged / "v.json").write_text('{"schema_version": 9}')
    (judged / ".conformance" / "honest.jsonl").unlink()

    done = conformance_("verify", *arguments)

    assert done.exit_code == 2
    assert said in done.stderr


def test_a_name_of_a_file_leads_nowhere_else(judged: Path) -> None:
    """A statement may come from anybody; the directories in its names are ignored."""
    conformance_("statement", "report.json", "--markdown", "s.md")
    page = (judged / "s.md").read_text()
    (judged / "s.md").write_text(page.replace('"report.json"', '"../../etc/hostname"'))

    done = conformance_("verify", "s.md")

    assert done.exit_code == 2
    assert "expected the file '../../etc/hostname' next to it" in done.stderr


def test_foreign_text_stays_text(judged: Path) -> None:
    """A target cannot write into the page with its version."""
    text = (judged / "honest.toml").read_text()
    (judged / "odd.toml").write_text('version = "</script><b>|*x*"\n' + text)
    conformance_("run", "--target", "odd.toml", "--select", "types.bool", "--no-readers", "--json", "report.json")

    done = conformance_("statement", "report.json", "--markdown", "s.md", "--html", "s.html")

    assert done.exit_code == 0
    assert all(conformance_("verify", name).exit_code == 0 for name in ("s.md", "s.html"))
    assert "&lt;b&gt;|*x*" in (judged / "s.html").read_text()
    assert "# Conformance statement: honest \\</script\\>\\<b\\>\\|\\*x\\*" in (judged / "s.md").read_text()
    assert "<b>" not in (judged / "s.html").read_text()
    assert (judged / "s.html").read_text().count("</script>") == 1


def test_a_report_whose_name_cannot_be_shown_is_refused(judged: Path) -> None:
    """The page would name another file, which `verify` does not find."""
    named = Path("report\udcff.json")
    (judged / "report.json").rename(named)

    done = conformance_("statement", str(named), "--markdown", "statement.md")

    assert done.exit_code == 2
    assert "expected a name in UTF-8 without control characters" in done.stderr
    assert not Path("statement.md").exists()


@pytest.mark.usefixtures("judged")
def test_a_target_file_that_only_the_statement_names_is_not_started() -> None:
    """A statement may come from anybody, and the file says which programs start and where tokens go."""
    conformance_("statement", "report.json", "--markdown", "s.md")

    done = conformance_("verify", "s.md", "--rerun")

    assert done.exit_code == 2
    assert "the run was on the target file honest.toml" in done.stderr
    assert "name it with --target" in done.stderr
