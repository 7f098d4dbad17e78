"""The list of paths in the guide to clients is that of the files; ``publish.tables`` makes its table of losses."""

from __future__ import annotations

import re

import pytest

from conformance.readers.registry import client_programs
from tests.fixtures import ROOT

GUIDE = (ROOT / "docs" / "clients.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(client_programs()))
def test_every_path_is_named(name: str) -> None:
    """The first table has the paths of each client."""
    row = next(line for line in GUIDE.splitlines() if line.startswith(f"| `{name}`"))

    assert re.findall(r"`([a-z-]+)`", row.split("|")[2]) == list(client_programs()[name].paths)
