"""Flight SQL behind the proxy: what of prepared queries, counts and features a recording shows."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from conformance.engine.corpus import load_corpus
from conformance.engine.events import ExchangeRecorded
from conformance.engine.log import read_log
from conformance.generate import materialise
from conformance.protocols.flight.reference.deviations import flight_service
from conformance.protocols.flight.reference.server import FlightServer
from conformance.protocols.flight.reference.sql.service import SqlFlightService
from conformance.protocols.flight.reference.variations import FLIGHT_VARIATIONS
from conformance.protocols.flight.table.dialect import SqlSpec
from conformance.protocols.flight.table.spec import FlightSeeding, FlightSpec
from conformance.records import Outcome
from conformance.targets import open_target
from conformance.targets.endpoint import Endpoint
from conformance.targets.spec import TargetSpec
from tests.protocols.flight.recording.test_parties import verdicts
from tests.recording.running import recording

CASES: Final = [
    one
    for one in load_corpus(protocol="flight").values()
    if one.id in ("flight-sql.features", "flight-sql.prepared-query", "flight-sql.ingest")
]
NEW: Final = {
    "flight-sql.executes-nothing": "flight-sql.handle-is-served",
    "flight-sql.ingestion-uncounted": "flight-sql.update-counts",
    "flight-sql-features.says-transactions": "flight-sql-features.supported-is-served",
    "flight-sql-features.read-only": "flight-sql-features.served-is-supported",
}
"""Mutants, each with the clause that it was made for."""
LEGAL: Final = [name for name, one in FLIGHT_VARIATIONS.items() if issubclass(one.service, SqlFlightService)]


def recorded(log: Path, deviation: str | None) -> list[ExchangeRecorded]:
    """What a proxy writes of the cases, put to the reference or to a deviation of it."""
    service = SqlFlightService() if deviation is None else flight_service(deviation)()
    spoken = FlightSpec(FlightSeeding.PUT, sql=SqlSpec())
    with FlightServer(service) as server, recording(server.endpoint, log) as (proxy, _):
        spec = TargetSpec("proxied", "flight", endpoint=Endpoint(grpc=proxy.grpc), own=spoken)
        with open_target(spec, alone=True) as target:
            for case in CASES:
                target.drive(case, materialise(case.table))
    return [event for event in read_log(log) if isinstance(event, ExchangeRecorded)]


def test_the_reference_passes_every_clause(tmp_path: Path) -> None:
    """Each of them is judged."""
    found = list(verdicts(recorded(tmp_path / "said.log", None)))

    assert [one.clause for one in found if one.outcome is not Outcome.PASS] == []
    assert {one.clause for one in found} >= set(NEW.values())


@pytest.mark.parametrize("name", LEGAL)
def test_a_legal_server_is_not_accused(tmp_path: Path, name: str) -> None:
    """Whatever it serves and counts."""
    found = verdicts(recorded(tmp_path / "said.log", name))

    assert [(one.clause, one.findings) for one in found if one.outcome is not Outcome.PASS] == []


@pytest.mark.parametrize("name", NEW)
def test_a_wrong_server_is_found(tmp_path: Path, name: str) -> None:
    """In the log of a proxy."""
    failed = {one.clause for one in verdicts(recorded(tmp_path / "said.log", name)) if one.outcome is Outcome.FAIL}

    assert failed == {NEW[name]}
