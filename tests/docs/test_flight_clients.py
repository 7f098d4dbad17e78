"""The list of paths in the guide to Flight clients is that of the files, and so is its number of situations."""

from __future__ import annotations

import re

import pytest

from conformance.protocols.flight.clients.situations import scripted
from conformance.readers.registry import client_programs
from tests.fixtures import ROOT

GUIDE = (ROOT / "docs" / "flight-clients.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(client_programs("flight")))
def test_every_path_is_named(name: str) -> None:
    """The first table has the paths of each client."""
    row = next(line for line in GUIDE.splitlines() if line.startswith(f"| `{name}`"))

    assert re.findall(r"`([a-z-]+)`", row.split("|")[2]) == list(client_programs("flight")[name].paths)


def test_the_number_of_situations_is_said() -> None:
    """The guide counts the scripts."""
    assert f"{len([*scripted()])} situations" in " ".join(GUIDE.split())
