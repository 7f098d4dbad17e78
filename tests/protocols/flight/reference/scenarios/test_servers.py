"""The suite is the client of each scenario of Arrow's integration tests, before a server of Arrow's own libraries."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.contract.judge import judge_view
from conformance.contract.viewing import view_of
from conformance.generate import materialise
from conformance.protocols.flight.contract.scenarios import FLIGHT_SCENARIOS
from conformance.protocols.flight.engine.described import with_scenario
from conformance.records import Level, Outcome
from conformance.targets import TargetSpec, load_target, open_target, prepare
from conformance.targets.installing import missing_clients
from tests.protocols.flight.reference.direct import FIXTURE
from tests.studies import sample

pytestmark = pytest.mark.timeout(900)

HERE = Path(__file__).parent / "servers"
OF_GO = tuple(name for name in FLIGHT_SCENARIOS if name != "do_exchange:echo")
"""Every scenario but the one that Arrow Go does not know."""
OF_PYARROW = (
    "", "auth:basic_proto", "middleware", "ordered", "expiration_time:do_get", "expiration_time:list_actions",
    "expiration_time:cancel_flight_info", "expiration_time:renew_flight_endpoint", "do_exchange:echo",
    "location:reuse_connection", "app_metadata_flight_info_endpoint",
)  # fmt: skip
"""Those that can be written on pyarrow.flight."""
QUICK = ("base", "auth:basic_proto", "expiration_time:cancel_flight_info", "do_exchange:echo")
"""Those of them in the quick set: reading, a login, an action and an exchange; each starts two processes."""
KNOWN = {
    "app_metadata_flight_info_endpoint": {"flight-info.endpoints-have-tickets"},
    "flight_sql": {"flight-info.schema-is-that-of-the-stream", "flight-info.get-schema-agrees"},
}
"""The other clauses at level MUST that Arrow Go 18.8.0 fails in a scenario: docs/flight-scenarios.md has the bytes."""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the server is installed, once for the tests of this module."""
    return tmp_path_factory.mktemp("servers")


def judged(spec: TargetSpec, name: str) -> tuple[Outcome, set[str]]:
    """The verdict of the scenario, and every clause at level MUST that fails."""
    case = FLIGHT_SCENARIOS[name].case
    table = materialise(case.table)
    with open_target(with_scenario(spec, name)) as target:
        view = view_of(case, target.drive(case, table), table)
    outcomes = {verdict.clause: verdict.outcome for verdict in judge_view(view, FIXTURE.clauses)}
    binding = {clause.id for clause in FIXTURE.clauses if clause.level is Level.MUST}
    failing = {one for one, outcome in outcomes.items() if outcome is Outcome.FAIL and one in binding}
    return outcomes["flight-scenario.answers-as-expected"], failing


@pytest.mark.slow(env="flight")
@pytest.mark.parametrize("name", OF_GO, ids=lambda name: name or "base")
def test_the_server_of_arrow_go_passes(name: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It answers as its own client expects; in two scenarios the bytes contradict themselves nevertheless."""
    monkeypatch.setenv("CONFORMANCE_CACHE", str(cache))
    spec = load_target(str(HERE / "go.toml"))
    assert spec.environment is not None
    missing = missing_clients(spec.environment)
    if missing:
        pytest.skip(f"not here: {', '.join(missing)}")
    prepare(spec, say=lambda _: None)

    assert judged(spec, name) == (Outcome.PASS, KNOWN.get(name, set()))


@pytest.mark.parametrize("name", sample(OF_PYARROW, QUICK, env="thorough", name=lambda name: name or "base"))
def test_a_server_on_pyarrow_passes(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In every scenario that its library lets one write."""
    monkeypatch.setenv("CONFORMANCE_CACHE", str(tmp_path))

    assert judged(load_target(str(HERE / "pyarrow.toml")), name) == (Outcome.PASS, set())
