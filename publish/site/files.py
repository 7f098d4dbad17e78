"""Files of the repository as pages of the site: what guides link and the site has no other page for."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from publish.generated import ROOT
from publish.site.frame import Site

__all__ = ["CHANGES", "LICENCE", "file_path", "write_files"]

CHANGES: Final = "CHANGELOG.md"
LICENCE: Final = "LICENSE"
"""Files that every site has; others only if a guide links them."""
LARGEST: Final = 300_000
"""The most bytes of a text that is shown; a larger file is there as it is."""


def file_path(path: str) -> str:
    """The page of a file or of a folder, by its path in the repository; empty if there is no such file."""
    found = ROOT / path
    if found.is_dir():
        return f"files/{path}/index.html"
    if not found.is_file():
        return ""
    return f"files/{path}.html" if _shown(found) else f"files/{path}"


def _shown(file: Path) -> bool:
    data = file.read_bytes()
    return len(data) <= LARGEST and b"\0" not in data


def write_files(site: Site, paths: Iterable[str]) -> None:
    """Write the page of each path, and of the files in it if it is a folder."""
    left, done = [*paths], set[str]()
    while left:
        if (path := left.pop()) in done:
            continue
        done.add(path)
        here, file, inside = file_path(path), ROOT / path, list[str]()
        if file.is_dir():
            inside = [f"{path}/{one.name}" for one in sorted(file.iterdir()) if one.is_file()]
            left += inside
        elif not here.endswith(".html"):
            site.write(here, file.read_bytes())
            continue
        text = "" if inside else file.read_text(encoding="utf-8")
        listed = [(posixpath.basename(one), file_path(one)) for one in inside]
        site.show(here, "file", path=path, text=text, listed=listed)
