"""The profiles: the named parts of the service that a server offers, the clauses and the requests of each.

A server need not offer every profile. Its target file names what it does not offer, and it is judged on the rest. Each
clause on a server belongs to one profile. A case asks for the profiles whose requests it makes, so that generated
cases and cases of other corpora are known too.

A *capability* (``Case.needs``) is something else: it lies outside the contract, so that only a target that declares it
is judged on it. A profile is a part of the contract, so that a target is judged on it unless it says otherwise.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Final, TypeAlias

from conformance._globs import matches
from conformance._hints import OneOf
from conformance.contain.text import unknown
from conformance.contract.plugin import ContractPlugin
from conformance.contract.profilerow import CORE, ProfileRow
from conformance.protocol import merged, plugin, plugins
from conformance.records import (
    BqType,
    Case,
    CreateSession,
    RecordError,
    SplitStream,
    Step,
)

__all__ = ["ELSEWHERE", "ProfileName", "asked", "check_not_offered", "may_be_absent", "optional", "profile_of",
           "profile_titles"]  # fmt: skip

TYPES: Final = frozenset(kind.value for kind in BqType if kind is not BqType.RECORD)
"""The types of columns that a server may leave out."""
NOT_OFFERED: Final = "not-offered"
"""The reason class of a refusal that a server may give, because it does not offer the option at all."""


@functools.cache
def optional(protocol: str) -> Mapping[str, ProfileRow]:
    """The profiles that a server of a protocol may leave out."""
    return MappingProxyType({row.profile: row for row in plugin(ContractPlugin, protocol).rows})


ProfileName: TypeAlias = Annotated[str, OneOf(lambda: tuple(profile_titles()))]
"""The name of a profile in a record."""

_LOOSE: Final = ("values.date-limits", "values.timestamp-limits")
ELSEWHERE: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {"server": ("values.serialized-rows", *_LOOSE), "arrow": _LOOSE}
)
"""Clauses that no case of a run can show, by the ``profile`` of :class:`~conformance.engine.events.RunStarted`.

A server has no serialized rows. The limits of dates and timestamps are for bytes that are compared with no case.
"""


@functools.cache
def _rows() -> Mapping[str, ProfileRow]:
    """The profiles of all protocols, in their order.

    Raises:
        ValueError: two protocols have profiles of one name.
    """
    brought = {name: [(row.profile, row) for row in one.rows] for name, one in plugins(ContractPlugin).items()}
    return MappingProxyType(merged("profile", brought))


@functools.cache
def profile_titles() -> Mapping[str, str]:
    """Every profile with its title."""
    core = "; ".join(one.core for one in plugins(ContractPlugin).values()) + ": every server offers them"
    return MappingProxyType({CORE: core, **{profile: row.title for profile, row in _rows().items()}})


@functools.cache
def profile_of(clause_id: str) -> str:
    """Return the profile of a clause: core, unless it belongs to another."""
    for profile, row in _rows().items():
        if matches(clause_id, row.clauses) and not matches(clause_id, row.unless):
            return profile
    return CORE


def asked(case: Case) -> tuple[str, ...]:
    """Return the profiles that the steps of a case ask for, other than core.

    A case with an option that may be refused because it is not offered is put to every server.
    """
    if any(map(may_be_absent, case.steps)):
        return ()
    rows = optional(case.protocol).items()
    return tuple(profile for profile, row in rows if any(map(row.asks, case.steps)))


def may_be_absent(step: Step) -> bool:
    """True if a step asks for something that a server may lack: it is honoured or refused, and never ignored."""
    return isinstance(step, CreateSession | SplitStream) and step.expect.reason == NOT_OFFERED


def check_not_offered(where: str, names: Sequence[str], protocol: str) -> None:
    """Check the profiles, and of a server of tables the types of columns, that a target file leaves out.

    Raises:
        RecordError: a name is that of no profile of the protocol and no type, or of core.
    """
    profiles, types = optional(protocol), TYPES if plugin(ContractPlugin, protocol).has_types else ()
    for name in names:
        if name == CORE:
            raise RecordError(where, "profiles that a server may leave out: core is what every client needs", name)
        if name not in profiles and name not in types:
            said = unknown("profile", name, profiles)
            raise RecordError(
                where, f"names of `conformance list profiles`{', or of types' if types else ''} ({said})", name
            )
