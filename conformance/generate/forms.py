"""Cases in another form: the same table and the same requests, with rows in another data format.

A protocol brings its forms in :class:`~conformance.generate.plugin.GeneratePlugin`. A case in a form has the id
``CASE@FORM``, from which the same case is made again. Cases are written and drawn in :data:`BASE`, which no id names.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Sequence

from conformance._globs import matches
from conformance.generate.plugin import BASE, GeneratePlugin
from conformance.protocol import plugin, plugins
from conformance.records import Case

__all__ = [
    "BASE",
    "EVERY",
    "drawn_in",
    "form_id",
    "form_names",
    "forms_of",
    "in_form",
    "in_forms",
    "names_of",
    "parted",
    "place_of",
    "wanted",
]

EVERY = "both"
"""The word for the base and all other forms together."""
_AT = "@"


@functools.cache
def form_names() -> tuple[str, ...]:
    """The names of all forms of all protocols, the base first."""
    return tuple(dict.fromkeys((BASE, *(name for one in plugins(GeneratePlugin).values() for name in one.forms))))


def forms_of(protocol: str) -> tuple[str, ...]:
    """The names of the forms that cases of a protocol can have besides the base."""
    return tuple(plugin(GeneratePlugin, protocol).forms)


def form_id(case_id: str, form: str) -> str:
    """The id of a case in a form; the base adds nothing."""
    return case_id if form == BASE else f"{case_id}{_AT}{form}"


def parted(case_id: str) -> tuple[str, str]:
    """The id of a case in the base, and its form.

    >>> parted("rows.none"), parted("rows.none@avro")
    (('rows.none', 'arrow'), ('rows.none', 'avro'))
    """
    name, at, form = case_id.rpartition(_AT)
    return (name, form) if at and form in form_names() else (case_id, BASE)


def place_of(case_id: str) -> tuple[str, int]:
    """What sorts cases by their ids in the base, with the forms of each in their order."""
    base, form = parted(case_id)
    return base, form_names().index(form)


def names_of(case_id: str) -> tuple[str, ...]:
    """The id of a case, and that of the same case in the base if this is another."""
    return tuple(dict.fromkeys((case_id, parted(case_id)[0])))


def in_form(case: Case, form: str) -> Case | None:
    """The case in a form; None if it has no such form."""
    if form == BASE:
        return case
    make = plugin(GeneratePlugin, case.protocol).forms.get(form)
    made = None if make is None else make(case)
    return None if made is None else dataclasses.replace(made, id=form_id(case.id, form))


def drawn_in(form: str, draw: Callable[[], Case]) -> Case:
    """The case that ``draw`` returns, in a form.

    Raises:
        LookupError: it has no such form; each drawn case has all forms of its protocol.
    """
    case = draw()
    made = in_form(case, form)
    if made is None:
        raise LookupError(f"{case.id}: a drawn case without the form {form}")
    return made


def wanted(protocol: str, form: str) -> tuple[str, ...]:
    """The forms of a protocol's cases in a run of one form, or of :data:`EVERY`; the base comes first."""
    return (BASE, *forms_of(protocol)) if form == EVERY else (form,)


def in_forms(cases: Iterable[Case], form: str, globs: Sequence[str] = ()) -> list[Case]:
    """The cases in a form, or in :data:`EVERY`, without those that lack it.

    With them, in any form, those whose id a glob matches that ends with the name of that form.
    """
    found: list[Case] = []
    for case in cases:
        forms = wanted(case.protocol, form)
        for name in (BASE, *forms_of(case.protocol)):
            if name in forms or _is_named(case.id, name, globs):
                made = in_form(case, name)
                found += [] if made is None else [made]
    return found


def _is_named(case_id: str, form: str, globs: Sequence[str]) -> bool:
    """True if one of the globs asks for the case in a form other than the base by the end of its id."""
    ending = [glob for glob in globs if form != BASE and glob.endswith(f"{_AT}{form}")]
    return bool(ending) and matches(form_id(case_id, form), ending)
