"""Files that ship with the suite, files that are read or written whole or not at all, and errors that name the file.

Python's own ``OSError`` for a full disk has no file name, because ``write`` raises it and not ``open``.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from conformance.disk.pipes import is_pipe, kept, write_pipe

__all__ = [
    "LARGEST",
    "LARGEST_TEXT",
    "TEMPORARY",
    "DiskError",
    "TooLargeError",
    "data_file",
    "inside",
    "naming",
    "read_open",
    "read_text",
    "read_whole",
    "reading",
    "write_inside",
    "write_new",
    "write_whole",
]

_PACKAGE: Final = Path(__file__).resolve().parents[1]

LARGEST: Final = 1 << 30
"""The most bytes of one file that are read into memory, where nothing else is said."""
LARGEST_TEXT: Final = 64 << 20
"""The same for text, whose parts become objects of many times its size."""
_CHUNK: Final = 1 << 20

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


class TooLargeError(OSError):
    """A file has more bytes than are read into memory; the text gives the file and the limit."""

    def __init__(self, path: Path, most: int) -> None:
        super().__init__(errno.EFBIG, f"expected at most {most >> 20} MiB, because it is read into memory", str(path))

    def __str__(self) -> str:
        return f"{self.filename}: {self.strerror}, and it has more"


def read_whole(path: Path, most: int = LARGEST) -> bytes:
    """The bytes of the file at ``path``; of a pipe or a device, all that comes.

    Raises:
        TooLargeError: it has more than ``most``; no more than that were read.
        OSError: it cannot be read.
    """
    descriptor = os.open(kept(path), os.O_RDONLY | os.O_CLOEXEC)
    try:
        return read_open(descriptor, path, most)
    finally:
        os.close(descriptor)


def read_text(path: Path, most: int = LARGEST_TEXT) -> str:
    """The text of the file at ``path``, in UTF-8; raises the errors of :func:`read_whole`, and UnicodeDecodeError."""
    return read_whole(path, most).decode("utf-8")


def read_open(descriptor: int, path: Path, most: int) -> bytes:
    """The bytes of an open file, which is at ``path``; raises the errors of :func:`read_whole`.

    A file of the system, such as those in ``/proc``, need not have the size that it declares, nor an end: beyond that
    size at most :data:`LARGEST_TEXT` bytes are read of a regular file.
    """
    with reading(path):
        return _read_open(descriptor, path, most)


def _read_open(descriptor: int, path: Path, most: int) -> bytes:
    status = os.fstat(descriptor)
    size = status.st_size
    if size > most:
        raise TooLargeError(path, most)
    if stat.S_ISREG(status.st_mode):
        most = min(most, size + LARGEST_TEXT)
    # Nearly always all of it: a second copy of a large file would be in memory for nothing.
    data: bytes | bytearray = os.read(descriptor, min(max(size, _CHUNK), most + 1))
    while more := os.read(descriptor, _CHUNK):
        if len(data) + len(more) > most:
            raise TooLargeError(path, most)
        data = data if isinstance(data, bytearray) else bytearray(data)
        data += more
    if len(data) > most:
        raise TooLargeError(path, most)
    return data if isinstance(data, bytes) else bytes(data)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Let every ``OSError`` inside name ``path``: one of ``read`` names no file, and would be taken for one of standard
    output.
    """
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Turn every ``OSError`` inside into a :class:`DiskError` that names ``path``."""
    try:
        yield
    except DiskError:
        raise
    except OSError as error:
        raise DiskError(error.errno or 0, error.strerror or str(error), str(path)) from None


def write_new(path: Path, text: str) -> None:
    """Write ``text`` as UTF-8 to a file that does not exist, and make its directory if it is missing.

    Raises:
        FileExistsError: Something is at ``path``, be it a link that leads nowhere: nothing is written through it.
        DiskError: ``path`` cannot be written.
    """
    with naming(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
    try:
        file = path.open("xb")
    except FileExistsError:
        raise
    except OSError as error:
        raise DiskError(error.errno or 0, error.strerror or str(error), str(path)) from None
    with naming(path), file:
        file.write(text.encode("utf-8", "backslashreplace"))


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
        # A pipe stays as it is: /dev/stdout leads to one through a link whose text is no path.
        final = path if is_pipe(path) else Path(os.path.realpath(path))  # resolve() raises on a link to itself
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


def write_inside(folder: Path, name: str, data: bytes | str) -> None:
    """Write ``data`` to ``name`` below ``folder``, as :func:`write_whole` does.

    A user names the folder, and the suite names what is in it: where a link is in the way, nobody asked for the file
    that it leads to.

    Raises:
        DiskError: the file cannot be written, or it or a directory between it and ``folder`` is a symbolic link.
    """
    write_whole(inside(folder, name), data)


def inside(folder: Path, name: str) -> Path:
    """The path of ``name`` below ``folder``, to which no link leads.

    Raises:
        DiskError: it or a directory between it and ``folder`` is a symbolic link.
    """
    place = folder
    for part in Path(name).parts:
        place /= part
        with naming(place):
            if place.is_symlink():
                raise DiskError(errno.ELOOP, "a symbolic link inside a folder of output is not followed", str(place))
    return place
