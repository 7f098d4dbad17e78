"""The cases, by name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from conformance.engine.files import data_file
from conformance.generate import draw_case, load_case, load_cases
from conformance.records import Case

__all__ = ["load_corpus", "resolve_case"]

_GENERATED: Final = re.compile(r"generated\.(arrow|server)\.s(\d+)\.i(\d+)")
"""The ids that :func:`conformance.generate.draw_case` gives: enough to draw the case again."""


def load_corpus(directory: Path | None = None) -> dict[str, Case]:
    """The cases below ``directory`` (the suite's own unless given) by id, in the order of their ids."""
    return {case.id: case for case in load_cases(directory or data_file("cases"))}


def resolve_case(name: str, directory: Path | None = None) -> Case:
    """The case ``name``: the path of a case file, the id of a generated case, or an id of the corpus.

    Raises:
        KeyError: nothing is called so.
    """
    if Path(name).is_file():
        return load_case(Path(name))
    if match := _GENERATED.fullmatch(name):
        return draw_case(int(match[2]), int(match[3]), profile=match[1])
    return load_corpus(directory)[name]
