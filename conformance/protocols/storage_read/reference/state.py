"""The state of a stopped server in a file, for the next one: datasets, tables, sessions and streams.

The file is JSON; rows are Arrow IPC streams and requests are protobuf, both as base64. Nothing in it can run: whoever
wrote the file, reading it makes data or ends in a :class:`RecordError`.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pyarrow as pa
from google.protobuf.message import DecodeError

from conformance.contract import proto
from conformance.disk.files import read_whole, write_whole
from conformance.protocols.storage_read.reference.catalogue import (
    Catalogue,
    CatalogueContent,
    Chunk,
    Snapshot,
    StoredTable,
    TableId,
)
from conformance.protocols.storage_read.reference.session import OpenedSession, Stream
from conformance.records import Column, RecordError, from_json, to_json

__all__ = ["read_state", "write_state"]

FORMAT: Final = "conformance-reference-state/1"


@dataclasses.dataclass(frozen=True, slots=True)
class _Dataset:
    project: str
    dataset: str
    created: int


@dataclasses.dataclass(frozen=True, slots=True)
class _Rows:
    """Rows with their time in microseconds since the Unix epoch; 0 if they are not those of a commit."""

    rows: bytes
    committed: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class _Table:
    table: TableId
    columns: tuple[Column, ...]
    created: int
    chunks: tuple[_Rows, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class _StoredSession:
    name: str
    request: bytes
    snapshot: _Table
    columns: tuple[Column, ...]
    expires: int
    schema_bytes: bytes
    buffer_codec: str
    lz4_responses: bool


@dataclasses.dataclass(frozen=True, slots=True)
class _Stream:
    name: str
    session: str
    rows: _Rows


@dataclasses.dataclass(frozen=True, slots=True)
class _State:
    format: str
    datasets: tuple[_Dataset, ...]
    tables: tuple[_Table, ...]
    last_commit: int
    sessions: tuple[_StoredSession, ...]
    streams: tuple[_Stream, ...]


def write_state(file: Path, catalogue: Catalogue, streams: Iterable[Stream]) -> None:
    """Keep a catalogue and the streams of Arrow sessions."""
    kept, streams = catalogue.kept(), tuple(streams)
    sessions = {stream.session.name: stream.session for stream in streams}
    state = _State(
        FORMAT,
        tuple(_Dataset(*name, created) for name, created in kept.datasets.items()),
        tuple(
            _Table(name, table.columns, table.created, tuple(_rows(one.rows, one.committed) for one in table.chunks))
            for name, table in kept.tables.items()
        ),
        kept.last_commit,
        tuple(map(_session, sessions.values())),
        tuple(_Stream(stream.name, stream.session.name, _rows(stream.rows)) for stream in streams),
    )
    write_whole(file, json.dumps(to_json(state)))


def read_state(file: Path) -> tuple[CatalogueContent, list[Stream]]:
    """What :func:`write_state` has kept there.

    Raises:
        RecordError: The file is none that it has written; one sentence.
        OSError: The file cannot be read.
    """
    try:
        state = from_json(_State, json.loads(read_whole(file)))
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{file}", "the state of a reference server", f"{error}"[:200]) from None
    if state.format != FORMAT:
        raise RecordError(f"{file}", FORMAT, state.format)
    try:
        sessions = {one.name: _session_of(one) for one in state.sessions}
        tables = {
            one.table: StoredTable(
                one.columns, one.created, [Chunk(rows.committed, _table(rows)) for rows in one.chunks]
            )
            for one in state.tables
        }
        streams = [Stream(one.name, sessions[one.session], _table(one.rows)) for one in state.streams]
    except (pa.ArrowException, DecodeError, KeyError) as error:
        raise RecordError(f"{file}", "rows, requests and names of sessions", f"{error}"[:200]) from None
    return CatalogueContent(
        {(one.project, one.dataset): one.created for one in state.datasets}, tables, state.last_commit
    ), streams


def _session(session: OpenedSession) -> _StoredSession:
    of = session.snapshot
    return _StoredSession(
        session.name,
        session.request.SerializeToString(deterministic=True),
        _Table(of.table, of.columns, of.created, (_rows(of.rows),)),
        session.columns,
        session.expires,
        session.schema_bytes,
        session.buffer_codec,
        session.lz4_responses,
    )


def _session_of(kept: _StoredSession) -> OpenedSession:
    of = kept.snapshot
    return OpenedSession(
        kept.name,
        proto.CreateReadSessionRequest.FromString(kept.request),
        Snapshot(of.table, of.columns, of.created, pa.concat_tables(map(_table, of.chunks))),
        kept.columns,
        kept.expires,
        kept.schema_bytes,
        buffer_codec=kept.buffer_codec,
        lz4_responses=kept.lz4_responses,
    )


def _rows(table: pa.Table, committed: int = 0) -> _Rows:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return _Rows(sink.getvalue().to_pybytes(), committed)


def _table(rows: _Rows) -> pa.Table:
    return pa.ipc.open_stream(rows.rows).read_all()
