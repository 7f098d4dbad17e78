"""Records of published versions: the installed one still writes the same, and known drift is found again."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import click.testing
import pyarrow as pa
import pytest

from conformance.cli._group import cli
from conformance.drift.digests import check_digests, read_digests
from conformance.drift.recipes import draw_recipes
from conformance.drift.run import DriftPlan, run_drift
from conformance.drift.versions import INSTALLED, find_version, ordered
from tests.fixtures import ROOT
from tests.studies import sample

GOLDEN = ROOT / "golden" / "pyarrow"
RECORDED = ordered(path.stem for path in GOLDEN.glob("*.json"))
REPORT = ROOT / "reports" / "drift.json"


def test_seven_versions_are_recorded() -> None:
    """The versions of tox.ini are, each with every case."""
    command = next(line for line in (ROOT / "tox.ini").read_text().splitlines() if "conformance drift" in line)

    assert command.split("--versions")[1].split("--check")[0].split() == RECORDED
    assert len(RECORDED) == 7
    recipes = {recipe.id for recipe in draw_recipes(0)}
    assert all(set(read_digests(GOLDEN, version).cases) == recipes for version in RECORDED)


@pytest.mark.skipif(pa.__version__ not in RECORDED, reason="no digests are recorded of the installed pyarrow")
@pytest.mark.parametrize("share", sample((0.2, 1.0), ("0.2",), env="thorough"))
def test_the_installed_version_writes_what_was_recorded(share: float) -> None:
    """Digests do not depend on the machine or the day."""
    plan = DriftPlan(share=share, mutants=0, catalogue=False, reading=False)
    recorded = read_digests(GOLDEN, pa.__version__)
    drawn = {recipe.id: recorded.cases[recipe.id] for recipe in draw_recipes(0, share=share)}

    now = run_drift([find_version(INSTALLED)], plan).digests[INSTALLED]

    assert list(check_digests(pa.__version__, dataclasses.replace(recorded, cases=drawn), now)) == []
    assert share < 1 or drawn == recorded.cases


@pytest.mark.slow(env="environments")
@pytest.mark.timeout(900)
@pytest.mark.parametrize("versions", [("14.0.2", "16.1.0"), ("22.0.0", "24.0.0", "26.0.1")])
def test_known_drift_is_found_again(versions: tuple[str, ...], tmp_path: Path) -> None:
    """Between published versions nothing matters that the published report does not know, and digests hold."""
    arguments = ["drift", "--versions", *versions, "--check", "--known", str(REPORT), "--save", str(tmp_path)]

    result = click.testing.CliRunner().invoke(cli, arguments)

    assert result.exit_code == 0, result.output
