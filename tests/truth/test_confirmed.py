"""The number of clauses that the service has confirmed: one source, and what it counts."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

from conformance.contract.clause import PROFILES
from conformance.engine.selection import all_clauses
from conformance.records import Level
from conformance.truth.checking import problems
from conformance.truth.confirmed import Confirmed, confirmed, shipped_packs
from conformance.truth.pack import read_pack

MUST = [one.id for one in all_clauses().values() if one.level is Level.MUST and PROFILES[0] in one.profiles]


def test_no_pack_ships_today() -> None:
    """Nobody has put the suite to the service, and the sentence says so."""
    said = f"BigQuery itself has confirmed 0 of these {len(MUST)} MUST clauses in a run of this suite."
    assert confirmed(MUST).sentence == said


def test_every_pack_that_ships_is_consistent() -> None:
    """A contribution that is not is refused here."""
    assert {path.name: list(problems(read_pack(path))) for path in shipped_packs()} == {
        path.name: [] for path in shipped_packs()
    }


def test_a_pack_of_the_service_counts(pack: Path, tmp_path: Path) -> None:
    """The clauses that it holds, with the day of the oldest."""
    shutil.copytree(pack, tmp_path / "us")

    found = confirmed(MUST, tmp_path)

    assert found.confirmed > 50
    assert (found.oldest, found.contradicted) == ("2026-03-02", 0)
    assert found.sentence.endswith(" MUST clauses in a run of this suite, the oldest on 2026-03-02.")


def test_a_pack_of_another_server_does_not_count(pack: Path, tmp_path: Path) -> None:
    """An emulator confirms nothing about the service."""
    found = read_pack(pack)
    dataclasses.replace(found, findings=dataclasses.replace(found.findings, service=False)).write(tmp_path / "us")

    assert confirmed(MUST, tmp_path).confirmed == 0


def test_a_contradiction_is_in_the_sentence() -> None:
    """It is not hidden behind the number that are held."""
    assert Confirmed(7, 275, "2026-03-02", 2).sentence == (
        "BigQuery itself has confirmed 7 of these 275 MUST clauses in a run of this suite, the oldest on 2026-03-02; "
        "it contradicts 2."
    )
