"""Campaigns on servers of Arrow Flight: what a step keeps of a case, and small campaigns on Spark."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from conformance.campaign.campaignjob import CampaignJob
from conformance.campaign.coverage import universe
from conformance.campaign.done import Done
from conformance.campaign.phases import Stepper
from conformance.campaign.results import load_results
from conformance.campaign.runfolders import Stage
from conformance.campaign.runs import find_run
from conformance.campaign.sandbox import done_frame, frame_done
from conformance.cli.campaign import register_for
from conformance.contain.channel import ChannelMessage
from conformance.engine.owed import reference_target
from conformance.engine.selection import of_protocol
from conformance.generate import load_case
from conformance.protocols.flight.generate.histories import HISTORY
from conformance.protocols.flight.reference.deviations import flight_service
from conformance.protocols.flight.reference.server import FlightServer
from conformance.protocols.flight.table.spec import FlightSeeding, FlightSpec
from conformance.readers.decoders import arro3_stream
from conformance.targets import load_target
from tests.campaign.jobs import found
from tests.campaign.spark import command, run
from tests.cli.typed import conformance_

CLAUSES = tuple(one.id for one in of_protocol("flight"))
CASES = 32
FLIGHT = '[flight]\nseeding = "put"\necho = "echo"\n'


READERS = ("pyarrow.slots", "arro3.stream")
READ = tuple(name for name, one in register_for(READERS, "flight").items() if "flight" in one.profiles)
"""The clauses on servers of Flight, and those on readers."""


def job(**others: Any) -> CampaignJob:
    """A job of drawn cases for the reference, which keeps every exchange."""
    spec = load_target("flight-reference")
    made = CampaignJob(spec, CASES, 3, profile="flight", clauses=CLAUSES, readers=(), sample=1_000_000)
    return dataclasses.replace(made, **others)


def done(mutant: str | None = None, of: CampaignJob | None = None) -> list[Done]:
    """The rows of the cases on the reference in this process, or on a mutant of it."""
    with reference_target("flight", mutant=mutant) as target:
        stepper = Stepper(of or job(), target, weights=None, mark=lambda *_: None)
        ended: dict[int, dict[str, Any]] = {index: {} for index in range(CASES)}
        return [*stepper.steps(range(16), ended=ended), *stepper.steps(range(16, CASES), ended=ended)]


@pytest.fixture(scope="module")
def passed() -> list[Done]:
    """What the reference comes to."""
    return done()


def test_the_reference_passes_and_its_rows_come_back(passed: list[Done]) -> None:
    """Every stream has the rows of the case, and a digest of its bytes; an exchange of nothing has no stream."""
    streams = [one for one in passed if one.judge["bytes_digest"] is not None]

    assert {one.judge["outcome"] for one in passed} == {"pass"}
    assert {one.judge["values_digest"] for one in streams} == {0}
    assert all(one.plan["rows"] == 0 for one in passed if one not in streams)
    assert len(streams) > CASES - 4


def test_a_second_run_has_the_same_digests(passed: list[Done]) -> None:
    """Only what a server sends is in them, and nothing of its names."""
    assert digests(done()) == digests(passed)


def test_a_loss_is_found_and_changes_the_values() -> None:
    """By the clause that a run finds it by."""
    lost = done("flight-put.last-row-lost")

    failing = [one for one in lost if one.judge["outcome"] == "fail"]
    assert failing
    assert "flight-put.nothing-is-lost" in {row["clause"] for one in failing for row in one.verdicts}
    assert all(one.judge["values_digest"] not in (0, None) for one in failing)


def test_calls_with_many_requests_pass_between_processes(passed: list[Done]) -> None:
    """A DoPut has more than one message, and a call may have initial metadata."""
    some = [one for one in passed if one.exchange is not None]
    assert any(call["more_requests"] for one in some for call in (one.exchange or {})["calls"])

    header, blobs = done_frame(some)

    assert frame_done(ChannelMessage(header, blobs)) == some


def test_a_server_that_stores_nothing_is_not_asked() -> None:
    """The cases are unsupported, as in a run."""
    spec = dataclasses.replace(load_target("flight-reference"), own=FlightSpec())

    assert {one.judge["outcome"] for one in done(of=job(spec=spec))} == {"unsupported"}


class TestHistories:
    """Histories that are drawn against the model."""

    def test_the_reference_passes_with_every_pair_and_the_same_digests_again(self) -> None:
        """What depends on the order of calls at the same time is in no digest."""
        made, again = done(of=job(profile=HISTORY)), done(of=job(profile=HISTORY))

        assert {one.judge["outcome"] for one in made} == {"pass"}
        assert {cell for one in made for cell in one.plan["covers"]} == universe(HISTORY)
        digests = [
            [(one.judge["bytes_digest"], one.judge["values_digest"]) for one in several] for several in (made, again)
        ]
        assert digests[0] == digests[1]
        assert all(digest is not None for digest, _ in digests[0])

    def test_a_server_that_mixes_clients_is_found(self) -> None:
        """By a clause that no other case is judged by."""
        found = done("flight-history.cancel-is-for-all", job(profile=HISTORY))

        failed = {row["clause"] for one in found for row in one.verdicts if row["outcome"] == "fail"}
        assert failed == {"flight-history.cancel-leaves-others"}

    def test_a_server_without_an_exchange_gets_histories_without_one(self) -> None:
        """Each of them can be put to it."""
        spec = load_target("flight-reference")
        silent = dataclasses.replace(spec, own=FlightSpec(seeding=FlightSeeding.PUT))

        made = done(of=job(profile=HISTORY, spec=silent))

        assert {one.judge["outcome"] for one in made} == {"pass"}
        assert not any("meanwhile=exchange" in cell for one in made for cell in one.plan["covers"])


class TestReaders:
    """Decoders read the streams that DoGet and DoExchange gave."""

    def test_each_decoder_reads_the_streams(self) -> None:
        """They find the rows; a stream with dictionaries is given to none."""
        made = done(of=job(readers=READERS, clauses=READ))

        assert {one.judge["outcome"] for one in made} == {"pass"}
        assert {one.judge["read"] for one in made} == {0b00, 0b11}
        assert sum(one.judge["read"] == 0b11 for one in made) > CASES / 2

    def test_a_decoder_that_loses_rows_is_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """At the call whose stream it read."""
        whole = arro3_stream.load()
        monkeypatch.setattr(arro3_stream, "load", lambda: lambda read: whole(read).slice(1))

        made = done(of=job(readers=READERS, clauses=READ))

        found = [row for one in made for row in one.verdicts if row["outcome"] == "fail"]
        assert {row["clause"] for row in found} == {"readers.find-the-values", "readers.agree"}
        assert all(finding["call"] is not None for row in found for finding in row["findings"])

    @pytest.mark.parametrize("readers", [(), READERS])
    def test_clauses_on_readers_are_judged_with_readers_alone(self, readers: tuple[str, ...]) -> None:
        """Without a decoder there is nothing to judge."""
        judged = [name for name, one in register_for(readers, "flight").items() if "flight" in one.profiles]

        assert any(name.startswith("readers.") for name in judged) is bool(readers)


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Path]:
    """The target file of a server that loses rows, which runs already."""
    with FlightServer(flight_service("flight-put.last-row-lost")()) as server:
        path = tmp_path / "losing.toml"
        path.write_text(f'name = "losing"\nkind = "flight"\n[endpoint]\ngrpc = "{server.endpoint}"\n{FLIGHT}')
        yield path


@pytest.mark.slow(env="campaign")
@pytest.mark.timeout(900)
class TestSpark:
    """Small campaigns, as a user types them."""

    def test_the_reference_is_started_by_each_task(self, tmp_path: Path) -> None:
        """It passes, with rows in Parquet as any campaign has them; judging again and comparing change nothing."""
        pytest.importorskip("pyspark", reason="a campaign needs the extra spark")
        arguments = ("flight-reference", tmp_path / "one", "--cases", "26", "--keep", "1000000")
        run(command(*arguments), status=0)
        run(command("flight-reference", tmp_path / "two", "--cases", "26"), status=0)

        layout, kept = find_run(str(tmp_path / "one"))
        rows = found(layout)[Stage.JUDGE]
        assert [row["outcome"] for row in rows] == ["pass"] * 26
        assert {row["values_digest"] for row in rows} <= {0, None}
        assert kept.profile == "flight"
        assert set(kept.clauses) == set(READ)
        again = typed("judge", str(tmp_path / "one"))
        assert "26 stored exchanges" in again.stdout
        assert "changed" not in again.stdout
        compared = typed("compare", str(tmp_path / "one"), str(tmp_path / "two"))
        assert "26 cases in both" in compared.stdout

    def test_a_server_at_an_endpoint_that_loses_rows_is_found(self, tmp_path: Path, running: Path) -> None:
        """By tasks that share it, and the first failing case is shrunk."""
        pytest.importorskip("pyspark", reason="a campaign needs the extra spark")
        arguments = command(running, tmp_path / "out", "--cases", "26", "--concurrency", "2")
        arguments.remove("--no-shrink")
        run(arguments, status=1)

        layout, _ = find_run(str(tmp_path / "out"))
        failures = {failure.clause: failure for failure in load_results(layout).failures}
        assert "flight-put.nothing-is-lost" in failures
        assert failures["flight-put.nothing-is-lost"].file
        assert typed("judge", str(tmp_path / "out"), status=1).stdout.count("flight-put.nothing-is-lost") == 1

    def test_drawn_histories_find_a_server_that_mixes_clients(self, tmp_path: Path) -> None:
        """With the same results in each campaign of the seed; the history is shrunk to the calls that it needs."""
        pytest.importorskip("pyspark", reason="a campaign needs the extra spark")
        with FlightServer(flight_service("flight-history.cancel-is-for-all")()) as server:
            path = tmp_path / "mixing.toml"
            path.write_text(f'name = "mixing"\nkind = "flight"\n[endpoint]\ngrpc = "{server.endpoint}"\n{FLIGHT}')
            for name in ("one", "two"):
                # One task at a time: what one client of this server cancels is gone for those of other tasks, too.
                arguments = command(path, tmp_path / name, "--scenarios", "4", "--concurrency", "1")
                arguments.remove("--no-shrink")
                run(arguments, status=1)

        layouts = [find_run(str(tmp_path / name))[0] for name in ("one", "two")]
        names = ("case_id", "outcome", "bytes_digest", "values_digest")
        rows = [[[row[name] for name in names] for row in found(layout)[Stage.JUDGE]] for layout in layouts]
        assert rows[0] == rows[1]
        results = load_results(layouts[0])
        (failure,) = results.failures
        assert failure.clause == "flight-history.cancel-leaves-others"
        assert len(load_case(Path(failure.file)).steps) <= 6
        assert {reader.reader for reader in results.readers} == set(READERS)


@pytest.mark.parametrize(
    ("target", "profile", "fitting"),
    [("flight-reference", "arrow", "flight"), ("reference", "flight", "arrow or server")],
)
def test_a_profile_of_another_protocol_is_refused(tmp_path: Path, target: str, profile: str, fitting: str) -> None:
    """In one sentence, before Spark starts."""
    pytest.importorskip("pyspark", reason="a campaign needs the extra spark")
    arguments = command(target, tmp_path, "--profile", profile)

    assert f"expected the profile {fitting} with a target of the kind" in refusal(arguments)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--reader", "bqstorage.pages"), "expected a decoder"),
        (("--reader", "pyarrow"), "expected a reader of"),
        (("--scenarios", "3", "--profile", "flight"), "expected --scenarios alone"),
    ],
)
def test_what_flight_cannot_have_is_refused(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    """A client of the Storage Read API reads no stream of Flight."""
    pytest.importorskip("pyspark", reason="a campaign needs the extra spark")

    assert said in refusal(command("flight-reference", tmp_path, *arguments))


def refusal(command: Sequence[str]) -> str:
    """The error of a command that is refused, which needs no process of its own."""
    done = conformance_(*command[command.index("campaign") :])
    assert done.exit_code == 2
    return done.stderr


def digests(made: list[Done]) -> list[tuple[Any, Any]]:
    """The digests of the cases: of the bytes, and of the rows."""
    return [(one.judge["bytes_digest"], one.judge["values_digest"]) for one in made]


def typed(*arguments: str, status: int = 0) -> subprocess.CompletedProcess[str]:
    """A command of the suite."""
    return run([sys.executable, "-m", "conformance", *arguments], status=status)
