"""Recordings and a pack, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.engine.events import ExchangeRecorded
from tests.truth.packs import pack_in, recorded


@pytest.fixture(scope="session")
def runs() -> list[list[ExchangeRecorded]]:
    """Two runs of a few cases on the suite's own server."""
    return recorded()


@pytest.fixture(scope="session")
def pack(runs: list[list[ExchangeRecorded]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pack of both runs, as if they had been runs on the service; tests do not change it."""
    return pack_in(tmp_path_factory.mktemp("truth"), runs)
