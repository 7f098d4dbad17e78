"""Files of JSON lines that grow: a line that was appended is with the operating system, whatever ends the suite."""

from __future__ import annotations

import errno
import json
import os
import stat
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from conformance.disk.files import DiskError, naming
from conformance.disk.locks import held
from conformance.disk.pipes import open_end, write_all

__all__ = ["LineFile", "line_of"]


def line_of(value: Any) -> bytes:
    """A JSON value as a line; a lone surrogate is escaped as JSON escapes it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"
    return text.encode("utf-8", "backslashreplace")


class LineFile:
    """A file that one process appends lines to; use it as a context manager, which holds the lock of the file.

    ``advice`` is what to do if another process holds it.

    Raises:
        InUseError: another process does.
        DiskError: the file cannot be written.
    """

    def __init__(self, path: Path, *, advice: str) -> None:
        self.path = path
        self._advice = advice
        self._stack = ExitStack()
        self._file: IO[bytes] | None = None
        self._size = 0

    def append(self, line: bytes) -> None:
        """Write a line to its end."""
        assert self._file is not None, "lines are appended inside the context"
        with naming(self.path):
            write_all(self._file, line)
        self._size += len(line)

    def check(self) -> None:
        """Notice a file that another program has removed, replaced or cut meanwhile; pipes and devices are not asked.

        Bytes between the lines are left to whoever reads them: the file may be one that others write to as well, such
        as a redirected standard output.

        Raises:
            DiskError: the lines are not at the path of the file.
        """
        assert self._file is not None, "a file is checked inside the context"
        ours = os.fstat(self._file.fileno())
        if not stat.S_ISREG(ours.st_mode):
            return
        try:
            there: os.stat_result | None = self.path.stat()
        except OSError:
            there = None
        if there is None or not os.path.samestat(ours, there):
            raise DiskError(errno.ESTALE, "another program has removed or replaced it meanwhile", str(self.path))
        if there.st_size < self._size:
            raise DiskError(errno.ESTALE, "another program has cut it meanwhile", str(self.path))

    def set_aside(self, path: Path) -> bool:
        """Give what it holds the name ``path``, and go on with an empty file; False if there is nothing to keep."""
        assert self._file is not None, "a file is set aside inside the context"
        with naming(self.path):
            found = os.fstat(self._file.fileno())
            if not stat.S_ISREG(found.st_mode) or not found.st_size:
                return False
            self.path.replace(path)
            self._file.close()
            self._file = self._stack.enter_context(open_end(self.path))
            self._size = 0
            return True

    def truncate(self, size: int) -> None:
        """Keep the first bytes of the file alone; a pipe or a device such as /dev/stdout has none to cut off."""
        assert self._file is not None, "a file is cut inside the context"
        with naming(self.path):
            if stat.S_ISREG(os.fstat(self._file.fileno()).st_mode):
                self._file.truncate(size)
            self._size = min(self._size, size)

    def __enter__(self) -> Self:
        self._stack.enter_context(held(self.path, advice=self._advice))
        try:
            with naming(self.path):
                # Unbuffered: a buffer would try to write again, and fail again, when the file is closed.
                self._file = self._stack.enter_context(open_end(self.path))
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()
