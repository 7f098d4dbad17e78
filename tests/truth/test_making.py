"""A pack is made of what two recordings agree on; the rest is named."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from conformance.engine.events import ExchangeRecorded
from conformance.engine.log import LogError
from conformance.records import BqType, Call, CallEnd, Case, Column, Exchange, Table
from conformance.truth.making import indeterminate, make_pack
from conformance.truth.pack import Pack, PackError
from conformance.truth.records import TruthStanding
from tests.fixtures import real_bigquery
from tests.truth.packs import SERVICE, edited, log_of

Runs = list[list[ExchangeRecorded]]


CAPTURED = ("1289-12-01T01:12:45.575123", "0889-12-03T01:17:25.975000", "1970-01-01T00:00:00", "2001-12-01T01:01:01")
"""The values that the connector's own test gives for its captured bytes (spark-bigquery-connector, PR 363)."""


def refused(one: ExchangeRecorded, status: str, details: str = "") -> ExchangeRecorded:
    """``one`` with another status of its last call."""

    def change(exchange: Exchange) -> Exchange:
        last = dataclasses.replace(exchange.calls[-1], status=status, details=details, responses=())
        return dataclasses.replace(exchange, calls=(*exchange.calls[:-1], last))

    return edited(one, change)


def made(folder: Path, *runs: tuple[str, str, list[ExchangeRecorded]]) -> Pack:
    """The pack of runs: the day of each, its region and its exchanges."""
    logs = [
        log_of(folder / f"{index}.jsonl", run, began=f"{day}T10:00:00Z") for index, (day, _, run) in enumerate(runs)
    ]
    return make_pack(logs, regions=[region for _, region, _ in runs])


def test_two_recordings_that_agree_settle_each_case(runs: Runs, tmp_path: Path) -> None:
    """Every case has one answer, and the clauses that it shows are held."""
    pack = made(tmp_path, ("2026-03-01", "us", runs[0]), ("2026-03-05", "us", runs[1]))

    answers = {one.case_id: (one.regions, one.first, one.last, one.recordings) for one in pack.findings.answers}
    assert answers == {one.case.id: (("us",), "2026-03-01", "2026-03-05", ("1", "2")) for one in runs[0]}
    assert {one.standing for one in pack.findings.clauses} <= {TruthStanding.HELD, TruthStanding.NOT_SHOWN}
    assert pack.findings.service


def test_recordings_that_disagree_are_unsettled(runs: Runs, tmp_path: Path) -> None:
    """The case is named with the first place that differs, and nothing is concluded from it."""
    other = [runs[1][0], refused(runs[1][1], "NOT_FOUND", "gone"), *runs[1][2:]]

    pack = made(tmp_path, ("2026-03-01", "us", runs[0]), ("2026-03-02", "us", other))

    said = "errors.missing-table: recordings 1 and 2 differ at calls[0].details"
    assert pack.findings.unsettled == (f"1 {said}", f"2 {said}")
    assert "errors.missing-table" not in {one.case_id for one in pack.findings.answers}


@pytest.mark.parametrize(
    ("status", "word"),
    [("RESOURCE_EXHAUSTED", "throttled"), ("UNAVAILABLE", "transport"), ("DEADLINE_EXCEEDED", "timeout")],
)
def test_throttling_and_faults_are_indeterminate(status: str, word: str, runs: Runs, tmp_path: Path) -> None:
    """They are counted apart from what the service does, and one good recording is not enough."""
    other = [runs[1][0], refused(runs[1][1], status), *runs[1][2:]]

    pack = made(tmp_path, ("2026-03-01", "us", runs[0]), ("2026-03-02", "us", other))

    (text,) = pack.findings.indeterminate
    assert text.startswith(f"2 errors.missing-table: {word}")
    assert text.endswith(f"call 0, CreateReadSession, {status}")
    assert pack.findings.unsettled == ("1 errors.missing-table: recording 1 is the only one of us that shows the case",)


def test_a_call_without_an_end_is_indeterminate(runs: Runs) -> None:
    """A deadline and a lost connection show nothing; a stream that the driver cancelled does."""
    one = runs[0][0]

    def ended(end: CallEnd) -> str:
        calls = (dataclasses.replace(one.exchange.calls[0], end=end), *one.exchange.calls[1:])
        return indeterminate(one.case, dataclasses.replace(one.exchange, calls=calls))

    assert [ended(end) for end in (CallEnd.DEADLINE, CallEnd.CRASH, CallEnd.CANCELLED, CallEnd.COMPLETE)] == [
        "timeout: call 0, CreateReadSession",
        "transport fault: call 0, CreateReadSession",
        "",
        "",
    ]


def test_a_call_of_no_step_is_indeterminate(runs: Runs) -> None:
    """As in the log of a client, which was asked by nobody."""
    one = runs[0][0]
    calls = (dataclasses.replace(one.exchange.calls[0], step=len(one.case.steps)),)

    assert "belongs to no step" in indeterminate(one.case, dataclasses.replace(one.exchange, calls=calls))


