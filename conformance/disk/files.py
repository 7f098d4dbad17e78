"""Files of our own: where those that ship are, and others written whole or not at all, with what keeps them from it.

Python's own ``OSError`` for a full disk carries no file name, for it is raised by ``write`` and not by ``open``.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

__all__ = ["TEMPORARY", "DiskError", "data_file", "naming", "write_whole"]

_PACKAGE: Final = Path(__file__).resolve().parents[1]

TEMPORARY: Final = ".conformance-"
"""How the name of a file begins that is not whole yet; its own name may have the greatest length already."""


def data_file(*parts: str) -> Path:
    """A file or folder that ships with the suite: inside an installed package, beside it in a working copy."""
    installed = _PACKAGE.joinpath("_data", *parts)
    return installed if installed.exists() else _PACKAGE.parent.joinpath(*parts)


class DiskError(OSError):
    """A file could not be written; the text names it and the reason."""

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
    """Write ``data`` (text as UTF-8) to ``path``, whose directory is made where it is missing.

    A reader sees the file as it was before or whole, never a half of it. ``durable`` says that this holds after a
    crash of the machine too, which costs some milliseconds. A device or pipe is written to as it is.

    Raises:
        DiskError: it cannot be written; what was at ``path`` before is still there.
    """
    content = data.encode("utf-8", "backslashreplace") if isinstance(data, str) else data
    with naming(path):
        final = path.resolve()
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
            if final.exists():
                shutil.copymode(final, temporary)
            temporary.replace(final)
        except BaseException:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
