"""Find cases by name."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path

from conformance.disk.files import data_file
from conformance.generate import CaseFileError, load_case, load_cases
from conformance.generate.families import redraw
from conformance.generate.forms import in_form, parted
from conformance.generate.scenariokinds import draw_scenario, parse_scenario_id
from conformance.protocol import DEFAULT_PROTOCOL, protocol_files
from conformance.records import Case

__all__ = ["drawn_again", "load_corpus", "resolve_case"]


def load_corpus(directory: Path | None = None, protocol: str | None = DEFAULT_PROTOCOL) -> dict[str, Case]:
    """The cases below ``directory`` (the suite's own unless given) by id, in the order of their ids.

    Of the suite's own cases, those of one protocol; all of them if it is None. A directory of somebody else is taken
    whole: what a target cannot be asked is reported there.
    """
    own = data_file("cases")
    if directory is not None and directory.resolve() != own.resolve():
        return {case.id: case for case in load_cases(directory)}
    return {case.id: case for case in _own_cases(directory or own) if protocol is None or case.protocol == protocol}


@functools.cache
def _own_cases(directory: Path) -> tuple[Case, ...]:
    """The suite's own cases, and those in the folder of a protocol; they do not change while a process runs, and some
    commands need them twice.
    """
    homes: dict[str, Path] = {}
    cases: list[Case] = []
    for place in (directory, *protocol_files("cases")):
        for case in load_cases(place):
            if homes.setdefault(case.id, place) != place:
                raise CaseFileError(place, f"Case.id: {homes[case.id]} has {case.id!r} too")
            cases.append(case)
    return tuple(sorted(cases, key=lambda case: case.id))


def resolve_case(name: str, directory: Path | None = None) -> Case:
    """The case ``name``: the path of a case file, the id of a drawn case or scenario, or one in the corpus.

    An id may end with a form, as :func:`conformance.generate.forms.form_id` writes it.

    Raises:
        KeyError: no case has this name.
    """
    if Path(name).is_file():
        return load_case(Path(name))
    base, form = parted(name)
    case = in_form(drawn_again(base) or load_corpus(directory, None)[base], form)
    if case is None:
        raise KeyError(name)
    return case


def drawn_again(name: str, *, types: Sequence[str] = (), not_offered: Sequence[str] = ()) -> Case | None:
    """The drawn case or scenario of this id; None if it is the id of none.

    A case is drawn without some ``types``, and both without what is ``not_offered``.
    """
    place = parse_scenario_id(name)
    if place is not None:
        return draw_scenario(place.seed, place.index, profile=place.profile, not_offered=not_offered)
    return redraw(name, not_offered=(*types, *not_offered))