def test_a_case_that_was_not_asked_is_indeterminate(runs: Runs) -> None:
    """The reason is given without the text of the server, which may name a project."""
    one = runs[0][0]
    exchange = dataclasses.replace(one.exchange, calls=(), untestable="cannot seed: quota of projects/mine")

    assert indeterminate(one.case, exchange) == "not asked: cannot seed"


def test_a_clause_that_the_service_breaks_is_contradicted_and_first(runs: Runs, tmp_path: Path) -> None:
    """Two recordings agree on it, so either the clause is wrong or the service has a defect."""
    broken = [[refused(run[1], "OK")] for run in runs]

    pack = made(tmp_path, ("2026-03-01", "us", broken[0]), ("2026-03-02", "us", broken[1]))

    first = pack.findings.clauses[0]
    assert first.standing is TruthStanding.CONTRADICTED
    assert first.answers[0].cases == ("errors.missing-table",)


def test_a_clause_that_another_server_breaks_has_failed(runs: Runs, tmp_path: Path) -> None:
    """A pack of an emulator says nothing about the service."""
    other = dataclasses.replace(SERVICE, command=("bigquerystorage.googleapis.com.example.org:443",))
    logs = [
        log_of(tmp_path / f"{day}.jsonl", [refused(run[1], "OK")], began=f"2026-03-0{day}T10:00:00Z", target=other)
        for day, run in enumerate(runs, 1)
    ]

    findings = make_pack(logs).findings

    assert (findings.service, findings.clauses[0].standing) == (False, TruthStanding.FAILED)


def test_regions_may_differ_and_dates_too(runs: Runs, tmp_path: Path) -> None:
    """Each answer has two recordings of its own; the earlier answer of a region says when it was replaced."""
    now = [[refused(run[1], "NOT_FOUND", "no such table")] for run in runs]
    before = [[run[1]] for run in runs]

    pack = made(
        tmp_path,
        ("2026-03-01", "us", before[0]),
        ("2026-03-02", "us", before[1]),
        ("2026-03-03", "eu", before[0]),
        ("2026-03-04", "eu", before[1]),
        ("2026-06-01", "us", now[0]),
        ("2026-06-02", "us", now[1]),
    )

    assert {(one.regions, one.first, one.last, one.replaced) for one in pack.findings.answers} == {
        (("eu",), "2026-03-03", "2026-03-04", ""),
        (("us",), "2026-03-01", "2026-03-02", "2026-06-01"),
        (("us",), "2026-06-01", "2026-06-02", ""),
    }


def test_one_recording_confirms_nothing(runs: Runs, tmp_path: Path) -> None:
    """Neither does the same run twice."""
    log = log_of(tmp_path / "a.jsonl", runs[0])

    with pytest.raises(PackError, match="expected at least 2 logs, got 1"):
        make_pack([log])
    with pytest.raises(PackError, match="expected another run, got one that began at the same instant"):
        make_pack([log, log])


def test_a_log_without_exchanges_says_what_to_do(tmp_path: Path) -> None:
    """An ordinary run stores verdicts alone."""
    log = log_of(tmp_path / "a.jsonl", [])

    with pytest.raises(LogError, match="contains no exchange; `conformance run --exchanges` writes them"):
        make_pack([log, log])


def test_the_captured_bytes_are_one_capture_and_no_confirmation(tmp_path: Path) -> None:
    """The bytes that public connectors captured are judged as they are, and confirm nothing: nobody ran the suite, and
    nobody captured them twice.
    """
    names = {"SerializeSchema": "arrowDateTimeSchema", "SerializeBatch": "arrowDateTimeRowsInBytes"}
    table = Table(
        columns=(Column("col_date_time", BqType.DATETIME),), rows=tuple({"col_date_time": value} for value in CAPTURED)
    )
    case = Case("captured.datetime", "One DATETIME column, captured in 2021", table)
    calls = [Call(0, "", method, b"", (real_bigquery(file),)) for method, file in names.items()]
    capture = ExchangeRecorded(case, Exchange(case.id, "BigQuery", tuple(calls)))

    with pytest.raises(PackError, match="one recording confirms nothing"):
        make_pack([log_of(tmp_path / "first.jsonl", [capture])])

    # Copied as a second recording, the bytes are judged: the service breaks no clause in them.
    pack = made(tmp_path, ("2021-04-24", "unknown", [capture]), ("2021-04-25", "unknown", [capture]))
    standings = {one.id: one.standing for one in pack.findings.clauses}
    assert standings["body.buffers-aligned"] is TruthStanding.HELD
    assert TruthStanding.CONTRADICTED not in standings.values()


def test_a_case_that_was_stopped_is_indeterminate(runs: Runs, tmp_path: Path) -> None:
    """Its calls are right and not all that it asks for: two recordings that stopped at one place settle nothing."""

    def stopped(one: ExchangeRecorded) -> ExchangeRecorded:
        return edited(one, lambda exchange: dataclasses.replace(exchange, stopped="the time was used up; so it ends"))

    first, second = ([stopped(one) for one in run] for run in runs[:2])
    pack = made(tmp_path, ("2026-03-01", "us", first), ("2026-03-05", "us", second))

    assert pack.findings.answers == pack.findings.clauses == ()
    said = f"1 {runs[0][0].case.id}: not asked to its end: the time was used up"
    assert said in pack.findings.indeterminate
