"""The claims of the README and the guides can be looked up: links, commands, features, findings."""

from __future__ import annotations

import configparser
import importlib.util
import json
import re
from pathlib import Path
from typing import Final

import click
import pytest

from conformance.cli._group import COMMANDS, cli
from conformance.engine.outcomes import WHOLE_CASE
from conformance.engine.selection import all_clauses
from conformance.records import Level
from publish.emulators import FLIGHT, PERFECT, SERVERS
from publish.tables.readme import HEADLINES, Headline
from publish.tables.results import FINDINGS, REPORTS, Finding, failing
from tests.fixtures import ROOT

README: Final = (ROOT / "README.md").read_text(encoding="utf-8")
TEXTS: Final = sorted(
    path
    for pattern in ("*.md", "docs/*.md", "docs/dev/*.md", "cases/*.md", "golden/ipc/*.md")
    for path in ROOT.glob(pattern)
)
_LINK: Final = re.compile(r"\]\((?!https?://)([^)#\s]*)(?:#([^)\s]+))?\)")
UNSENT: Final = ROOT / "docs" / "disclosure"
"""The reports to maintainers, which a source distribution leaves out."""
_ROW: Final = re.compile(r"^\| (\d+) \| [^|]+ \| (.) \| (.+) \|$", re.MULTILINE)


def _anchors(text: str) -> set[str]:
    """The anchors that a heading gets, as the usual renderers make them."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings} | {
        heading for heading in headings if "." in heading
    }


def _leads_somewhere(target: Path, anchor: str) -> bool:
    """True if a file is there, with the heading if one is named, or is a report that was left out."""
    if UNSENT in target.parents and not UNSENT.exists():
        return True
    return target.exists() and (not anchor or anchor in _anchors(target.read_text(encoding="utf-8")))


@pytest.mark.parametrize("file", TEXTS, ids=[path.relative_to(ROOT).as_posix() for path in TEXTS])
def test_links_lead_somewhere(file: Path) -> None:
    """A relative link names a file that is there, and a heading in it."""
    text = file.read_text(encoding="utf-8")

    lost = [
        f"{path}#{anchor}"
        for path, anchor in _LINK.findall(text)
        if not _leads_somewhere((file.parent / path if path else file).resolve(), anchor)
    ]

    assert lost == []


def test_the_readme_is_short() -> None:
    """A stranger reads it to its end: at most 120 lines and 8 kB."""
    assert len(README.splitlines()) <= 120
    assert len(README.encode()) <= 8_000


def test_every_page_is_in_the_index() -> None:
    """A page that the index does not name is found by nobody."""
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")

    assert [path.name for path in sorted((ROOT / "docs").glob("*.md")) if f"]({path.name}" not in index] == ["index.md"]


def test_the_feature_table_is_complete() -> None:
    """It has all 39 rows, the text above it counts the symbols, and only a row in part says what is missing."""
    page = (ROOT / "docs" / "dev" / "features.md").read_text(encoding="utf-8")
    rows = _ROW.findall(page)
    full, part = (sum(mark == each for _, mark, _ in rows) for each in "●◐")

    assert [int(number) for number, _, _ in rows] == list(range(1, 40))
    assert f"Today {full} features are there in full and {part} in part." in page
    assert [number for number, mark, text in rows if ("Missing: " in text) != (mark == "◐")] == []


@pytest.mark.parametrize("file", TEXTS, ids=[path.relative_to(ROOT).as_posix() for path in TEXTS])
def test_commands_that_a_page_names_exist(file: Path) -> None:
    """``conformance NAME`` is a command with these options, ``tox -e NAME`` an environment, ``python -m`` a module."""
    text = file.read_text(encoding="utf-8")
    named = set(re.findall(r"(?:`|\$ )conformance ([a-z]+)((?: --[a-z-]+)*)", text))
    ini = configparser.ConfigParser(interpolation=None)
    ini.read(ROOT / "tox.ini", encoding="utf-8")
    environments = {"test", *(section.partition(":")[2] for section in ini.sections())}

    assert {name for name, _ in named} <= set(COMMANDS)
    assert [name for name, options in named if not set(options.split()) <= _options(name)] == []
    assert {name for names in re.findall(r"`tox -e ([\w,]+)`", text) for name in names.split(",")} <= environments
    assert [name for name in re.findall(r"`python -m ([\w.]+)", text) if importlib.util.find_spec(name) is None] == []


def _options(command: str) -> set[str]:
    found = cli.get_command(click.Context(cli), command)
    assert found is not None
    return {option for parameter in found.params for option in (*parameter.opts, *parameter.secondary_opts)}


@pytest.mark.parametrize("finding", FINDINGS, ids=lambda each: each.clauses[0])
def test_a_finding_is_in_a_report(finding: Finding) -> None:
    """Each clause that a line names exists and fails in at least one published report; so do whole cases."""
    clauses = set(finding.clauses)
    found = {clause for target in REPORTS for clause in failing(target)}

    assert clauses <= found
    assert clauses <= {*all_clauses(), WHOLE_CASE}


@pytest.mark.parametrize("line", HEADLINES, ids=lambda each: f"{each.name}-{each.clauses[0]}")
def test_a_line_of_the_readme_is_in_its_reports(line: Headline) -> None:
    """In each report, each clause fails for the reason, on the case; the name is that of the reports' software."""
    for report in line.reports:
        deviations = json.loads((ROOT / "reports" / f"{report}.json").read_text(encoding="utf-8"))["deviations"]
        for clause in line.clauses:
            assert any(
                clause in each["clauses"]
                and each["outcome"] == "fail"
                and line.reason in each["reason"]
                and any(line.shown in case for case in each["cases"])
                for each in deviations
            ), f"{report} does not show it on {clause}"
    assert [target for target in line.targets() if line.name not in target] == []
    assert "{who}" in line.what


