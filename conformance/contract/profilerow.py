"""One profile of a protocol: its title, its clauses, and the requests that need it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from conformance.records import Step

__all__ = ["CORE", "ProfileRow"]

CORE: Final = "core"
"""The profile that every server offers; no protocol leaves it out."""


@dataclasses.dataclass(frozen=True, slots=True)
class ProfileRow:
    """One profile: ``title`` says what it is and who asks for it.

    ``clauses`` are globs of the ids that belong to it, unless ``unless`` names them; ``asks`` is true of a step that
    needs it.
    """

    profile: str
    title: str
    clauses: tuple[str, ...]
    asks: Callable[[Step], bool]
    unless: tuple[str, ...] = ()
