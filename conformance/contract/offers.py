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
from typing import Final

from conformance._globs import matches
from conformance.contain.text import unknown
from conformance.contract.flightprofiles import FLIGHT_ROWS
from conformance.contract.profilerow import ProfileRow
from conformance.records import (
    AppendRows,
    BqType,
    Case,
    CreateSession,
    Profile,
    ProtocolName,
    RecordError,
    SplitStream,
    Step,
)

__all__ = ["ELSEWHERE", "OPTIONAL", "PROFILE_TITLES", "asked", "check_not_offered", "may_be_absent",
           "profile_of"]  # fmt: skip

TYPES: Final = frozenset(kind.value for kind in BqType if kind is not BqType.RECORD)
"""The types of columns that a server may leave out."""
NOT_OFFERED: Final = "not-offered"
"""The reason class of a refusal that a server may give, because it does not offer the option at all."""


_STORAGE_ROWS: Final = (
    ProfileRow(
        Profile.FILTERS,
        "row_restriction: only rows that meet a condition are served",
        ("restriction.*", "errors.*-restriction-*", "projection.filter-*"),
        lambda step: isinstance(step, CreateSession) and bool(step.row_restriction or step.restriction_bytes),
    ),
    ProfileRow(
        Profile.PROJECTION,
        "selected_fields: only some columns are served",
        ("projection.*", "errors.unknown-column-*"),
        lambda step: isinstance(step, CreateSession) and bool(step.selected_fields),
        unless=("projection.filter-*",),
    ),
    ProfileRow(
        Profile.SNAPSHOTS,
        "a session shows its table as it was at one instant, or at snapshot_time",
        ("snapshot.*", "errors.snapshot-*", "history.no-torn-*", "history.no-receding-*", "history.no-early-*"),
        lambda step: isinstance(step, AppendRows) or (isinstance(step, CreateSession) and bool(step.snapshot)),
    ),
    ProfileRow(
        Profile.SPLITS,
        "SplitReadStream: a stream is divided while it is read",
        ("split.*", "errors.split-*"),
        lambda step: isinstance(step, SplitStream),
        unless=("split.request-is-not-*",),
    ),
    ProfileRow(
        Profile.BUFFER_COMPRESSION,
        "buffer_compression: LZ4 or ZSTD in Arrow buffers; google-cloud-bigquery 3.47.0 asks for LZ4_FRAME",
        ("compression.*", "buffers.*"),
        lambda step: isinstance(step, CreateSession) and bool(step.buffer_compression),
        unless=("compression.payload-*", "compression.both-*", "compression.none-without-asking"),
    ),
    ProfileRow(
        Profile.RESPONSE_COMPRESSION,
        "response_compression_codec: LZ4 over the payload of a response",
        ("compression.payload-*", "compression.both-*"),
        lambda step: isinstance(step, CreateSession) and bool(step.response_compression),
    ),
)

OPTIONAL: Final[Mapping[ProtocolName, Mapping[Profile, ProfileRow]]] = MappingProxyType(
    {
        protocol: MappingProxyType({row.profile: row for row in rows})
        for protocol, rows in ((ProtocolName.STORAGE_READ, _STORAGE_ROWS), (ProtocolName.FLIGHT, FLIGHT_ROWS))
    }
)
"""The profiles that a server may leave out, by its protocol."""

_LOOSE: Final = ("values.date-limits", "values.timestamp-limits")
ELSEWHERE: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {"server": ("values.serialized-rows", *_LOOSE), "arrow": _LOOSE}
)
"""Clauses that no case of a run can show, by the ``profile`` of :class:`~conformance.engine.events.RunStarted`.

A server has no serialized rows. The limits of dates and timestamps are for bytes that are compared with no case.
"""

_ROWS: Final[Mapping[Profile, ProfileRow]] = MappingProxyType(
    {profile: row for rows in OPTIONAL.values() for profile, row in rows.items()}
)

PROFILE_TITLES: Final[Mapping[Profile, str]] = MappingProxyType(
    {
        Profile.CORE: "sessions, whole and resumed reads, several streams and refusals; of Flight, flights, infos,"
        " tickets and DoGet: every server offers them",
        **{profile: row.title for profile, row in _ROWS.items()},
    }
)
"""Every profile with its title."""


@functools.cache
def profile_of(clause_id: str) -> Profile:
    """Return the profile of a clause: core, unless it belongs to another."""
    for profile, row in _ROWS.items():
        if matches(clause_id, row.clauses) and not matches(clause_id, row.unless):
            return profile
    return Profile.CORE


def asked(case: Case) -> tuple[Profile, ...]:
    """Return the profiles that the steps of a case ask for, other than core.

    A case with an option that may be refused because it is not offered is put to every server.
    """
    if any(map(may_be_absent, case.steps)):
        return ()
    rows = OPTIONAL[case.protocol].items()
    return tuple(profile for profile, row in rows if any(map(row.asks, case.steps)))


def may_be_absent(step: Step) -> bool:
    """True if a step asks for something that a server may lack: it is honoured or refused, and never ignored."""
    return isinstance(step, CreateSession | SplitStream) and step.expect.reason == NOT_OFFERED


def check_not_offered(where: str, names: Sequence[str], protocol: ProtocolName = ProtocolName.STORAGE_READ) -> None:
    """Check the profiles, and of a server of tables the types of columns, that a target file leaves out.

    Raises:
        RecordError: a name is that of no profile of the protocol and no type, or of core.
    """
    optional, types = OPTIONAL[protocol], TYPES if protocol is ProtocolName.STORAGE_READ else ()
    for name in names:
        if name == Profile.CORE:
            raise RecordError(where, "profiles that a server may leave out: core is what every client needs", name)
        if name not in optional and name not in types:
            said = unknown("profile", name, optional)
            raise RecordError(
                where, f"names of `conformance list profiles`{', or of types' if types else ''} ({said})", name
            )
