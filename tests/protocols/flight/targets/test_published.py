"""The targets for Flight servers of others: the files are complete, and what each server fails is what the docs say."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from conformance.cli._group import cli
from conformance.records import Level, Outcome
from conformance.targets import load_target
from conformance.targets.environmentspec import is_path
from conformance.targets.shipped import shipped_targets
from tests.fixtures import ROOT

DAMAGED: Final = ("flight-put.damaged-is-whole-or-refused", "flight-exchange.damaged-is-whole-or-refused")
FAILING: Final[Mapping[str, frozenset[str]]] = {
    "flight-pyarrow": frozenset({"flight-put.nothing-is-lost", *DAMAGED}),
    "flight-arrow-go": frozenset(DAMAGED),
    "flight-sqlite-go": frozenset({"calls.leave-the-server-alive"}),
    "flight-arrow-rs": frozenset({"case"}),
    "flight-deephaven-42.7": frozenset({"calls.end-in-time", "flight-exchange.is-an-arrow-stream"}),
    "flight-arrow-java": frozenset({"calls.end-in-time", *DAMAGED}),
    "flight-roapi-0.12.7": frozenset({"case", "flight-info.tickets-are-redeemed"}),
    "flight-sail-0.7.2": frozenset(),
}
"""The MUST clauses that each server fails, and ``case`` where a case fails as a whole."""
PREPARED: Final = sorted(name for name in FAILING if load_target(name).environment is not None)
PINNED: Final = re.compile(r"[^@]+@v\d+\.\d+\.\d+")


def failing(name: str, folder: Path) -> set[str]:
    """The MUST clauses that fail in a run against a target."""
    log, report = folder / "run.jsonl", folder / "report.json"
    run = CliRunner().invoke(cli, ["run", "--target", name, "--log", str(log), "--no-shrink"])
    assert log.exists(), run.output
    made = CliRunner().invoke(cli, ["report", str(log), "--json", str(report)])
    assert report.exists(), made.output
    found = json.loads(report.read_text("utf-8"))["deviations"]
    failed = [one for one in found if one["level"] == Level.MUST and Outcome(one["outcome"]).fails_run]
    return {clause for one in failed for clause in one["clauses"] or ["case"]}


def test_every_flight_server_of_others_is_here() -> None:
    """Each target file of the kind, but for that of the suite's own server, has a row."""
    shipped = {name for name in shipped_targets() if load_target(name).kind == "flight"}

    assert shipped - {"flight-reference"} == set(FAILING)


@pytest.mark.parametrize("name", PREPARED)
def test_a_flight_target_pins_what_it_installs(name: str) -> None:
    """A new installation is the one that was judged; `go install` takes the sums of the module itself."""
    spec = load_target(name)
    wanted = spec.environment
    assert wanted is not None

    assert all("==" in entry for entry in (*wanted.python, *wanted.constraints))
    assert all(entry.count(":") == 2 for entry in wanted.maven)
    for entry in wanted.go:
        assert (spec.here / entry / "go.sum").is_file() if is_path(entry) else PINNED.fullmatch(entry)


@pytest.mark.parametrize("name", sorted(FAILING))
def test_the_docs_name_what_a_flight_server_fails(name: str) -> None:
    """The page has a row for each finding, and none for a server without one."""
    page = (ROOT / "docs" / "flight-servers.md").read_text("utf-8")
    rows = re.findall(rf"^\| {re.escape(name)} \| MUST \| [^|]+ \| ([^|]+) \|", page, re.MULTILINE)

    assert {clause for row in rows for clause in re.findall(r"`([^`]+)`", row)} == FAILING[name]


def test_pyarrow_flight_fails_what_the_docs_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The C++ library loses rows behind messages that it takes for the end, and nothing else."""
    pytest.importorskip("pyarrow.flight", exc_type=ImportError)
    monkeypatch.chdir(tmp_path)

    assert failing("flight-pyarrow", tmp_path) == FAILING["flight-pyarrow"]


@pytest.mark.slow(env="environments")
@pytest.mark.parametrize("name", PREPARED)
def test_an_installed_flight_server_fails_what_the_docs_say(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Servers in Go, Java and Rust, built with the pinned versions, fail in two runs what the page says."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CONFORMANCE_CACHE", str(tmp_path / "cache"))
    prepared = CliRunner().invoke(cli, ["prepare", "--target", name])
    if prepared.exit_code:
        pytest.skip(prepared.output)

    assert [failing(name, tmp_path), failing(name, tmp_path)] == [FAILING[name], FAILING[name]]
