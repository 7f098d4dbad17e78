"""Tests of history files: what is read, and one sentence for what cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.history import Append, Create, End, HistoryCall, HistoryError, RowsRead, Split, files
from conformance.history.files import as_lines, is_history, read_history

CALLS: tuple[HistoryCall, ...] = (
    Append(0, 1, (0, 1), late=True, ended=End.UNKNOWN),
    Create(2, 3, "s", ("s/0",), after=0.5, before=1, partial=True),
    Split(4, 5, "s/0", "p", "r"),
    RowsRead(6, 7, "r", (1,), 1, End.CUT),
)


def written(folder: Path, *lines: str) -> Path:
    """A file of these lines."""
    path = folder / "calls.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_calls_come_back_as_they_were(tmp_path: Path) -> None:
    """Every field of every kind of call has a place in a line."""
    path = written(tmp_path, *map(json.dumps, as_lines(CALLS)), "")

    assert is_history(path)
    assert read_history(path).calls == CALLS


APPEND = '{"op": "append", "begin": 0, "end": 1, "rows": [0]}'
CREATE = '{"op": "create", "begin": 0, "end": 1, "session": "s", "streams": ["s/0"]}'


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (("{",), "line 1: expected JSON"),
        (
            (APPEND, '{"op": "delete"}'),
            "line 2: expected \"op\" to be one of append, create, read, split but got 'delete'",
        ),
        (('{"op": "append", "begin": 0}',), "line 1: Append"),
        (('{"op": "append", "begin": 0, "end": 1, "rows": ["a"]}',), "line 1: Append.rows[0]: expected int"),
        (('{"op": "append", "begin": 2, "end": 1, "rows": []}',), "call 0: expected an end at or after 2.0, got 1.0"),
        (
            ('{"op": "append", "begin": -1, "end": 1, "rows": []}',),
            "call 0: expected times from 0 to 9.22337e+18, got -1",
        ),
        (('{"op": "append", "begin": 0, "end": Infinity, "rows": []}',), "got inf"),
        (('{"op": "append", "begin": NaN, "end": NaN, "rows": []}',), "got nan"),
        (('{"op": "append", "begin": 0, "end": 1e20, "rows": []}',), "got 1e+20"),
        (('{"op": "create", "begin": 0, "end": 1, "session": "s", "after": -Infinity}',), "got -inf"),
        (('{"op": "create", "begin": 0, "end": 1, "session": "s", "before": 1e999}',), "got inf"),
        ((APPEND, APPEND), "call 1: expected rows with new ids, got an id for the second time"),
        (
            ('{"op": "read", "begin": 0, "end": 1, "stream": "s/0"}',),
            "call 0: expected a stream that another call names, got 's/0'",
        ),
        ((CREATE, CREATE), "call 1: expected new streams, but call 0 has 's/0' too"),
        (
            (CREATE, '{"op": "read", "begin": 0, "end": 1, "stream": "s/0", "offset": -1}'),
            "call 1: expected an offset of at least 0, got -1",
        ),
        (
            ('{"op": "split", "begin": 0, "end": 1, "stream": "p", "primary": "p", "remainder": "r"}',),
            "call 0: expected a stream of a session, got a circle",
        ),
    ],
)
def test_a_file_that_is_no_history_is_refused(tmp_path: Path, lines: tuple[str, ...], said: str) -> None:
    """The sentence names the line or the call, what was expected and what was found."""
    with pytest.raises(HistoryError) as refused:
        read_history(written(tmp_path, *lines))

    assert said in str(refused.value)
    assert str(tmp_path) in str(refused.value)


def test_a_log_is_no_history(tmp_path: Path) -> None:
    """Neither a log nor another file is taken for a history."""
    assert not is_history(written(tmp_path, '{"event": "run-started"}'))
    assert not is_history(written(tmp_path, "hello"))


def test_a_line_without_an_end_is_read_to_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file from elsewhere may be one line of any length."""
    monkeypatch.setattr(files, "LONGEST", 100)

    with pytest.raises(HistoryError, match="line 1: expected a call of at most"):
        read_history(written(tmp_path, " " * 1000))


def test_the_rows_of_all_reads_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty megabytes of them would take a gigabyte of memory."""
    monkeypatch.setattr(files, "MOST_ROWS", 3)
    read = '{"op": "read", "begin": 0, "end": 1, "stream": "s/0", "rows": [0, 1]}'
    path = written(tmp_path, APPEND, CREATE, read, read)

    with pytest.raises(HistoryError, match="line 4: expected reads of at most 3 rows, got more"):
        read_history(path)


def test_a_clock_may_count_nanoseconds_from_1970(tmp_path: Path) -> None:
    """The unit of the times is the user's."""
    now = 1_795_942_000_000_000_000

    history = read_history(written(tmp_path, f'{{"op": "append", "begin": {now}, "end": {now + 512}, "rows": [1]}}'))

    assert history.calls[0].end - history.calls[0].begin == 512
