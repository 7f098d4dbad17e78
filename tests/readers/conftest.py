from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.readers import ReaderPool


@pytest.fixture(scope="session")
def pool() -> Iterator[ReaderPool]:
    """Every reader, in two worker processes."""
    with ReaderPool() as readers:
        yield readers
