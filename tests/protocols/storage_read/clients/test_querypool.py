"""A client of query results is put before a server of its own, and its rows are compared with those of the result."""

from __future__ import annotations

import json
import shutil
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from conformance.clients import programs
from conformance.clients.consequences import Consequence, Measurements, Measuring
from conformance.engine.corpus import load_corpus
from conformance.protocols.storage_read.clients.queries import query_mutated
from conformance.protocols.storage_read.clients.querypool import QueryPool
from conformance.protocols.storage_read.reference.mutants import MUTANTS
from conformance.readers.info import ReaderInfo, Takes
from conformance.readers.ipc.adapters import Adapter
from conformance.readers.ipc.implementation import Hello, Unavailable
from conformance.readers.ipc.job import JobAnswer, JobOutcome
from conformance.readers.ipc.programmessages import PROTOCOL
from conformance.readers.programs.clientspec import ClientProgram
from conformance.wire import PlainTable

NAME = "hasty.to-arrow"


class _Hasty:
    """In place of a process: a client that gives a table without rows wherever it gets an answer."""

    def __init__(self, name: str, *_: object) -> None:
        self.name = name
        self.asked: list[Mapping[str, Any]] = []

    def hello(self) -> Hello:
        return Hello("hasty", "Hasty", "Python", "1", (), (), paths=("to-arrow",))

    def ready(self) -> object:
        return self

    def fetch(self, job: str, request: Mapping[str, Any], *, times: float = 1.0) -> JobAnswer:
        PROTOCOL.encode({"id": 1, **request})
        body = json.dumps({"query": request["query"], "queryResultsFormat": "ARROW"}).encode()
        url = f"{request['rest']}/bigquery/v2/projects/{request['project']}/queries"
        try:
            with urllib.request.urlopen(urllib.request.Request(url, body)) as answer:
                json.load(answer)
        except urllib.error.HTTPError as error:
            error.close()
            return JobAnswer(job, self.name, JobOutcome.REFUSED, error_class="HTTP", error_text=str(error.code))
        return JobAnswer(job, self.name, JobOutcome.ROWS, PlainTable((), (), 0))

    def close(self) -> None:
        """No process is there."""


@pytest.mark.parametrize(
    ("mutant", "found", "text"),
    [
        ("query-results.format-ignored", Consequence.LOSS, "no row of 11"),
        ("query-results.refused", Consequence.REFUSED, "HTTP: 400"),
        ("query-results.batch-for-a-statement", Consequence.UNHARMED, ""),
    ],
)
def test_what_a_client_makes_of_a_mutant(
    mutant: str, found: Consequence, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant answers the client itself, in the form of the protocol of programs."""
    monkeypatch.setattr(programs, "ProgramRunner", _Hasty)
    info = ReaderInfo(NAME, "a client", "", Takes.QUERY)
    hasty = ClientProgram(Adapter("hasty", "Hasty", "Python", tmp_path), "", {"to-arrow": info}, direct=("none",))
    (one,) = query_mutated([MUTANTS[mutant]], load_corpus())

    with (
        Measurements(tmp_path / "measured.jsonl") as into,
        Measuring[Any]({"hasty": hasty}, [NAME], into, pool=QueryPool, rounds=1) as measuring,
    ):
        measuring.measure([one.asked])

    (made,) = into.all
    assert (made.client, made.situation, made.consequence, made.text) == (NAME, one.asked.id, found, text)
    assert made.digest == one.asked.digest


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_a_program_that_needs_tls_has_a_proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file of its authority is there while it is asked; others are given no proxy."""
    seen: list[tuple[bool, bool]] = []

    class Noting(_Hasty):
        def fetch(self, job: str, request: Mapping[str, Any], *, times: float = 1.0) -> JobAnswer:
            authority = request.get("ca")
            seen.append(("proxy" in request, authority is not None and Path(authority).is_file()))
            return super().fetch(job, request, times=times)

    monkeypatch.setattr(programs, "ProgramRunner", Noting)
    (one,) = query_mutated([MUTANTS["query-results.refused"]], load_corpus())
    for tls in (True, False):
        adapter = Adapter("hasty", "Hasty", "Java", tmp_path)
        info = ReaderInfo(NAME, "a client", "", Takes.QUERY)
        hasty = ClientProgram(adapter, "", {"to-arrow": info}, direct=("none",), tls=tls)
        with QueryPool({"hasty": hasty}) as pool:
            pool.fetch(NAME, one.asked)

    assert set(seen[: len(seen) // 2]) == {(True, True)}
    assert set(seen[len(seen) // 2 :]) == {(False, False)}


def test_without_openssl_a_program_that_needs_tls_is_unavailable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reason names what is missing."""
    monkeypatch.setattr(programs, "ProgramRunner", _Hasty)
    monkeypatch.setenv("PATH", "")
    info = ReaderInfo(NAME, "a client", "", Takes.QUERY)
    hasty = ClientProgram(Adapter("hasty", "Hasty", "Java", tmp_path), "", {"to-arrow": info}, tls=True)

    with QueryPool({"hasty": hasty}) as pool, pytest.raises(Unavailable, match="openssl"):
        pool.hello(NAME)
