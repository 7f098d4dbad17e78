"""Arrow Flight in the engine: what its servers offer, the flights that a target file describes, recorded calls."""

import functools
from types import MappingProxyType
from typing import Final

from conformance.engine.plugin import EnginePlugin, Recordings
from conformance.protocols.flight.contract.scenarios import FLIGHT_SCENARIOS
from conformance.protocols.flight.engine import offers, recordings
from conformance.protocols.flight.engine.described import described_alone, known_cases, played, with_scenario
from conformance.protocols.flight.engine.transcript import FlightTranscript
from conformance.protocols.flight.wire.messages import METHODS

PLUGIN: Final = EnginePlugin(
    recordings=Recordings(recordings.groups, recordings.driven, recordings.CLAUSES, frozenset(METHODS)),
    left_out=offers.left_out,
    not_drawn=offers.not_drawn,
    untold=offers.untold,
    described=known_cases,
    described_alone=described_alone,
    playing=played,
    scenarios=MappingProxyType({name: functools.partial(with_scenario, name=name) for name in FLIGHT_SCENARIOS}),
    messages=FlightTranscript,
    has_known_rows=False,
    nothing_put="put",
    draws_cases=False,
    no_scenarios=offers.no_scenarios,
)
