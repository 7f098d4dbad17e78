"""The reference of writes: it is clean, also over connections, and its deviations are found by name."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import grpc
import pytest

from conformance.contract.clause import CLAUSES, load_chapters
from conformance.contract.judge import judge
from conformance.engine.corpus import load_corpus
from conformance.generate import materialise
from conformance.protocol import plugin
from conformance.protocols.storage_write.reference.service import WriteService
from conformance.protocols.storage_write.reference.streams import AppendRefusedError, WriteStream
from conformance.records import Case, Exchange, Outcome
from conformance.reference.plugin import ReferencePlugin
from conformance.reference.statuses import Refusal
from conformance.targets import Target, open_target

REFERENCE = plugin(ReferencePlugin, "storage-write")
CASES = load_corpus(protocol="storage-write")
load_chapters()
OWN = [one for one in CLAUSES.values() if one.profiles == ("storage-write",)]


def _failed(case: Case, exchange: Exchange) -> set[str]:
    table = materialise(case.table)
    verdicts = judge(case, exchange, table, clauses=OWN, profile="storage-write")
    assert any(one.outcome is Outcome.PASS for one in verdicts)
    return {one.clause for one in verdicts if one.outcome in (Outcome.FAIL, Outcome.ERROR)}


def _driven(target: Target, case: Case) -> set[str]:
    exchange = target.drive(case, materialise(case.table))
    assert not exchange.untestable
    return _failed(case, exchange)


@pytest.mark.parametrize("name", CASES)
def test_the_reference_is_clean(name: str) -> None:
    """In this process."""
    with closing(REFERENCE.target(None)) as target:
        assert _driven(target, CASES[name]) == set()


@pytest.mark.parametrize(
    "name",
    ["committed", "pending", "buffered", "offsets", "ahead", "types.record", "open", "two-writers", "interrupted"],
)
def test_connections_change_nothing(name: str) -> None:
    """Over gRPC and HTTP, the answers are the same."""
    with REFERENCE.listening(None) as spec, open_target(spec) as target:
        assert _driven(target, CASES[f"storage-write.{name}"]) == set()


@pytest.mark.parametrize(
    ("mutant", "name", "clause"),
    [
        ("joined-and-opened", "framing.streams", "storage-write-framing.refused-or-stored"),
        ("one-batch-read", "framing.two-batches", "storage-write-framing.refused-or-stored"),
        ("offset-behind-the-rows", "offsets", "storage-write-offset.is-that-of-the-first-row"),
        ("flush-inserts-again", "buffered", "storage-write-visible.each-row-once"),
        ("commit-one-by-one", "two-streams", "storage-write-visible.failed-commit-shows-nothing"),
    ],
)
def test_what_public_emulators_do_is_found_by_name(mutant: str, name: str, clause: str) -> None:
    """Two ways to decode requests, and three faults of one emulator."""
    with closing(REFERENCE.target(f"storage-write.{mutant}")) as target:
        assert clause in _driven(target, CASES[f"storage-write.{name}"])


@pytest.mark.parametrize("name", REFERENCE.variations())
def test_legal_variations_are_clean(name: str) -> None:
    """On the cases about connections, framing and types of streams."""
    with closing(REFERENCE.target(name)) as target:
        for case in CASES.values():
            if ".types." not in case.id:
                assert _driven(target, case) == set()


def test_a_deviation_that_does_not_exist_is_not_found() -> None:
    """Commands say so in a sentence."""
    with pytest.raises(KeyError, match="no-such"):
        REFERENCE.service("storage-write.no-such")


class _Dropping(WriteService):
    """It ends the call of every append to a stream that was created."""

    def check_state(self, stream: WriteStream) -> None:
        if not stream.is_default:
            raise Refusal(grpc.StatusCode.INTERNAL, "Not now.")


def test_the_steps_of_a_pause_come_behind_a_connection_that_ended_before_it() -> None:
    """Every step is carried out, in its order."""
    case = CASES["storage-write.open"]
    with closing(REFERENCE.served(_Dropping)) as target:
        exchange = target.drive(case, materialise(case.table))

    assert list(dict.fromkeys(call.step for call in exchange.calls)) == list(range(len(case.steps)))
    assert _failed(case, exchange) == {"storage-write-answer.lawful-is-acknowledged"}


class _Refusing(WriteService):
    """It refuses every append to a stream that was created."""

    def check_state(self, stream: WriteStream) -> None:
        super().check_state(stream)
        if not stream.is_default:
            raise AppendRefusedError("INTERNAL", "Not now.")


class _Unreadable(WriteService):
    """Reads of a table with rows fail."""

    def create_read_session(self, request: Any) -> Any:
        answer = super().create_read_session(request)
        if answer.streams:
            raise Refusal(grpc.StatusCode.INTERNAL, "The rows cannot be read.")
        return answer


@pytest.mark.parametrize("name", ["buffered", "pending", "ahead", "offsets", "bad-rows"])
def test_what_follows_from_a_refused_append_is_not_blamed(name: str) -> None:
    """A flush or commit of rows that were refused, or an offset behind them, is answered as the server likes."""
    with closing(REFERENCE.served(_Refusing)) as target:
        assert _driven(target, CASES[f"storage-write.{name}"]) == {"storage-write-answer.lawful-is-acknowledged"}


@pytest.mark.parametrize("name", ["default", "committed", "buffered", "two-streams", "columns"])
def test_a_read_that_fails_says_nothing_of_the_writes(name: str) -> None:
    """The clause on reads has the finding."""
    with closing(REFERENCE.served(_Unreadable)) as target:
        assert _driven(target, CASES[f"storage-write.{name}"]) == {"storage-write-visible.table-is-read"}


def test_a_server_without_reads_is_judged_by_its_answers() -> None:
    """What the reads would show is not judged, and the reason names them."""
    case = CASES["storage-write.default"]
    with closing(REFERENCE.target("storage-write.no-reads")) as target:
        table = materialise(case.table)
        verdicts = judge(case, target.drive(case, table), table, clauses=OWN, profile="storage-write")
    open_ = {one.reason for one in verdicts if one.outcome is Outcome.UNTESTABLE}
    assert open_ == {"the table could not be read: CreateReadSession ended in UNIMPLEMENTED"}
