"""One reference server per module of tests: it keeps no state but tables and sessions, each test has its own table."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.protocols.storage_read.reference.client import Client, connected


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """A client of a server that obeys."""
    yield from connected()


@pytest.fixture
def table(request: pytest.FixtureRequest) -> str:
    """A table name of the test's own."""
    return "".join(character if character.isalnum() else "_" for character in request.node.name)