@pytest.mark.parametrize("line", [each for each in HEADLINES if each.harm], ids=lambda each: each.situation)
def test_the_harm_in_the_readme_was_measured(line: Headline) -> None:
    """The consequence matrix measured the harm of each client that a line names."""
    situations = json.loads((ROOT / "reports" / "clients.json").read_text(encoding="utf-8"))["situations"]
    (cells,) = (each["cells"] for each in situations if each["id"] == line.situation)

    assert {client: cells[client]["class"] for client in line.harm} == line.harm


def test_the_readme_has_no_finding_of_its_own() -> None:
    """Every line on a finding is generated, and no line counts emulators."""
    found = README.partition("## What it has found\n")[2].partition("\n## ")[0]
    made = found.partition("<!-- made: found -->\n")[2].partition("<!-- end -->")[0]

    assert [line for line in found.splitlines() if line.startswith("- ")] == made.splitlines()


@pytest.mark.parametrize("target", REPORTS[1:])
def test_values_arrive_as_they_were_put_in(target: str) -> None:
    """The statements of docs/results.md on what the later versions do well."""
    clauses = all_clauses()
    wrong = {name for name in failing(target) if name.startswith("values.") and clauses[name].level is Level.MUST}

    assert wrong <= {"values.repeated-not-null"}


@pytest.mark.parametrize("target", REPORTS)
def test_no_deviation_of_a_report_is_passed_over(target: str) -> None:
    """Every clause that fails in a published report belongs to a line of docs/results.md."""
    reported = {clause for finding in FINDINGS for clause in finding.clauses}

    assert set(failing(target)) - reported == set()


def test_every_command_has_its_statuses() -> None:
    """The table of exit statuses leaves no command out."""
    text = (ROOT / "docs" / "exit-codes.md").read_text(encoding="utf-8")
    table = text.partition("## Per command")[2]

    assert [name for name in COMMANDS if f"`{name}" not in table] == []
    rows = [row.split("|")[1].strip() for row in table.split("\n\n")[1].splitlines()[2:]]
    assert len(rows) == len(set(rows))


def test_the_readme_counts_what_is_published() -> None:
    """Emulators by name and not by version, Flight servers without the suite's own, and projects of libraries."""
    words = ("", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    emulators = {name.rpartition("-")[0] for name in SERVERS}
    flight = [name for name in FLIGHT if name not in PERFECT]
    same = {"pyarrow-validated": "arrow-cpp", "pyarrow": "arrow-cpp"}
    projects = {same.get(path.stem, path.stem) for path in (ROOT / "reports").glob("*ers/*.json")}

    servers = f"{words[len(emulators)]} emulators, {words[len(flight)]} Flight servers"
    assert f": {servers}, and readers and writers of {words[len(projects)]} projects" in README
