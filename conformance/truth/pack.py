"""A truth pack on disk: a folder of recordings, their confirmations, and what follows from both.

``recordings/NAME.jsonl`` holds the facts of a run and a line for each case; ``confirmations.json`` repeats the facts
with a digest; ``verdicts.json`` is computed from the recordings. Nothing stands in one place only: an edit of one place
disagrees with another one.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from conformance.contain.parse import ForeignJsonError, parse_object
from conformance.contain.text import safe
from conformance.disk import pipes
from conformance.disk.files import reading, write_inside
from conformance.generate.casefile import check_foreign
from conformance.records import RecordError, from_json, to_json
from conformance.truth.records import FORMAT, Confirmations, Facts, TruthEntry, TruthFindings
from conformance.truth.references import kept

__all__ = [
    "CONFIRMATIONS",
    "RECORDINGS",
    "VERDICTS",
    "Pack",
    "PackError",
    "Taken",
    "digest",
    "read_findings",
    "read_pack",
]

RECORDINGS: Final = "recordings"
CONFIRMATIONS: Final = "confirmations.json"
VERDICTS: Final = "verdicts.json"
LARGEST: Final = 1 << 30
"""The largest file of a pack that is read, in bytes; a recording of all cases has some tens of MB."""
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,40}")

R = TypeVar("R")


class PackError(ValueError):
    """A folder is not a truth pack that this version can read; the message names the file and the place."""


@dataclasses.dataclass(frozen=True, slots=True)
class Taken:
    """A recording: the facts of its run, and its cases."""

    facts: Facts
    entries: tuple[TruthEntry, ...]

    def by_case(self) -> Mapping[str, TruthEntry]:
        """The entry of each case."""
        return {entry.case_id: entry for entry in self.entries}


@dataclasses.dataclass(frozen=True, slots=True)
class Pack:
    """A truth pack, with its recordings by name."""

    recordings: Mapping[str, Taken]
    confirmations: Confirmations
    findings: TruthFindings

    def write(self, folder: Path) -> None:
        """Write the pack to ``folder``; recordings that it does not have are removed from there.

        Raises:
            DiskError: a file cannot be written.
        """
        for name, taken in self.recordings.items():
            lines = [to_json(taken.facts), *map(to_json, taken.entries)]
            text = "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)
            write_inside(folder, f"{RECORDINGS}/{name}.jsonl", text)
        for path in (folder / RECORDINGS).glob("*.jsonl"):
            if path.stem not in self.recordings:
                path.unlink()
        for file, form in ((CONFIRMATIONS, self.confirmations), (VERDICTS, self.findings)):
            write_inside(folder, file, json.dumps(to_json(form), indent=1, ensure_ascii=False) + "\n")


def digest(taken: Taken) -> str:
    """The SHA-256 digest of what a recording shows; equal for every consistent renumbering of its references."""
    made = hashlib.sha256()
    for form in (to_json(taken.facts), *map(entry_form, taken.entries)):
        made.update(json.dumps(form, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n")
    return made.hexdigest()


def entry_form(entry: TruthEntry) -> dict[str, Any]:
    """The JSON form of an entry with its references numbered in the order in which they occur."""
    form = to_json(entry)
    return form if entry.exchange is None else form | {"exchange": kept(entry.exchange)}


def read_pack(folder: Path) -> Pack:
    """The pack in ``folder``.

    Raises:
        PackError: a file is missing, or is not of the form of this version.
        OSError: a file cannot be read.
    """
    paths = sorted((folder / RECORDINGS).glob("*.jsonl"))
    if not paths:
        raise PackError(
            f"{folder}: expected a truth pack with recordings in {RECORDINGS}/; `conformance truth make` makes one"
        )
    return Pack(
        {path.stem: _recording(path) for path in paths},
        _document(Confirmations, folder / CONFIRMATIONS),
        read_findings(folder),
    )


def read_findings(folder: Path) -> TruthFindings:
    """``verdicts.json`` of the pack in ``folder``; raises as :func:`read_pack`."""
    return _document(TruthFindings, folder / VERDICTS)


def _document(kind: type[R], path: Path) -> R:
    if not path.is_file():
        raise PackError(f"{path}: expected this file of a truth pack; `conformance truth make` makes one")
    data = _parsed(_limited(path), str(path))
    found = data.get("format")
    if isinstance(found, int) and found > FORMAT:
        raise PackError(f"{path}: expected a pack of format {FORMAT}, got {found}; update the suite")
    return _record(kind, data, str(path))


def _recording(path: Path) -> Taken:
    if not _NAME.fullmatch(path.stem):
        raise PackError(f"{path}: expected a name of lower-case letters, digits and hyphens")
    first, *lines = _limited(path).splitlines() or [b""]
    facts = _record(Facts, _parsed(first, f"{path}, line 1"), f"{path}, line 1")
    entries = []
    for number, line in enumerate(lines, 2):
        place = f"{path}, line {number}"
        entry = _record(TruthEntry, _parsed(line, place), place)
        if entry.exchange is not None:
            try:
                check_foreign(entry.exchange.case)
            except ValueError as error:
                raise PackError(safe(f"{place}: {error}")) from None
        entries.append(entry)
    return Taken(facts, tuple(entries))


def _limited(path: Path) -> bytes:
    # A pack comes from strangers: a link would lead to a file of this machine, whose first bytes an error may quote.
    for place in (path, *([path.parent] if path.parent.name == RECORDINGS else [])):
        if place.is_symlink():
            raise PackError(f"{place}: expected a truth pack without links, got a symbolic link")
    with reading(path), pipes.kept(path).open("rb") as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise PackError(f"{path}: expected at most {LARGEST >> 20} MiB, got more")
    return data


def _parsed(data: bytes, place: str) -> dict[str, Any]:
    try:
        return parse_object(data)
    except ForeignJsonError as error:
        raise PackError(safe(f"{place}: expected a JSON object: {error}")) from None


def _record(kind: type[R], data: object, place: str) -> R:
    try:
        return from_json(kind, data, path=place)
    except (RecordError, RecursionError) as error:
        raise PackError(safe(str(error) or f"{place}: too many levels")) from None
