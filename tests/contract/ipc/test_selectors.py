"""Which bytes a selector of wholes shows to its clauses."""

from __future__ import annotations

import pytest

from conformance.contract.ipc import selectors
from conformance.contract.ipc.ipcview import IpcView
from conformance.wire import Kind
from tests.wire.breaking import GOOD_BATCH, GOOD_SCHEMA

NOISE = b"\x07" * 40


@pytest.mark.parametrize(
    ("data", "begun"), [(GOOD_SCHEMA + GOOD_BATCH + NOISE, True), (GOOD_SCHEMA, True), (NOISE, False), (b"", False)]
)
def test_a_stream_has_begun_with_its_first_message(data: bytes, *, begun: bool) -> None:
    """Noise behind messages does not undo the messages; noise alone begins nothing."""
    assert bool(selectors.begun(IpcView(data, Kind.STREAM))) is begun
