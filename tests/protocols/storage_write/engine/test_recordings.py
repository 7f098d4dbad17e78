"""What a client and a server of the Storage Write API said: which calls belong together, and what is judged of them."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pytest

from conformance.contract.judge import Judge
from conformance.engine.conversed import as_driven, conversations, without_table
from conformance.engine.corpus import load_corpus
from conformance.engine.owed import reference_target
from conformance.engine.selection import clauses_on
from conformance.generate import materialise
from conformance.protocols.storage_write.contract.classes import CLASSES
from conformance.protocols.storage_write.contract.view import WriteView
from conformance.protocols.storage_write.engine import recordings
from conformance.protocols.storage_write.records import Framing, WriteRows
from conformance.protocols.storage_write.reference.register import WRITE_MUTANTS, WRITE_VARIATIONS
from conformance.protocols.storage_write.wire.messages import METHODS
from conformance.records import Call, CallEnd, Outcome, Verdict
from tests.engine import conversing

JUDGE = Judge(without_table(clauses_on("storage-write")[0])[0])
CORPUS = list(load_corpus(protocol="storage-write").values())
alone = functools.partial(conversing.alone, protocol="storage-write")
TABLE = "projects/p/datasets/d/tables/t"
ROWS = pa.record_batch({"a": pa.array([1, 2], pa.int64())})
SCHEMA = ROWS.schema.serialize().to_pybytes()
BATCH = ROWS.serialize().to_pybytes()


def verdicts(calls: Sequence[Call]) -> Iterator[Verdict]:
    """The verdicts on calls, as if a proxy had recorded them."""
    for one in conversations(alone(calls)):
        driven = as_driven(one)
        view = WriteView(driven.case, driven.exchange, materialise(driven.case.table))
        yield from JUDGE.in_order(one.case, JUDGE(view))


def written(call: Call) -> bool:
    """True for a call of the Storage Write API: the read after it belongs to another protocol."""
    return not call.method.endswith(("ReadSession", "ReadRows"))


@functools.cache
def failed(mutant: str | None) -> frozenset[tuple[str, Outcome]]:
    """The clauses that are not passed without the table by the reference, or by a mutant of it, on all cases."""
    found = set()
    with reference_target("storage-write", mutant=mutant) as target:
        for case in CORPUS:
            calls = target.drive(dataclasses.replace(case, isolated=False), materialise(case.table)).calls
            found |= {(one.clause, one.outcome) for one in verdicts([call for call in calls if written(call)])}
    return frozenset((clause, outcome) for clause, outcome in found if outcome is not Outcome.PASS)


def create(name: str, *, kind: int = 1, started: float = 0.0) -> Call:
    """A call that created a stream."""
    request = CLASSES["CreateWriteStreamRequest"](parent=TABLE)
    request.write_stream.type = kind
    answer = CLASSES["WriteStream"](name=f"{TABLE}/streams/{name}", type=kind)
    return Call(0, "", "CreateWriteStream", request.SerializeToString(), (answer.SerializeToString(),), started=started)


def append(
    *streams: str, offsets: Sequence[int | None], data: bytes = BATCH, started: float = 1.0, seconds: float = 0.5
) -> Call:
    """A connection with two rows in each request, to these streams in turn; the answers have these offsets."""
    requests, answers = [], []
    for at, offset in enumerate(offsets):
        request = CLASSES["AppendRowsRequest"](write_stream=f"{TABLE}/streams/{streams[at % len(streams)]}")
        request.arrow_rows.writer_schema.serialized_schema = SCHEMA
        request.arrow_rows.rows.serialized_record_batch = data
        answer = CLASSES["AppendRowsResponse"](write_stream=request.write_stream)
        if offset is None:
            answer.append_result.SetInParent()
        else:
            answer.append_result.offset.value = offset
        requests.append(request.SerializeToString())
        answers.append(answer.SerializeToString())
    turns = "><" * len(offsets) + "|"
    return Call(
        0,
        "",
        "AppendRows",
        requests[0],
        tuple(answers),
        started=started,
        seconds=seconds,
        more_requests=tuple(requests[1:]),
        order=turns,
    )


def finalize(name: str, rows: int, *, started: float = 5.0) -> Call:
    """A call that finalized a stream with so many rows."""
    request = CLASSES["FinalizeWriteStreamRequest"](name=f"{TABLE}/streams/{name}")
    answer = CLASSES["FinalizeWriteStreamResponse"](row_count=rows)
    return Call(
        0, "", "FinalizeWriteStream", request.SerializeToString(), (answer.SerializeToString(),), started=started
    )


def failures(*calls: Call) -> list[str]:
    """The clauses on offsets, counts and framing that calls fail: hand-made answers lack what others ask for."""
    chapters = ("storage-write-offset", "storage-write-finish", "storage-write-framing")
    return sorted(
        {one.clause for one in verdicts(calls) if one.outcome is not Outcome.PASS and one.clause.startswith(chapters)}
    )


@pytest.mark.parametrize("variation", [None, *sorted(WRITE_VARIATIONS)])
def test_a_correct_server_fails_nothing(variation: str | None) -> None:
    """The reference, also with each thing that a server may choose."""
    assert failed(variation) == frozenset()


@pytest.mark.parametrize("clause", sorted(recordings.CLAUSES))
def test_every_clause_on_calls_fails_on_its_mutant(clause: str) -> None:
    """No clause is asked that cannot fail without the table."""
    mutants = [one.name for one in WRITE_MUTANTS.values() if clause in one.kills and not one.process]

    assert any((clause, Outcome.FAIL) in failed(mutant) for mutant in mutants)


class TestFollowing:
    """Where a stream ends is known only of a stream whose every request is seen."""

    def test_a_stream_is_followed_from_its_creation(self) -> None:
        """Over several connections, one after the other: a wrong offset and a wrong count are found."""
        right = append("a", offsets=[0, 2]), append("a", offsets=[4], started=2.0)

        assert failures(create("a"), *right, finalize("a", 6)) == []
        assert failures(create("a"), *right, finalize("a", 7)) == ["storage-write-finish.finalize-counts-the-rows"]
        assert failures(create("a"), append("a", offsets=[0, 1])) == ["storage-write-offset.is-that-of-the-first-row"]

    @pytest.mark.parametrize(
        "calls",
        [
            (append("a", offsets=[7]), finalize("a", 9)),
            (append("a", offsets=[7], started=0.1), dataclasses.replace(create("a"), started=0.5), finalize("a", 9)),
            (
                create("a"),
                append("a", offsets=[7], seconds=3.0),
                append("a", offsets=[5], started=2.0),
                finalize("a", 9),
            ),
            (create("a"), create("b"), append("a", "b", offsets=[7, 8]), finalize("a", 9), finalize("b", 9)),
            (
                create("a"),
                dataclasses.replace(append("a", offsets=[0]), end=CallEnd.CANCELLED, responses=(), order=">|"),
                finalize("a", 9),
            ),
        ],
        ids=["created before", "created later", "two at one time", "two on one connection", "without an answer"],
    )
    def test_of_other_streams_no_end_is_known(self, calls: Sequence[Call]) -> None:
        """Somebody else may have written, or an append may have arrived: nothing is wrong."""
        assert failures(*calls) == []

    def test_rows_in_protobuf_are_not_counted(self) -> None:
        """A later finalize says how many there are, and is believed."""
        request = (
            CLASSES["AppendRowsRequest"](write_stream=f"{TABLE}/streams/a").SerializeToString() + b"\x22\x02\x0a\x00"
        )
        answer = CLASSES["AppendRowsResponse"]()
        answer.append_result.offset.value = 0
        sent = Call(0, "", "AppendRows", request, (answer.SerializeToString(),), started=1.0)

        assert failures(create("a"), sent, finalize("a", 5)) == []

    def test_a_full_stream_in_place_of_a_batch_is_seen(self) -> None:
        """Whatever the stream is: a server that acknowledges it loses the rows."""
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, ROWS.schema) as writer:
            writer.write_batch(ROWS)
        calls = (create("a"), append("a", offsets=[0], data=sink.getvalue().to_pybytes()))
        (one,) = conversations(alone(calls))
        step = as_driven(one).case.steps[1]

        assert isinstance(step, WriteRows)
        assert step.appends[0].framing is Framing.STREAM_AS_BATCH
        assert failures(*calls) == ["storage-write-framing.full-stream-is-refused"]


def test_calls_on_one_table_belong_together() -> None:
    """By the name of the table in every name of a stream; a message that names none is alone."""
    other = dataclasses.replace(append("x", offsets=[0]), request=b"\xff", order="")
    found = conversations(alone([create("a"), append("_default", offsets=[None]), finalize("a", 0), other]))

    assert [len(one.exchange.calls) for one in found] == [3, 1]
    assert found[0].case.title.endswith(f": writes to {TABLE}")


@pytest.mark.parametrize("method", sorted(METHODS))
@pytest.mark.parametrize("answer", [b"", b"\xff", create("x").responses[0]])
def test_a_request_that_is_no_message_is_not_judged(method: str, answer: bytes) -> None:
    """It may be anything: neither the server nor the suite is to blame."""
    outcomes = {one.outcome for one in verdicts([create("a"), Call(0, "", method, b"\xff", (answer,), started=1.0)])}

    assert Outcome.ERROR not in outcomes
