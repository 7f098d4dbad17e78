"""The state of a server in a file: what was kept comes back, and a file from elsewhere is refused."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from conformance.contract import proto
from conformance.protocols.storage_read.reference.catalogue import Catalogue, Snapshot, TableId, stored_schema
from conformance.protocols.storage_read.reference.session import OpenedSession, Stream
from conformance.protocols.storage_read.reference.state import read_state, write_state
from conformance.records import BqType, Column, Mode, RecordError

TABLE = TableId("p", "d", "t")
COLUMNS = (
    Column("n", BqType.INT64, Mode.REQUIRED),
    Column("r", BqType.RECORD, Mode.REPEATED, (Column("x", BqType.STRING),)),
)


def filled() -> tuple[Catalogue, list[Stream]]:
    """A catalogue with two commits to a table, and two streams of one session on it."""
    catalogue = Catalogue(lambda: 5)
    catalogue.create_dataset("p", "d")
    catalogue.create_table(TABLE, COLUMNS)
    for n in range(2):
        catalogue.append(TABLE, pa.Table.from_pylist([{"n": n, "r": [{"x": "é"}]}], stored_schema(COLUMNS)))
    snapshot = catalogue.snapshot(TABLE)
    request = proto.CreateReadSessionRequest(parent="projects/p", max_stream_count=2)
    session = OpenedSession("s", request, snapshot, COLUMNS[:1], 99, b"schema", buffer_codec="ZSTD", lz4_responses=True)
    return catalogue, [Stream(f"s/{n}", session, snapshot.rows.slice(n, 1)) for n in range(2)]


def test_what_was_kept_comes_back(tmp_path: Path) -> None:
    """Datasets, tables with their commits, and streams with their rows and their session."""
    catalogue, streams = filled()
    write_state(tmp_path / "state", catalogue, streams)

    kept, found = read_state(tmp_path / "state")

    assert kept == catalogue.kept()
    assert found == streams
    assert isinstance(found[0].session.snapshot, Snapshot)


class Running:
    """Runs something when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (Path("ran"),)


def _other(state: dict[str, Any], **changed: object) -> bytes:
    return json.dumps({**state, **changed}).encode()


def test_a_file_from_elsewhere_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a sentence; a pickle does not run."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "state"
    write_state(file, *filled())
    state = json.loads(file.read_text())
    one_stream = [{**state["streams"][0], "session": "unknown"}]
    for data in (
        b"",
        pickle.dumps(Running()),
        b"[" * 100_000,
        b"{}",
        _other(state, format="another"),
        _other(state, streams=one_stream),
        _other(state, streams=[{**state["streams"][0], "rows": {"rows": "AAAA"}}]),
        _other(state, sessions=[{**state["sessions"][0], "request": "/w=="}]),
    ):
        file.write_bytes(data)
        with pytest.raises(RecordError):
            read_state(file)

    assert not Path("ran").exists()
