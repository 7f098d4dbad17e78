"""What a target offers, and so which cases can be put to it."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from conformance.contract.offers import asked
from conformance.generate.flighthistories import CLOCK, ECHO
from conformance.records import (
    Case,
    DoExchange,
    DoPut,
    FlightSqlStep,
    Meanwhile,
    Profile,
    ProtocolName,
    SqlIngest,
    SqlUpdate,
    types_in,
)
from conformance.targets.flightspec import FlightSpec
from conformance.targets.handing import NO_PLACE, place_of
from conformance.targets.spec import TargetKind, TargetSpec

__all__ = ["Lack", "Offer", "left_out_by", "not_drawn"]

NOTHING_PUT: Final = 'this case stores a table by DoPut; the target file does not say [flight] seeding = "put"'
"""The reason why a case is not put to a Flight server that is not known to store what it is sent."""

NO_SQL: Final = "this case speaks Flight SQL; the target file has no [flight.sql]"
"""The reason why a case of Flight SQL is not put to a server that is not known to speak it."""
NO_TABLES: Final = "this case makes a table by SQL; the target file says [flight.sql] tables = false"
"""The reason why a case is not put to a server on which the suite makes no tables."""
NO_ECHO: Final = "this case sends data to a DoExchange that sends it back; the target file does not say [flight] echo"
"""The reason why a case is not put to a Flight server that is not known to send back what it gets."""

NO_CLOCK: Final = "time passes in this case; the target file does not say by [clock] how the server's clock is set"
"""The reason why a case in which time passes is not put to a Flight server whose clock nobody sets."""

SPOKEN: Final = (ProtocolName.STORAGE_READ,)
"""The protocol that every kind of target speaks."""


def not_drawn(spec: TargetSpec) -> tuple[str, ...]:
    """What the scenarios for a target leave out."""
    if spec.kind is not TargetKind.FLIGHT:
        return spec.not_offered
    lacks = {ECHO: spec.flight is None or not spec.flight.echo, CLOCK: spec.clock is None}
    return *spec.not_offered, *(name for name, lacking in lacks.items() if lacking)


def left_out_by(spec: TargetSpec) -> tuple[str, ...]:
    """The profiles and types that a target file leaves out: those of its list, and those that ``[flight]`` does not say
    how to ask for.
    """
    if spec.kind is not TargetKind.FLIGHT:
        return spec.not_offered
    flight = spec.flight or FlightSpec()
    said = {
        Profile.PUT: flight.puts,
        Profile.EXCHANGE: bool(flight.echo),
        Profile.LOGIN: flight.login is not None,
        **dict.fromkeys((Profile.SQL, Profile.SQL_METADATA, Profile.SQL_HANDLES), flight.sql is not None),
        Profile.SQL_INGESTION: flight.makes_tables,
    }
    more = (profile.value for profile, offered in said.items() if not offered and profile not in spec.not_offered)
    return *spec.not_offered, *more


@dataclasses.dataclass(frozen=True, slots=True)
class Lack:
    """Something that a case needs and the target does not offer: ``reason`` keeps the case from being put to it.

    ``remedy`` says what to change in the target file if the target serves such cases nevertheless.
    """

    name: str
    reason: str
    remedy: str = ""

    def remark(self, cases: Sequence[str]) -> str:
        """The remark that the target passes all ``cases``, which lack nothing else.

        One case is not taken for the whole of what the lack names.
        """
        tried = len(cases)
        passed = f"the 1 case of it that was tried, {cases[0]}" if tried == 1 else f"all {tried} cases of it"
        return f"{self.reason}, but passes {passed}: {self.remedy} to judge it"


@dataclasses.dataclass(frozen=True, slots=True)
class Offer:
    """The capabilities that a target declares, the profiles that it does not offer, and the protocols that it speaks.

    A serializer takes no ``requests``: only cases that read a whole table can be put to it. A Flight server that does
    not say that it ``stores`` tables is sent none, one that does not say that it ``echoes`` is sent no exchange, and
    without a ``clock`` no time passes.
    ``sql`` says that it speaks Flight SQL, ``makes_tables`` that it may be asked for tables by statements.

    >>> from conformance.records import SplitStream, Table
    >>> case = Case("a.b", "A split", Table((), rows=()), steps=(SplitStream(),))
    >>> [lack.reason for lack in Offer(not_offered=("splits",)).lacks(case)]
    ['the target does not offer splits']
    """

    capabilities: Collection[str] = ()
    not_offered: Collection[str] = ()
    spoken: Sequence[ProtocolName] = SPOKEN
    requests: bool = True
    stores: bool = True
    sql: bool = True
    makes_tables: bool = True
    echoes: bool = True
    clock: bool = True

    @classmethod
    def of(cls, spec: TargetSpec, capabilities: Collection[str] = (), *, requests: bool = True) -> Offer:
        """What the target of a file offers; a program declares its ``capabilities`` itself."""
        if spec.kind is not TargetKind.FLIGHT:
            return cls(capabilities, spec.not_offered, requests=requests)
        flight = spec.flight or FlightSpec()
        return cls(
            capabilities,
            spec.not_offered,
            spoken=(ProtocolName.FLIGHT,),
            stores=flight.puts,
            echoes=bool(flight.echo),
            clock=spec.clock is not None,
            sql=flight.sql is not None,
            makes_tables=flight.makes_tables,
        )

    def lacks(self, case: Case) -> tuple[Lack, ...]:
        """Everything that keeps the case from being put to the target."""
        return tuple(self._lacks(case))

    def _lacks(self, case: Case) -> Iterator[Lack]:
        if case.protocol not in self.spoken:
            spoken = " and ".join(self.spoken)
            yield Lack(case.protocol, f"this case speaks {case.protocol}; the target {spoken}")
        elif not self.requests and place_of(case) is None:
            yield Lack("requests", NO_PLACE)
        else:
            yield from itertools.islice(self._lacks_of_flight(case), 1)
        for need in sorted(set(case.needs).difference(self.capabilities)):
            yield Lack(need, f"the target does not declare {need}", "add it to the target's capabilities")
        for profile in asked(case):
            if profile in self.not_offered:
                yield Lack(profile, f"the target does not offer {profile}", "remove it from not_offered")
        for kind in sorted(types_in(case.table.columns).intersection(self.not_offered)):
            yield Lack(kind, f"the target does not offer columns of type {kind}", "remove it from not_offered")

    def _lacks_of_flight(self, case: Case) -> Iterator[Lack]:
        """The lacks of a Flight server, the gravest first."""
        for offered, steps, lack in (
            (self.stores, DoPut, Lack("seeding", NOTHING_PUT)),
            (self.sql, FlightSqlStep, Lack("sql", NO_SQL)),
            (self.makes_tables, SqlUpdate | SqlIngest, Lack("tables", NO_TABLES)),
            (self.echoes, DoExchange, Lack("echo", NO_ECHO)),
            (self.clock, Meanwhile, Lack("clock", NO_CLOCK)),
        ):
            if not offered and any(isinstance(step, steps) for step in case.steps):
                yield lack
