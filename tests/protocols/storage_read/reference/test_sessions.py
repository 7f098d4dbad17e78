"""Which sessions the reference remembers."""

from __future__ import annotations

import pyarrow as pa
import pytest

from conformance.protocols.storage_read.reference import session as sessions_module
from conformance.protocols.storage_read.reference.catalogue import Snapshot, TableId
from conformance.protocols.storage_read.reference.session import OpenedSession, Sessions, Stream

NO_ROWS = pa.table({"a": pa.array([], pa.int64())})


def stream(name: str, *, table: str = "t", expires: int = 100) -> Stream:
    """A stream of a session on a table."""
    snapshot = Snapshot(TableId("p", "d", table), (), 1, NO_ROWS)
    return Stream(name, OpenedSession(f"of {name}", None, snapshot, (), expires), NO_ROWS)


def remembered(sessions: Sessions) -> list[str]:
    """The names of the streams that are still served."""
    return sorted(stream.name for stream in sessions.kept())


def forget(sessions: Sessions, *, before: int = 0) -> None:
    """Forget what expired before an instant, and what may be forgotten of the table ``dropped``."""
    sessions.forget(expired_before=before, is_dropped=lambda snapshot: snapshot.table.table == "dropped")


def test_what_expired_long_ago_is_forgotten() -> None:
    """A session expires, and it is known as expired for a while."""
    sessions = Sessions()
    sessions.add([stream("old", expires=5), stream("new", expires=6)])

    forget(sessions, before=6)

    assert remembered(sessions) == ["new"]


def test_a_few_sessions_of_dropped_tables_are_remembered() -> None:
    """A read of a session whose table was just dropped is served."""
    sessions = Sessions()
    sessions.add([stream("one", table="dropped")])

    forget(sessions)

    assert remembered(sessions) == ["one"]


def test_many_sessions_of_dropped_tables_are_not_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest go first, and a session whose table is there stays, however many there are."""
    monkeypatch.setattr(sessions_module, "MOST", 3)
    sessions = Sessions()
    sessions.add([stream("here"), *(stream(f"gone{number}", table="dropped") for number in range(5))])

    forget(sessions)

    assert remembered(sessions) == ["gone3", "gone4", "here"]


def test_each_call_looks_at_a_few_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    """So its work does not grow with their number, and later calls look at the others."""
    monkeypatch.setattr(sessions_module, "LOOKS", 2)
    monkeypatch.setattr(sessions_module, "MOST", 0)
    sessions = Sessions()
    sessions.add([stream("here"), stream("there"), *(stream(f"gone{number}", table="dropped") for number in range(2))])

    forget(sessions)
    assert remembered(sessions) == ["gone0", "gone1", "here", "there"]
    forget(sessions)
    assert remembered(sessions) == ["here", "there"]
