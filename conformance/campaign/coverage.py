"""The coverage cells of a case, and all cells that can be covered: types by mode and depth, and pairs of options.

A cell is a short text: ``type:STRING/REPEATED/2`` (depth counts the records around a column),
``pair:values=boundary/nulls=all`` (two options of one case), ``with:NUMERIC/nulls=all`` (a type under an option).
The universe is derived from the profile from which cases are drawn, so a cell that is never reached shows a gap of
the campaign, not of this table.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from conformance.campaign.job import MUTATED
from conformance.generate.combinations import meetings, permitted
from conformance.generate.drawing import PROFILES
from conformance.generate.flighthistories import FACTORS, HISTORY, features, is_drawn_history
from conformance.generate.flightsteps import SPELLINGS
from conformance.generate.scenarios import SCENARIO, is_scenario
from conformance.records import (
    BqType,
    Case,
    Column,
    CreateSession,
    DoExchange,
    DoGet,
    DoPut,
    FlightWriting,
    Mode,
    Naming,
    NullPattern,
    PollFlightInfo,
    ProtocolName,
    ReadRows,
    SplitStream,
    ValueProfile,
)

__all__ = ["covers", "universe"]

_ROWS: Final = ("0", "1", "2-9", "10-63", "64-65", "66-129", "130+")
_LIMITS: Final = (1, 2, 10, 64, 66, 130)


def covers(case: Case) -> list[str]:
    """The cells that a case covers, sorted; of a scenario, the pairs of features that meet in one of its sessions, and
    of a history of Flight those that meet in its first flight.
    """
    if is_scenario(case):
        met = (itertools.combinations(meeting, 2) for meeting in meetings(case))
        return sorted({_pair(*pair) for pairs in met for pair in pairs} & universe(SCENARIO))
    if is_drawn_history(case):
        return sorted(_pair(*pair) for pair in itertools.combinations(features(case), 2))
    columns, options = list(_columns(case.table.columns, 0)), _options(case)
    cells = {f"type:{column.type}/{column.mode}/{depth}" for column, depth in columns}
    cells |= {_pair(one, other) for one, other in itertools.combinations(options, 2)}
    cells |= {f"with:{kind}/{option}" for kind in {column.type for column, _ in columns} for option in options}
    return sorted(cells)


def _columns(columns: Sequence[Column], depth: int) -> Iterator[tuple[Column, int]]:
    for column in columns:
        yield column, depth
        yield from _columns(column.fields, depth + 1)


def _options(case: Case) -> list[str]:
    recipe = case.table.recipe
    options = []
    if recipe is not None:
        size = sum(recipe.rows >= limit for limit in _LIMITS)
        options = [f"values={recipe.values}", f"nulls={recipe.nulls}", f"rows={_ROWS[size]}"]
    options += _of_flight(case)
    session = next((step for step in case.steps if isinstance(step, CreateSession)), None)
    if session is not None and session != CreateSession():
        options.append(f"codec={session.buffer_compression or 'none'}")
        options.append(f"streams={session.max_stream_count}")
        options.append(f"fields={'some' if session.selected_fields else 'all'}")
        options.append(f"restriction={'some' if session.row_restriction else 'none'}")
        options.append(f"then={_then(case)}")
    return options


def _of_flight(case: Case) -> list[str]:
    """How the rows of a DoPut are written, in which form its messages are, and how its flight is asked for and read."""
    put = next((step for step in case.steps if isinstance(step, DoPut)), None)
    if put is None:
        return ["asked=exchange"] if any(isinstance(step, DoExchange) for step in case.steps) else []
    asked = "poll" if any(isinstance(step, PollFlightInfo) for step in case.steps) else "info"
    gets = [step for step in case.steps if isinstance(step, DoGet)]
    then = "abandon" if any(get.take is not None for get in gets) else "again" if len(gets) > 1 else "nothing"
    return [f"written={put.written}", f"spelled={put.spelled}", f"named={put.named}", f"get={then}", f"asked={asked}"]


def _then(case: Case) -> str:
    """The steps of the case in addition to reading one full stream, as one word."""
    more = case.steps[2:]
    if any(isinstance(step, SplitStream) for step in more):
        return "split"
    reads = [step for step in case.steps if isinstance(step, ReadRows)]
    if any(read.take is not None for read in reads):
        return "abandon"
    if any(read.times > 1 for read in reads):
        return "again"
    if any(read.offset != "0" for read in reads):
        return "offset"
    return "nothing"


@functools.cache
def universe(profile: str) -> frozenset[str]:
    """Every cell that cases of a profile can cover."""
    if profile == MUTATED:
        from conformance.campaign.inputs import cells_of_inputs  # noqa: PLC0415  # builds all samples

        return cells_of_inputs()
    if profile == SCENARIO:
        return frozenset(_pair(*pair) for pair in permitted(2))
    if profile == HISTORY:
        features_of = ([f"{name}={value}" for value in values] for name, values in FACTORS.items())
        return frozenset(
            _pair(*pair)
            for one, other in itertools.combinations(features_of, 2)
            for pair in itertools.product(one, other)
        )
    made = PROFILES[profile]
    types = (*dict.fromkeys(made.types), BqType.RECORD)
    cells = {
        f"type:{kind}/{mode}/{depth}"
        for kind in types
        for mode in Mode
        for depth in range(made.depth + (kind is not BqType.RECORD))
    }
    options: dict[str, tuple[str, ...]] = {
        "values": tuple(ValueProfile),
        "nulls": tuple(NullPattern),
        "rows": tuple(dict.fromkeys(_ROWS[sum(rows >= limit for limit in _LIMITS)] for rows in made.rows)),
    }
    if made.requests:
        options |= _FLIGHTS if made.protocol is ProtocolName.FLIGHT else _REQUESTS
    for (name, values), (other, others) in itertools.combinations(options.items(), 2):
        cells |= {_pair(f"{name}={value}", f"{other}={more}") for value in values for more in others}
    cells |= {f"with:{kind}/{name}={value}" for kind in types for name, values in options.items() for value in values}
    return frozenset(cells) - _impossible(made.rows) - _NOT_PUT


def _pair(one: str, other: str) -> str:
    return f"pair:{one}/{other}"


_REQUESTS: Final[Mapping[str, tuple[str, ...]]] = {
    "codec": ("none", "LZ4_FRAME", "ZSTD"),
    "streams": ("0", "1", "2", "5"),
    "fields": ("all", "some"),
    "restriction": ("none", "some"),
    "then": ("nothing", "offset", "again", "abandon", "split"),
}


_PUT: Final[Mapping[str, tuple[str, ...]]] = {
    "written": tuple(FlightWriting),
    "spelled": SPELLINGS,
    "named": (Naming.FIRST, Naming.EVERY),
    "get": ("nothing", "again", "abandon"),
}
_FLIGHTS: Final[Mapping[str, tuple[str, ...]]] = {**_PUT, "asked": ("info", "poll", "exchange")}
_NOT_PUT: Final = frozenset(
    _pair(f"{name}={value}", "asked=exchange") for name, values in _PUT.items() for value in values
)
"""Cells that no case covers, because an exchange puts nothing."""


def _impossible(rows: Sequence[int]) -> frozenset[str]:
    """Cells that drawing excludes: WIDE values are not drawn for large tables."""
    large = {_ROWS[sum(count >= limit for limit in _LIMITS)] for count in rows if count > _LIMITS[-1] - 1}
    return frozenset(f"pair:values={ValueProfile.WIDE}/rows={size}" for size in large)
