"""The user's own streams and files as cases: each version reads them, and writes what it has read."""

from __future__ import annotations

import base64
import dataclasses
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from conformance.contain.text import safe
from conformance.drift.bytejudging import broken_rules
from conformance.drift.readinputs import DriftInput
from conformance.drift.recipes import DriftRecipe, Writing
from conformance.drift.versions import DriftError
from conformance.wire import Kind, recognise, sniff

__all__ = [
    "MOST_BYTES",
    "NO_FILES",
    "OWN",
    "OWN_KIND",
    "UserFile",
    "UserFiles",
    "find_files",
    "user_inputs",
    "user_recipes",
]

MOST_BYTES: Final = 16 << 20
"""The largest file that is compared: all its values are converted to plain ones within the time of a job."""
SHOWN: Final = 3
"""The most files that a refusal names."""
OWN: Final = "file."
"""The beginning of the ids of cases from files."""
OWN_KIND: Final = "your files"
"""The class of the files in the matrix."""


@dataclasses.dataclass(frozen=True, slots=True)
class UserFile:
    """A stream or file: ``id`` begins the ids of its cases, ``container`` is ``stream`` or ``file``."""

    id: str
    path: Path
    container: str
    data: bytes


@dataclasses.dataclass(frozen=True, slots=True)
class UserFiles:
    """The cases among some files; ``left_out`` are sentences about the others.

    ``names`` are the files, folders and patterns that the user named.
    """

    names: tuple[str, ...] = ()
    files: tuple[UserFile, ...] = ()
    left_out: tuple[str, ...] = ()


NO_FILES: Final = UserFiles()


def find_files(names: Sequence[str], paths: Iterable[Path]) -> UserFiles:
    """The streams and files among ``paths``, which are those that ``names`` name, in their order.

    Raises:
        DriftError: none of them can be compared.
    """
    found: list[UserFile] = []
    left_out: list[str] = []
    for path in paths:
        data, reason = _read(path)
        if reason:
            left_out.append(f"{safe(str(path))}: {reason}")
        else:
            name = re.sub(r"[^\w.-]", "_", path.stem, flags=re.ASCII)[:40]
            found.append(UserFile(f"{OWN}{len(found):04}.{name}", path, sniff(data).value, data))
    if not found:
        raise DriftError(f"expected Arrow streams or files to compare; {'; '.join(left_out[:SHOWN])}")
    return UserFiles(tuple(names), tuple(found), tuple(left_out))


def _read(path: Path) -> tuple[bytes, str]:
    """The bytes of a file, or the reason why it is no case."""
    try:
        if not path.is_file():
            return b"", "no regular file"
        if (size := path.stat().st_size) > MOST_BYTES:
            return b"", f"{size:,} bytes, more than the {MOST_BYTES:,} that are compared"
        data = path.read_bytes()
    except OSError as error:
        return b"", f"{error.strerror}"
    if data and sniff(data) in (Kind.STREAM, Kind.FILE):
        return data, ""
    foreign = recognise(data)
    return b"", "no stream and no file of Arrow IPC" if foreign is None else f"{foreign.name}, no Arrow data"


def user_recipes(files: Iterable[UserFile]) -> Iterator[DriftRecipe]:
    """A recipe for each file: the version builds it by reading the file."""
    for one in files:
        document = {"data": base64.b64encode(one.data).decode(), "container": one.container}
        yield DriftRecipe(one.id, OWN_KIND, document, (Writing(one.container, {}),))


def user_inputs(files: Iterable[UserFile]) -> Iterator[DriftInput]:
    """Each file as it is."""
    for one in files:
        yield DriftInput(f"{one.id}/as-it-is", OWN_KIND, one.container, one.data, broken_rules(one.container, one.data))
