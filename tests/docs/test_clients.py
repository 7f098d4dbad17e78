"""The guide to clients: its table of losses is that of the files, and its list of paths too."""

from __future__ import annotations

import re

import pytest

from conformance.readers.registry import client_programs
from tests.fixtures import ROOT

GUIDE = (ROOT / "docs" / "clients.md").read_text(encoding="utf-8")


def losses() -> list[str]:
    """The rows of the table, as the files have them."""
    made = []
    for program in client_programs().values():
        for info in program.paths.values():
            made += [f"| `{info.name}` | {loss.kind} | {loss.change} | <{loss.source}> |" for loss in info.losses]
            made += [f"| `{info.name}` | {kind} | not read | {reason} |" for kind, reason in info.cannot.items()]
    return made


def test_the_table_of_losses_is_that_of_the_files() -> None:
    """Each loss is a row with its source, and there is no other row."""
    table = GUIDE.split("|---|---|---|---|\n")[1].split("\n\n")[0].splitlines()

    assert table == losses()


@pytest.mark.parametrize("name", sorted(client_programs()))
def test_every_path_is_named(name: str) -> None:
    """The first table has the paths of each client."""
    row = next(line for line in GUIDE.splitlines() if line.startswith(f"| `{name}`"))

    assert re.findall(r"`([a-z-]+)`", row.split("|")[2]) == list(client_programs()[name].paths)
