"""Files that ship with the suite, files that are written whole or not at all, and errors that name the file.

Python's own ``OSError`` for a full disk has no file name, because ``write`` raises it and not ``open``.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from conformance.disk.pipes import is_pipe, write_pipe

__all__ = ["TEMPORARY", "DiskError", "data_file", "naming", "write_whole"]

_PACKAGE: Final = Path(__file__).resolve().parents[1]

TEMPORARY: Final = ".conformance-"
"""The prefix of the name of an unfinished file. The final name is not part of it: that may have the greatest length
already.
"""


def data_file(*parts: str) -> Path:
    """Return the path of a file or folder that ships with the suite, in the installed package or the working copy."""
    installed = _PACKAGE.joinpath("_data", *parts)
    return installed if installed.exists() else _PACKAGE.parent.joinpath(*parts)


class DiskError(OSError):
    """A file could not be written; the text gives the file and the reason."""

    def __str__(self) -> str:
        return f"{self.filename}: cannot be written: {self.strerror}"


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Turn every ``OSError`` inside into a :class:`DiskError` that names ``path``."""
    try:
        yield
    except DiskError:
        raise
    except OSError as error:
        raise DiskError(error.errno or 0, error.strerror or str(error), str(path)) from None


def write_whole(path: Path, data: bytes | str, *, durable: bool = False) -> None:
    """Write ``data`` (text as UTF-8) to ``path``, and make its directory if it is missing.

    A reader sees either the old file or the complete new one. With ``durable`` this also survives a crash of the
    machine, which costs several milliseconds. A device or pipe is written to directly.

    Raises:
        DiskError: ``path`` cannot be written; its old content is still there.
    """
    content = data.encode("utf-8", "backslashreplace") if isinstance(data, str) else data
    with naming(path):
        # Resolved, so that a symbolic link stays and its target is replaced. The temporary file is in the directory
        # of the target, because a rename is atomic only inside one file system.
        final = Path(os.path.realpath(path))  # resolve() raises on a link to itself
        if is_pipe(final):
            write_pipe(final, content)
            return
        if final.exists() and not final.is_file():
            with final.open("wb") as file:
                file.write(content)
            return
        final.parent.mkdir(parents=True, exist_ok=True)
        temporary = final.with_name(TEMPORARY + secrets.token_hex(8))
        try:
            with temporary.open("xb") as file:
                file.write(content)
                if durable:
                    file.flush()
                    os.fsync(file.fileno())
            # Without this the new file would have the permissions of any new file, not those of the file that it
            # replaces.
            if final.exists():
                shutil.copymode(final, temporary)
            temporary.replace(final)
        except BaseException:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
