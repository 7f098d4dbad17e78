"""The append-only log of a run: one JSON object per line, flushed per event, readable after any crash.

The last line of a log may be cut short by a crash of the suite itself; such a line is dropped.
Anything else that is not an event is refused with its line number.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self, cast

from conformance._jsonschema import tagged_schema
from conformance.engine.events import EVENTS, Event
from conformance.records import RecordError, from_json, to_json

__all__ = ["TAG_KEY", "LogError", "LogWriter", "log_schema", "read_log"]

TAG_KEY: Final = "event"
"""The JSON key that names the kind of an event."""

_BY_TAG: Final[dict[str, type]] = {kind.TAG: kind for kind in EVENTS}  # type: ignore[attr-defined]  # each has a TAG


class LogError(ValueError):
    """A file is not the log of a run; the message says which line and what to do."""


def event_to_json(event: Event) -> dict[str, Any]:
    """The JSON form of ``event``, one line of a log."""
    return {TAG_KEY: event.TAG, **to_json(event)}


class LogWriter:
    """Writes events to ``path`` as they happen, and nowhere back: an event once written stays.

    Use it as a context manager; leaving closes the file.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file: IO[str] = path.open("w", encoding="utf-8")

    def write(self, event: Event) -> None:
        """Append ``event`` and hand it to the operating system, so that a crash of ours does not lose it."""
        self._file.write(json.dumps(event_to_json(event), ensure_ascii=False, separators=(",", ":")) + "\n")
        self._file.flush()

    def copy(self, events: Iterable[Event]) -> Iterator[Event]:
        """Pass ``events`` on, each written before anybody sees it."""
        for event in events:
            self.write(event)
            yield event

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def read_log(path: Path) -> Iterator[Event]:
    """The events of the log at ``path``.

    Raises:
        LogError: a line is not an event, or the file does not begin with ``run-started``.
        OSError: the file cannot be read.
    """
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith("\n"):
                return
            event = _read_line(line, f"{path}, line {number}")
            if number == 1 and event.TAG != "run-started":
                raise LogError(f"{path}: expected a log that begins with 'run-started', got {event.TAG!r} first")
            yield event


def _read_line(line: str, place: str) -> Event:
    try:
        data = json.loads(line)
        kind = _BY_TAG[data.pop(TAG_KEY)]
    except (ValueError, AttributeError, TypeError, KeyError):
        known = ", ".join(_BY_TAG)
        raise LogError(
            f"{place}: expected a JSON object whose {TAG_KEY!r} is one of {known}, got {line[:60]!r}"
        ) from None
    try:
        return cast(Event, from_json(kind, data, path=place))
    except RecordError as error:
        raise LogError(f"{error}; was this log written by another version of the suite?") from None


def log_schema() -> dict[str, Any]:
    """The JSON Schema of one line of a log."""
    return tagged_schema(EVENTS, tag=TAG_KEY, title="One event in the log of a run of the Arrow conformance suite")
