"""`conformance truth`: make, judge and check as a user runs them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from conformance.cli._group import cli
from conformance.engine.events import ExchangeRecorded
from tests.truth.conftest import pack, runs  # noqa: F401  # fixtures
from tests.truth.packs import log_of
from tests.truth.test_making import refused

Runs = list[list[ExchangeRecorded]]


def run(*arguments: object) -> Result:
    """A command as a user runs it."""
    return CliRunner().invoke(cli, ["truth", *map(str, arguments)])


def logs(folder: Path, exchanges: Runs) -> list[Path]:
    """The logs of runs on consecutive days."""
    return [
        log_of(folder / f"{day}.jsonl", one, began=f"2026-03-0{day}T10:00:00Z") for day, one in enumerate(exchanges, 1)
    ]


def test_a_contradiction_is_named_first(runs: Runs, tmp_path: Path) -> None:  # noqa: F811  # the fixture
    """With its region, its day and its case; the status is 1."""
    both = [[refused(one, "OK") if one.case.id.startswith("errors.") else one for one in run] for run in runs]

    done = run("make", *logs(tmp_path, both), "--out", tmp_path / "pack")
    judged = run("judge", tmp_path / "pack")

    assert done.exit_code == 0, done.output
    first, second, *_ = judged.output.splitlines()
    assert first.startswith("CONTRADICTED ")
    assert second == "  us on 2026-03-02: contradicted: errors.missing-table"
    assert judged.exit_code == 1


def test_what_must_not_be_published_is_not_written(runs: Runs, tmp_path: Path) -> None:  # noqa: F811  # the fixture
    """Every place is a line, and no file is there."""
    leaking = [[refused(run[1], "NOT_FOUND", "ask jane@example.org")] for run in runs]

    done = run("make", *logs(tmp_path, leaking), "--out", tmp_path / "pack")

    place = "recordings/1.jsonl, line 2: entry.exchange.calls[0].details"
    assert f"must not be published: {place}: an e-mail address: 'jane@example.org'" in done.output
    assert (done.exit_code, (tmp_path / "pack").exists()) == (1, False)


def test_a_pack_is_judged_again_after_a_change_of_the_suite(pack: Path, tmp_path: Path) -> None:  # noqa: F811  # the fixture
    """Verdicts of another version are refused, and `--write` renews them."""
    copy = shutil.copytree(pack, tmp_path / "pack")
    data = json.loads((copy / "verdicts.json").read_text())
    (copy / "verdicts.json").write_text(json.dumps(data | {"suite": "0.0.1", "clauses": []}))

    refused_ = run("check", copy)
    renewed = run("judge", copy, "--write")

    assert refused_.exit_code == 1
    assert "it is of suite 0.0.1; `conformance truth judge PACK --write` makes it again" in refused_.output
    assert renewed.exit_code == 0, renewed.output
    assert run("check", copy).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("make", "--out", "pack"), "expected at least 2 logs, got 0: one recording confirms nothing"),
        (("check", ".", "--older-than", "soon"), "--older-than: expected a number of days such as 90d, got 'soon'"),
        (("judge", "."), "expected a truth pack with recordings in recordings/; `conformance truth make` makes one"),
    ],
)
def test_unusable_input_is_one_sentence(
    arguments: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Status 2, as for every command."""
    monkeypatch.chdir(tmp_path)

    done = run(*arguments)

    assert done.exit_code == 2
    assert said in done.output


def test_several_exchanges_of_a_case_are_no_recording() -> None:
    """`run --exchanges` with `--repeat` or `--parallel` is refused before anything starts."""
    done = CliRunner().invoke(cli, ["run", "--exchanges", "--repeat", "2"])

    assert done.exit_code == 2
    assert "expected --exchanges without --repeat and --parallel" in done.output
