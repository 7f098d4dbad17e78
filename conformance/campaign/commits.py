"""Atomic, exactly-once commit of the output of a task.

A task writes its range's Parquet files under names that no other attempt uses, flushes them to disk, and then links
a manifest to ``commits/<range>.json``. Linking fails if the name exists, so the first attempt wins. A second one
(speculation, a retry, an executor that outlived its driver) removes its own files and returns the winner's summary.
Files that no manifest names do not exist for readers of a campaign: they start from the manifests.
This needs a file system with hard links that every executor sees: a local disk, NFS, or another POSIX file system.
"""

from __future__ import annotations

import contextlib
import json
import os
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from conformance.campaign.campaignjob import Range
from conformance.campaign.runfolders import SCHEMAS, RunFiles, Stage
from conformance.contain.parse import ForeignJsonError, parse_object
from conformance.contain.text import safe
from conformance.disk.files import LARGEST_TEXT, naming, read_whole, write_whole
from conformance.targets.targeterrors import TargetError

__all__ = ["Commit", "CommitError", "Tally", "committed", "files_of", "manifest_of", "sweep", "write_file"]


class CommitError(TargetError):
    """A file of a committed range is not what the range wrote; the text says which one, and what to do."""

    def __init__(self, path: Path, said: str, *, part: str = "manifest", remedy: str = "remove it") -> None:
        super().__init__(f"{path} is not a {part} of a range: {said}; {remedy}, and the range is run again")


_MANIFESTS: Final = "[0-9]*.json"


def write_file(path: Path, data: bytes) -> None:
    """Write ``data`` to ``path`` atomically: the file exists completely or not at all, even after a crash of the
    machine.
    """
    write_whole(path, data, durable=True)


class Commit:
    """One attempt at a range: files are added, then all of them are committed or none."""

    def __init__(self, layout: RunFiles, span: Range) -> None:
        self._layout = layout
        self.span = span
        self._attempt = uuid.uuid4().hex[:12]
        self._files: list[Path] = []

    def add(self, stage: Stage, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write the rows of a stage."""
        path = self._layout.stage(stage) / f"part-{self.span.number:06d}-{self._attempt}.parquet"
        table = pa.Table.from_pylist(list(rows), schema=SCHEMAS[stage])
        self._files.append(path)  # before it is written, so that abandon() removes a file that did not fit
        with naming(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                pq.write_table(table, file, compression="zstd")
                file.flush()
                os.fsync(file.fileno())

    def keep(self, name: str, data: bytes) -> str:
        """Write one large exchange to a file of its own and return its path below the campaign's directory."""
        path = self._layout.stage(Stage.DRIVE) / "exchanges" / f"{name}-{self._attempt}.arrow"
        self._files.append(path)
        write_file(path, data)
        return str(path.relative_to(self._layout.root))

    def finish(self, summary: Mapping[str, Any]) -> dict[str, Any]:
        """Commit, and return the summary of the range: this attempt's, or that of an attempt that came first."""
        root = self._layout.root
        manifest = {
            "number": self.span.number,
            "first": self.span.first,
            "last": self.span.last,
            "files": [str(path.relative_to(root)) for path in self._files],
            **summary,
        }
        final = _manifest(self._layout, self.span.number)
        temporary = final.with_name(f".{final.name}.{self._attempt}")
        try:
            write_file(temporary, json.dumps(manifest).encode())
            with naming(final):
                try:
                    os.link(temporary, final)
                except FileExistsError:
                    self.abandon()
                    return _read(final)
        except OSError:
            self.abandon()
            raise
        finally:
            temporary.unlink(missing_ok=True)
        return manifest

    def abandon(self) -> None:
        """Remove the files that this attempt has written."""
        for path in self._files:
            with contextlib.suppress(FileNotFoundError):
                path.unlink()


class Tally:
    """Counts committed cases incrementally: it reads each manifest once."""

    def __init__(self, layout: RunFiles) -> None:
        self._layout = layout
        self.numbers: set[int] = set()
        self.cases = 0
        self.failing = 0

    def look(self) -> None:
        """Add the ranges that were committed since the last call."""
        for path in self._layout.commits.glob(_MANIFESTS):
            if int(path.stem) not in self.numbers:
                manifest = _read(path)
                self.numbers.add(manifest["number"])
                self.cases += manifest["cases"]
                self.failing += manifest["failing"]


def committed(layout: RunFiles) -> dict[int, dict[str, Any]]:
    """The manifests of all committed ranges by their number."""
    manifests = (_read(path) for path in sorted(layout.commits.glob(_MANIFESTS)))
    return {manifest["number"]: manifest for manifest in manifests}


def manifest_of(layout: RunFiles, span: Range) -> dict[str, Any] | None:
    """The manifest of a range; None if the range is not committed."""
    try:
        return _read(_manifest(layout, span.number))
    except FileNotFoundError:
        return None


def _manifest(layout: RunFiles, number: int) -> Path:
    return layout.commits / f"{number:06d}.json"


def _read(path: Path) -> dict[str, Any]:
    """The manifest at ``path``; raises :class:`CommitError` if the file is not one."""
    try:
        found = parse_object(read_whole(path, LARGEST_TEXT))
    except ForeignJsonError as error:
        raise CommitError(path, str(error)) from None
    if missing := sorted({"number", "files", "cases"} - set(found)):
        raise CommitError(path, f"expected the key {missing[0]!r}")
    return found


def files_of(layout: RunFiles, stage: Stage) -> list[str]:
    """The committed Parquet files of a stage, in the order of the ranges.

    Raises:
        CommitError: a file is missing or has no Parquet footer; Spark would end in an error of Java.
    """
    found = []
    for manifest in committed(layout).values():
        for name in manifest["files"]:
            if name.startswith(f"{stage}/") and name.endswith(".parquet"):
                _check_parquet(layout, layout.root / name, manifest["number"])
                found.append(str(layout.root / name))
    return found


def _check_parquet(layout: RunFiles, path: Path, number: int) -> None:
    try:
        pq.read_metadata(path)
    except (OSError, pa.ArrowInvalid) as error:
        remedy = f"remove {_manifest(layout, number)}"
        raise CommitError(path, safe(str(error)), part="Parquet file", remedy=remedy) from None


def sweep(layout: RunFiles) -> int:
    """Remove the files of lost attempts; returns their number. Call it only when every range is committed.

    Before that, an executor of a killed driver may still be about to commit its files.
    """
    named = {str(layout.root / name) for manifest in committed(layout).values() for name in manifest["files"]}
    found = (path for stage in Stage for path in layout.stage(stage).rglob("*") if path.is_file())
    lost = [path for path in found if str(path) not in named]
    for path in lost:
        path.unlink()
    return len(lost)
