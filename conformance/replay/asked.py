"""What clients asked of a replay server, as JSON Lines: calls, REST requests, and hosts that the proxy was asked for."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from conformance.disk.files import DiskError

__all__ = ["Asked"]

MOST: Final = 100_000
"""Events that are remembered; earlier ones are in the file alone."""


class Asked:
    """The log. ``path`` is the file, None for none; threads may share it."""

    def __init__(self, path: Path | None) -> None:
        self._lock = threading.Lock()
        self._events: list[dict[str, Any]] = []
        self._first = 0
        try:
            self._file = None if path is None else path.open("w", encoding="utf-8")
        except OSError as error:
            raise DiskError(f"{path}: cannot be written: {error.strerror}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    def say(self, event: str, **facts: Any) -> None:
        """Add an event."""
        with self._lock:
            made = {"number": self._first + len(self._events), "event": event, **facts}
            self._events.append(made)
            if len(self._events) > MOST:
                del self._events[: MOST // 2]
                self._first += MOST // 2
            if self._file is not None and not self._file.closed:
                self._file.write(json.dumps(made, ensure_ascii=True) + "\n")
                self._file.flush()

    def since(self, number: int) -> Sequence[dict[str, Any]]:
        """The remembered events from ``number`` on."""
        with self._lock:
            return self._events[max(0, number - self._first) :]
