"""ZIP archives of many small files, readable from any language; equal members give equal archive bytes.

Members are stored without compression, sorted by name, all with one date and mode. So equal members give the same
archive on every machine and under every version of Python and zlib, and a change of one member is a small change.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from conformance.disk.files import read_whole

__all__ = ["LARGEST_ARCHIVE", "ArchiveError", "pack", "unpack"]

LARGEST_ARCHIVE: Final = 256 << 20
"""The most bytes of an archive that are read; those of the suite have a tenth of it."""

_DATE: Final = (1980, 1, 1, 0, 0, 0)
"""The earliest date that the ZIP format can express."""
_UNIX: Final = 3
"""The number of Unix in the format's list of systems: it says that ``_MODE`` is a Unix file mode."""
_MODE: Final = 0o100644 << 16
"""A regular file, ``rw-r--r--``; ZIP keeps the mode in the upper 16 bits of the external attributes."""


class ArchiveError(ValueError):
    """A file is not an archive as :func:`pack` makes them; the text says what it is, without the file's name."""


def pack(members: Mapping[str, bytes]) -> bytes:
    """Return the bytes of an archive with these members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(members):
            reported = zipfile.ZipInfo(name, _DATE)
            reported.create_system, reported.external_attr = _UNIX, _MODE
            archive.writestr(reported, members[name])
    return buffer.getvalue()


def unpack(path: Path) -> dict[str, bytes]:
    """Return the members of an archive by name; none may be compressed, so together they are no larger than the file.

    Raises:
        ArchiveError: the file is not such an archive, a member is compressed or encrypted, or a checksum is wrong.
        OSError: the file cannot be read, or is larger than :data:`LARGEST_ARCHIVE`.
    """
    # Whoever hands an archive on may have put a pipe or a device in its place.
    data = read_whole(path, LARGEST_ARCHIVE)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            if packed := [one.filename for one in members if one.compress_type != zipfile.ZIP_STORED]:
                raise ArchiveError(f"expected members without compression, {packed[0]} has one")
            if sum(one.file_size for one in members) > len(data):
                raise ArchiveError("expected members that are no larger than the archive")
            return {one.filename: archive.read(one) for one in members}
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise ArchiveError(f"expected a ZIP archive, got {error}") from error
