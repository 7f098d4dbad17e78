"""``conformance prove`` and ``conformance golden``: exit statuses, files, sentences."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.cli._group import cli
from conformance.engine.corpus import resolve_case
from conformance.generate import save_case


@pytest.mark.slow(env="studies")
def test_a_sampled_proof_that_holds_ends_in_0_and_writes_its_result(tmp_path: Path) -> None:
    """One mutant on one case: killed, and nothing else is wrong."""
    corpus = tmp_path / "cases"
    save_case(resolve_case("types.int64"), corpus / "types" / "int64.yaml")
    result = CliRunner().invoke(
        cli,
        ["prove", "--corpus", str(corpus), "--mutant", "batch.empty", "--every", "500", "--workers", "1",
         "--matrix", "--json", str(tmp_path / "proof.json")],
    )  # fmt: skip

    assert result.exit_code == 0, result.output
    assert "1 of 1 mutant killed, 0 over-broad" in result.output
    assert "the proof holds" in result.output
    form = json.loads((tmp_path / "proof.json").read_text())
    assert set(form["mutants"]["batch.empty"]["failed"]) == {"framing.batch-not-empty"}


def test_a_clause_is_proven_alone(tmp_path: Path) -> None:
    """Its mutant, the reference and what is legal are tried; a clause that is not asked for raises no alarm."""
    corpus = tmp_path / "cases"
    save_case(resolve_case("types.int64"), corpus / "types" / "int64.yaml")
    command = ["prove", "--corpus", str(corpus), "--workers", "1", "--clause"]

    proven = CliRunner().invoke(cli, [*command, "framing.batch-not-empty", "--json", str(tmp_path / "proof.json")])
    unknown = CliRunner().invoke(cli, [*command, "stream.*"])

    assert proven.exit_code == 0, proven.output
    assert "faulty servers" not in proven.output
    assert "systematic" not in proven.output
    form = json.loads((tmp_path / "proof.json").read_text())
    assert {clause for mutant in form["mutants"].values() for clause in mutant["kills"]} == {"framing.batch-not-empty"}
    assert unknown.exit_code == 2
    assert "no clause on servers matches 'stream.*'" in unknown.output


def test_an_unknown_mutant_ends_in_2() -> None:
    """The sentence says where the names are."""
    result = CliRunner().invoke(cli, ["prove", "--mutant", "batch.emtpy"])

    assert result.exit_code == 2
    assert "no mutant is called 'batch.emtpy'; `conformance serve --mutants` lists them all" in result.output


def test_golden_pairs_are_checked_and_written_anew(tmp_path: Path) -> None:
    """A folder that was just written is found as it would be written; a changed one is not."""
    folder = str(tmp_path / "golden")
    command = ["golden", "--set", "bq-arrow", "--dir", folder]
    written = CliRunner().invoke(cli, command)
    good = CliRunner().invoke(cli, [*command, "--check"])
    next((tmp_path / "golden" / "bq-arrow").glob("*.schema")).write_bytes(b"spoilt")
    bad = CliRunner().invoke(cli, [*command, "--check"])

    assert (written.exit_code, good.exit_code, bad.exit_code) == (0, 0, 1)
    assert "its digest is not the manifest's" in bad.output
