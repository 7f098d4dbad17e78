"""``conformance run`` and its relatives on servers of Arrow Flight RPC, as a user types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.protocols.flight.reference.deviations import FLIGHT_NAMES, flight_service
from conformance.protocols.flight.reference.mutants import FLIGHT_MUTANTS
from conformance.protocols.flight.reference.server import FlightServer
from tests.cli.typed import conformance_
from tests.fixtures import ROOT

REFERENCE = "flight-reference"
RUNNING = 'name = "running"\nkind = "flight"\n[endpoint]\ngrpc = "{endpoint}"\n'


@pytest.fixture(autouse=True)
def _user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's directory, which holds the logs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CONFORMANCE_CACHE", str(tmp_path / "cache"))


def running(name: str | None = None, more: str = "") -> tuple[FlightServer, str]:
    """A server of this process, and the target file for it."""
    server = FlightServer(flight_service(name)())
    Path("running.toml").write_text(RUNNING.format(endpoint=server.endpoint) + more)
    return server, "running.toml"


def test_the_reference_is_started_and_passes() -> None:
    """Every clause that the cases name is judged and held."""
    result = conformance_("run", "--target", REFERENCE, "--select", "flight.put-and-get", "--json", "report.json")

    assert result.exit_code == 0, result.output
    assert "nothing unexpected" in result.output
    report = json.loads(Path("report.json").read_text())
    held = {clause["id"] for clause in report["clauses"] if clause["standing"] == "held"}
    assert held >= {"flight-put.nothing-is-lost", "flight-data.is-an-arrow-stream", "flight-info.total-records"}


def test_without_seeding_nothing_is_written() -> None:
    """The cases that store a table are named, with the line of the file that would put them."""
    server, target = running()
    with server:
        result = conformance_(
            "run", "--target", target, "--select", "flight.put-and-get", "--select", "flight.list", "--all"
        )

    assert result.exit_code == 0, result.output
    assert server.service.store.every() == []
    assert 'the target file does not say [flight] seeding = "put"' in " ".join(result.output.split())


def test_a_loss_is_found_replayed_and_judged_again() -> None:
    """The finding names the rows; the log shows the same without the server."""
    server, target = running("flight-put.last-row-lost", '[flight]\nseeding = "put"\n')
    with server:
        found = conformance_(
            "run", "--target", target, "--select", "flight.put-and-get", "--exchanges", "--level", "must"
        )
        again = conformance_("replay", "flight.put-and-get", "--target", target)
    judged = conformance_("judge", ".conformance/running.jsonl")

    assert found.exit_code == again.exit_code == judged.exit_code == 1
    assert "flight-put.nothing-is-lost" in found.output
    assert "rows missing, the first {" in found.output
    assert "flight-put.nothing-is-lost" in again.output
    assert "the suite itself broke" not in again.output
    assert "flight-put.nothing-is-lost" in judged.output
    assert "the suite itself broke" not in judged.output


def test_a_statement_on_known_flights_is_valid() -> None:
    """Their cases are those of the target file: the log has them, and the suite has not."""
    known = '[flight]\nseeding = "known"\n[flight.sql]\n[[flight.known]]\nname = "one"\nrows = "rows.jsonl"\n'
    server, target = running(None, known + 'sql = "SELECT 7 AS n"\n')
    Path("rows.jsonl").write_text('{"n": 7}\n')
    chosen = ("--select", "flight-known.*", "--select", "flight.list", "--json", "report.json")
    with server:
        run = conformance_("run", "--target", target, *chosen)
        written = conformance_("statement", "report.json", "--markdown", "statement.md")
        valid = conformance_("verify", "statement.md", "--rerun", "--target", target)

    assert run.exit_code == 0, run.output
    assert written.exit_code == 0, written.output
    assert valid.output.startswith("valid: running"), valid.output


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--select", "types.int64"), "types.int64"),
    ],
)
def test_what_a_flight_server_cannot_be_asked_is_refused(options: tuple[str, ...], sentence: str) -> None:
    """In one sentence, before anything is started."""
    result = conformance_("run", "--target", REFERENCE, *options)

    assert result.exit_code == 2
    assert sentence in result.output


def test_histories_are_drawn_for_a_server_that_stores_tables() -> None:
    """As many as the user asks for, by their ids; one that is sent nothing cannot have any."""
    with FlightServer() as server:
        head = f'name = "running"\nkind = "flight"\n[endpoint]\ngrpc = "{server.endpoint}"\n'
        Path("none.toml").write_text(head)
        Path("put.toml").write_text(f'{head}[flight]\nseeding = "put"\n')
        options = ("--select", "flight.put-and-get", "--scenarios", "2", "--seed", "4", "--json", "report.json")
        refused = conformance_("run", "--target", "none.toml", *options)
        run = conformance_("run", "--target", "put.toml", *options)
        replayed = conformance_("replay", "flight-history.s4.i1", "--target", "put.toml")

    assert refused.exit_code == 2
    assert "expected --scenarios with a server that stores tables, got it with running" in refused.output
    assert run.exit_code == 0, run.output
    assert "2 scenarios" in run.output
    assert replayed.exit_code == 0, replayed.output


def test_a_clause_on_flight_is_explained() -> None:
    """With the party that it binds, and the command that judges it."""
    result = conformance_("explain", "flight-data.header-without-prefix")

    assert result.exit_code == 0
    assert "binds     the library of a Flight server" in result.output
    assert "conformance run --target FILE --clause flight-data.header-without-prefix" in result.output


@pytest.mark.slow(env="studies")
def test_a_clause_on_flight_is_proven_alone(tmp_path: Path) -> None:
    """By its mutants, over gRPC; the reference and the legal variations raise no alarm."""
    command = ["prove", "--clause", "flight-poll.ended-has-an-info", "--workers", "1", "--json", "proof.json"]
    corpus = tmp_path / "cases"
    (corpus / "flight").mkdir(parents=True)
    (corpus / "flight" / "poll.yaml").write_text((ROOT / "cases" / "flight" / "poll.yaml").read_text())

    result = conformance_(*command, "--corpus", str(corpus))

    assert result.exit_code == 0, result.output
    assert "1 of 1 mutant killed, 0 over-broad" in result.output
    proof = json.loads(Path("proof.json").read_text())
    assert list(proof["mutants"]) == ["flight-poll.ended-without-info"]


class TestServe:
    """``conformance serve --flight``."""

    def test_it_lists_its_mutants_and_legal_variations(self) -> None:
        """Without it, the mutants of every protocol are listed, its own in one piece."""
        own = conformance_("serve", "--flight", "--mutants").output.split()
        every = conformance_("serve", "--mutants").output.split()

        assert own == list(FLIGHT_NAMES)
        start = every.index(next(iter(FLIGHT_MUTANTS)))
        assert every[start : start + len(FLIGHT_MUTANTS)] == list(FLIGHT_MUTANTS)

    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            (
                ("--flight", "--mutant", "flight-put.forget"),
                "no mutant is called 'flight-put.forget'; did you mean flight-",
            ),
            (
                ("--mutant", "flight-put.forgets"),
                "expected --flight with flight-put.forgets, which the reference of Arrow Flight",
            ),
            (
                ("--flight", "--job-polls", "1"),
                "expected no --job-polls with --flight: its reference does not have that",
            ),
            (("--flight", "--host", "192.0.2.1"), "cannot serve: cannot bind a gRPC port on 192.0.2.1"),
        ],
    )
    def test_what_it_cannot_serve_is_refused(self, options: tuple[str, ...], sentence: str) -> None:
        """In one sentence."""
        result = conformance_("serve", *options)

        assert result.exit_code == 2
        assert sentence in result.output


def test_generated_cases_of_flight_are_run_and_replayed() -> None:
    """On a server that loses rows; the id of a case is enough to put it again."""
    server, target = running("flight-put.last-row-lost", '[flight]\nseeding = "put"\n')
    with server:
        found = conformance_("run", "--target", target, "--select", "flight.list", "--cases", "4", "--no-shrink")
        again = conformance_("replay", "generated.flight.s0.i1", "--target", target)

    assert found.exit_code == again.exit_code == 1
    assert "flight-put.nothing-is-lost" in found.output
    assert "flight-put.nothing-is-lost" in again.output
