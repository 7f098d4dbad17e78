"""Inconsistent edits of a pack are noticed although the digests are made again; consistent renamings are not."""

from __future__ import annotations

import dataclasses
import random
from pathlib import Path

import pytest

from conformance.engine.events import ExchangeRecorded
from conformance.records import Exchange
from conformance.truth.checking import problems
from conformance.truth.pack import read_pack
from tests.truth.packs import EDITS, edit, edited, load, noticed, pack_in, renumbered

SEED = 14


def unnoticed(pack: Path, folder: Path, count: int) -> list[str]:
    """Those of ``count`` random edits, each in one place, that no check notices."""
    files, draw, missed = load(pack), random.Random(SEED), []
    for _ in range(count):
        said, changed = edit(files, draw)
        if not noticed(changed, folder):
            missed.append(said)
    return missed


@pytest.mark.parametrize("kind", sorted(EDITS))
def test_an_edit_of_each_kind_is_noticed(kind: str, pack: Path, tmp_path: Path) -> None:
    """A reference in one place, a message, a status, a date, a byte: something else in the pack disagrees."""
    files, draw = load(pack), random.Random(SEED)
    said, changed = "", files
    while not said or changed == files:
        changed = load(pack)
        said = EDITS[kind](changed, draw)

    assert noticed(changed, tmp_path), f"{kind}: {said}"


@pytest.mark.slow(env="truth")
@pytest.mark.timeout(3600)
def test_a_thousand_random_edits_are_noticed(pack: Path, tmp_path: Path) -> None:
    """Every one of them, with digests that fit."""
    assert unnoticed(pack, tmp_path, 1000) == []


@pytest.mark.parametrize("recordings", [(), ("recordings/1.jsonl",), ("recordings/2.jsonl",)])
def test_renumbering_is_not_noticed(recordings: tuple[str, ...], pack: Path, tmp_path: Path) -> None:
    """Other numbers in every place of an exchange say the same, in both recordings or in one."""
    files = load(pack)

    changed = renumbered(files, random.Random(SEED), recordings=recordings)

    assert changed != files
    assert noticed(changed, tmp_path) == ""


def test_another_project_gives_the_same_pack(runs: list[list[ExchangeRecorded]], pack: Path, tmp_path: Path) -> None:
    """Whoever records, in whichever project and dataset: the exchanges are equal to the letter."""

    def renamed(exchange: Exchange) -> Exchange:
        def data(text: bytes) -> bytes:
            return text.replace(b"test-project", b"pest-project").replace(b"conformance", b"konformance")

        calls = [
            dataclasses.replace(
                call,
                request=data(call.request),
                responses=tuple(map(data, call.responses)),
                details=data(call.details.encode()).decode(),
            )
            for call in exchange.calls
        ]
        return dataclasses.replace(exchange, calls=tuple(calls), project="pest-project", dataset="konformance")

    other = pack_in(tmp_path, [[edited(one, renamed) for one in run] for run in runs])

    assert load(other) == load(pack)
    assert list(problems(read_pack(other))) == []
