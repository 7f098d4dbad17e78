"""History files: one call a line, as JSON, in any order; any program can write one about any server.

A line has the fields of :mod:`.calls`, and ``op``: ``append``, ``create``, ``read`` or ``split``. Fields with their
default may be left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from conformance._codec import TAG_KEY, RecordError, from_json, to_json
from conformance.contain.parse import ForeignJsonError, parse_object
from conformance.disk.files import reading
from conformance.history.calls import Append, Create, History, HistoryCall, HistoryError, RowsRead, Split

__all__ = ["as_lines", "is_history", "read_history"]

LONGEST: Final = 64 << 20
"""The longest line, in bytes, as in the logs of the suite; a file need not have a line end."""
MOST_ROWS: Final = 1_500_000
"""The most rows of all reads of a file; each takes some 300 bytes of memory while it is judged."""
_KINDS: Final[dict[str, type[Any]]] = {kind.TAG: kind for kind in (Append, Create, RowsRead, Split)}


def is_history(path: Path) -> bool:
    """True if the first line of a file is a call of a history; false for a log, and for a file that is neither.

    Raises:
        OSError: the file cannot be read.
    """
    with reading(path), path.open("rb") as file:
        try:
            return TAG_KEY in parse_object(file.readline(LONGEST))
        except ForeignJsonError:
            return False


def read_history(path: Path) -> History:
    """Return the history in a file.

    Raises:
        HistoryError: a line is no call, or the calls are no history; the text names the line or the call.
        OSError: the file cannot be read.
    """
    calls: list[HistoryCall] = []
    rows = 0
    with reading(path), path.open("rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(LONGEST + 1), b""), 1):
            if len(line) > LONGEST:
                raise HistoryError(f"{path}, line {number}: expected a call of at most {LONGEST >> 20} MiB, got more")
            if line.strip():
                try:
                    calls.append(_call(line))
                except (ForeignJsonError, RecordError, HistoryError) as error:
                    raise HistoryError(f"{path}, line {number}: {error}") from None
                rows += len(calls[-1].rows) if isinstance(calls[-1], RowsRead) else 0
                if rows > MOST_ROWS:
                    raise HistoryError(f"{path}, line {number}: expected reads of at most {MOST_ROWS} rows, got more")
    try:
        return History(tuple(calls))
    except HistoryError as error:
        raise HistoryError(f"{path}: {error}; calls count from 0") from None


def _call(line: bytes) -> HistoryCall:
    data = parse_object(line)
    op = data.pop(TAG_KEY, None)
    if not isinstance(op, str) or op not in _KINDS:
        raise HistoryError(f'expected "{TAG_KEY}" to be one of {", ".join(_KINDS)} but got {op!r}')
    call: HistoryCall = from_json(_KINDS[op], data)
    return call


def as_lines(calls: Iterable[HistoryCall]) -> Iterator[dict[str, Any]]:
    """Yield each call as the JSON object of its line."""
    for call in calls:
        yield {TAG_KEY: call.TAG, **to_json(call)}
