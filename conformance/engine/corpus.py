"""Find cases by name."""

from __future__ import annotations

from pathlib import Path

from conformance.disk.files import data_file
from conformance.generate import load_case, load_cases
from conformance.generate.families import redraw
from conformance.generate.scenarios import draw_scenario, parse_scenario_id
from conformance.records import Case

__all__ = ["load_corpus", "resolve_case"]


def load_corpus(directory: Path | None = None) -> dict[str, Case]:
    """The cases below ``directory`` (the suite's own unless given) by id, in the order of their ids."""
    return {case.id: case for case in load_cases(directory or data_file("cases"))}


def resolve_case(name: str, directory: Path | None = None) -> Case:
    """The case ``name``: the path of a case file, the id of a drawn case or scenario, or one in the corpus.

    Raises:
        KeyError: no case has this name.
    """
    if Path(name).is_file():
        return load_case(Path(name))
    place = parse_scenario_id(name)
    if place is not None:
        return draw_scenario(*place)
    return redraw(name) or load_corpus(directory)[name]
