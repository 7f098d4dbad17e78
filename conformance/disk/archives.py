"""Archives of many small files: ZIP, whose members any language reads, and whose bytes follow from them alone.

Members are stored without compression, sorted by name, all with one date and mode: what is the same gives the same
archive on every machine and under every version of Python and zlib, and a change of one member is a small change.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

__all__ = ["ArchiveError", "pack", "unpack"]

_DATE: Final = (1980, 1, 1, 0, 0, 0)
"""The first that the format can say."""
_UNIX: Final = 3
"""The system of the format's list whose file modes are those in ``_MODE``."""
_MODE: Final = 0o100644 << 16


class ArchiveError(ValueError):
    """A file is no archive as :func:`pack` makes them; the text says what it is instead, without the file's name."""


def pack(members: Mapping[str, bytes]) -> bytes:
    """The bytes of an archive with these members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(members):
            reported = zipfile.ZipInfo(name, _DATE)
            reported.create_system, reported.external_attr = _UNIX, _MODE
            archive.writestr(reported, members[name])
    return buffer.getvalue()


def unpack(path: Path) -> dict[str, bytes]:
    """The members of an archive by name; they are as large as the file at most, for none may be compressed.

    Raises:
        ArchiveError: the file is no archive, a member is compressed or encrypted, or its checksum is not that told.
        OSError: the file cannot be read.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            if packed := [one.filename for one in members if one.compress_type != zipfile.ZIP_STORED]:
                raise ArchiveError(f"expected members without compression, {packed[0]} has one")
            if sum(one.file_size for one in members) > path.stat().st_size:
                raise ArchiveError("expected members that are no larger than the archive")
            return {one.filename: archive.read(one) for one in members}
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise ArchiveError(f"expected a ZIP archive, got {error}") from error
