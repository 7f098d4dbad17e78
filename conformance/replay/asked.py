"""What clients asked of a replay server, as JSON Lines: calls, REST requests, and the hosts of the proxy."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self

from conformance.disk.files import naming
from conformance.disk.locks import held

__all__ = ["AskedLog"]

MOST: Final = 100_000
"""Events that are remembered; earlier ones are in the file alone."""


class AskedLog:
    """The log, used as a context manager. ``path`` is the file, None for none; threads may share it.

    ``failure`` is the reason why the file ends early; answering clients goes on.

    Raises:
        InUseError: another process writes this log.
        DiskError: the file cannot be written.
    """

    def __init__(self, path: Path | None) -> None:
        self._lock = threading.Lock()
        self._events: list[dict[str, Any]] = []
        self._first = 0
        self.failure = ""
        self._path = path
        self._file: IO[str] | None = None
        self._ends = contextlib.ExitStack()

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as ends:
            if self._path is not None:
                ends.enter_context(held(self._path))
                with naming(self._path):
                    self._file = ends.enter_context(self._path.open("w", encoding="utf-8"))
            self._ends = ends.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):  # of a file that could not be written: the same failure again
            self._ends.close()

    def say(self, event: str, **facts: Any) -> None:
        """Add an event."""
        with self._lock:
            made = {"number": self._first + len(self._events), "event": event, **facts}
            self._events.append(made)
            if len(self._events) > MOST:
                del self._events[: MOST // 2]
                self._first += MOST // 2
            if self._file is None or self._file.closed or self.failure:
                return
            try:
                self._file.write(json.dumps(made, ensure_ascii=True) + "\n")
                self._file.flush()
            except OSError as error:
                self.failure = f"{self._file.name}: cannot be written: {error.strerror}"

    def since(self, number: int) -> Sequence[dict[str, Any]]:
        """The remembered events from ``number`` on."""
        with self._lock:
            return self._events[max(0, number - self._first) :]
