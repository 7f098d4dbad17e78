"""The target files that ship with the suite, by name.

A target is named like its file: ``--target reference`` is ``targets/reference.toml`` of the working copy, or the same
file in the installed package.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from conformance.contain.text import unknown
from conformance.disk.files import data_file
from conformance.protocol import protocol_files
from conformance.targets.targeterrors import TargetError
from conformance.targets.urls import meant

__all__ = ["find_target", "shipped_targets"]


def shipped_targets() -> Mapping[str, Path]:
    """Every target file that ships with the suite, also in the folder of a protocol, by its name, sorted."""
    files = (*data_file("targets").glob("*.toml"), *protocol_files("*.toml"))
    return {path.stem: path for path in sorted(files, key=lambda path: path.name)}


def find_target(given: str | Path) -> Path:
    """The target file that a user means: a path, or the name of one that ships with the suite.

    A text with a directory or with the suffix ``.toml`` is a path, and so is the name of an existing file.

    Raises:
        TargetError: it can only be a name, and no target has it.
    """
    path = Path(given)
    if path.suffix == ".toml" or os.sep in str(given) or (path.exists() and not path.is_dir()):
        return path
    shipped = shipped_targets()
    if path.name not in shipped:
        hint = meant(path.name)
        raise TargetError(unknown("target", path.name, () if hint else shipped, hint))
    return _shown(shipped[path.name])


def _shown(path: Path) -> Path:
    """``path`` as a user would type it: relative if it is below the current directory."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
