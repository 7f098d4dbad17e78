"""What a Flight server offers by its target file, and so which cases can be put to it."""

from __future__ import annotations

from typing import Final

from conformance.engine.lack import Lack, Untold
from conformance.protocols.flight.generate.histories import CLOCK, ECHO
from conformance.protocols.flight.records import DoExchange, DoPut, FlightSqlStep, SqlIngest, SqlUpdate
from conformance.protocols.flight.table.spec import FlightSpec
from conformance.records import Meanwhile
from conformance.targets.spec import TargetSpec

__all__ = ["left_out", "no_scenarios", "not_drawn", "untold"]

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


def no_scenarios(spec: TargetSpec) -> str:
    """Why a server cannot be asked histories: its tables are not those that the suite puts."""
    flight = FlightSpec.of(spec)
    return "" if flight.puts and flight.scenario is None else 'whose target file does not say [flight] seeding = "put"'


def not_drawn(spec: TargetSpec) -> tuple[str, ...]:
    """What the histories for a target leave out."""
    lacks = {ECHO: not FlightSpec.of(spec).echo, CLOCK: spec.clock is None}
    return *spec.not_offered, *(name for name, lacking in lacks.items() if lacking)


def left_out(spec: TargetSpec) -> tuple[str, ...]:
    """The profiles that a target file leaves out: by its list, or as ``[flight]`` does not say how to ask for them."""
    flight = FlightSpec.of(spec)
    told = {
        "put": flight.puts,
        "exchange": bool(flight.echo),
        "login": flight.login is not None,
        **dict.fromkeys(("sql", "sql-metadata", "sql-handles"), flight.sql is not None),
        "sql-ingestion": flight.makes_tables,
    }
    more = (profile for profile, offered in told.items() if not offered and profile not in spec.not_offered)
    return *spec.not_offered, *more


def untold(spec: TargetSpec) -> tuple[Untold, ...]:
    """What the target file does not tell, the gravest first: a server that does not say that it stores tables is sent
    none, one that does not say that it echoes is sent no exchange, and without a clock no time passes.
    """
    flight = FlightSpec.of(spec)
    every = (
        (flight.puts, DoPut, Lack("seeding", NOTHING_PUT)),
        (flight.sql is not None, FlightSqlStep, Lack("sql", NO_SQL)),
        (flight.makes_tables, SqlUpdate | SqlIngest, Lack("tables", NO_TABLES)),
        (bool(flight.echo), DoExchange, Lack("echo", NO_ECHO)),
        (spec.clock is not None, Meanwhile, Lack("clock", NO_CLOCK)),
    )
    return tuple(Untold(steps, lack) for told, steps, lack in every if not told)
