"""What could not be judged is said: no clause passes on what the suite could not read."""

from __future__ import annotations

import pytest

from conformance.contract.ipc.judging import judge_ipc
from conformance.records import Outcome
from conformance.wire import Kind
from tests.wire.forge import batch_message, dictionary_message, field, i4, packed, schema_message
from tests.wire.sealing import END, INT

SCHEMA = schema_message(INT)
BATCH = batch_message(2, [(2, 0)], [b"", i4(1, 2)])
OLD = {"version": 2}


def _judged(*messages: bytes) -> dict[str, tuple[Outcome, str]]:
    return {one.clause: (one.outcome, one.reason) for one in judge_ipc(b"".join(messages), Kind.STREAM)}


def test_of_a_version_below_v4_the_rest_is_not_judged() -> None:
    """One clause fails, none passes, and all others say why."""
    judged = _judged(schema_message(INT, message=OLD), batch_message(2, [(2, 0)], [b"", i4(1, 2)], message=OLD), END)

    outcome, _ = judged.pop("structure.version-supported")
    assert outcome is Outcome.FAIL
    assert set(judged.values()) == {(Outcome.UNTESTABLE, "V3 has other tables and layouts than V4 and V5")}


def test_a_body_behind_a_header_that_cannot_be_read_is_not_judged() -> None:
    """Without the vector of buffers nothing of the body is known, although another batch passes."""
    lost = bytearray(BATCH)
    places = [at for at in range(0, len(lost) - 4, 4) if lost[at : at + 4] == (2).to_bytes(4, "little")]
    lost[places[-1] : places[-1] + 4] = b"\xff\xff\xff\x7f"

    judged = _judged(SCHEMA, BATCH, bytes(lost), END)

    said = f"the RecordBatch message at byte {len(SCHEMA + BATCH)} could not be read by its schema"
    assert judged["structure.vectors-in-range"][0] is Outcome.FAIL
    assert judged["body.buffer-count"] == judged["body.text-utf8"] == (Outcome.UNTESTABLE, said)
    assert judged["framing.metadata-length"][0] is Outcome.PASS


@pytest.mark.parametrize(
    ("schema", "batch"),
    [
        (SCHEMA, batch_message(2, [(2, 0)], [b"", i4(1, 2), b""])),
        (schema_message(INT | {"dictionary": {"id": 7}}), dictionary_message(7, [1, 2])[:-8] + bytes(8)),
    ],
    ids=["too many buffers", "no fault"],
)
def test_what_was_judged_of_a_batch_passes_or_fails(schema: bytes, batch: bytes) -> None:
    """With a wrong number of buffers the values are not judged, and the header is."""
    judged = _judged(schema, batch, END)

    fails = judged["body.buffer-count"][0] is Outcome.FAIL
    assert judged["body.node-count"][0] is Outcome.PASS
    assert judged["body.validity-size"][0] is (Outcome.UNTESTABLE if fails else Outcome.PASS)
    assert judged["buffers.codec-known"][0] is Outcome.PASS


def test_what_is_behind_the_end_of_the_bytes_is_not_judged() -> None:
    """The header of the batch is judged, and its values are not."""
    judged = _judged(SCHEMA, BATCH[:-4])

    said = f"the bytes end within the RecordBatch message at byte {len(SCHEMA)}"
    assert judged["stream.whole"][0] is Outcome.FAIL
    assert judged["body.buffer-count"][0] is Outcome.PASS
    assert judged["body.text-utf8"] == judged["body.validity-size"] == (Outcome.UNTESTABLE, said)


def test_a_message_that_does_not_say_what_it_is_may_have_a_body() -> None:
    """The bytes end within its metadata, or its root is nowhere."""
    for broken in (BATCH[:40], BATCH[:8] + b"\xff\xff\xff\x7f" + BATCH[12:]):
        judged = _judged(SCHEMA, broken)

        said = f"the message at byte {len(SCHEMA)} could not be read"
        assert judged["body.buffer-count"] == judged["body.text-utf8"] == (Outcome.UNTESTABLE, said)


def test_bodies_without_a_schema_are_not_judged() -> None:
    """A schema that cannot be read leaves no body to be judged by it."""
    judged = _judged(schema_message(field("x", "List")), BATCH, END)

    assert judged["structure.child-count"][0] is Outcome.FAIL
    assert judged["body.data-size"][0] is Outcome.UNTESTABLE


def test_what_is_not_aligned_hides_nothing() -> None:
    """The body behind unaligned vectors is judged like any other."""
    judged = _judged(SCHEMA, packed(BATCH), END)

    assert {clause for clause, (outcome, _) in judged.items() if outcome is not Outcome.PASS} == {"structure.aligned"}
    assert "body.data-size" in judged


def test_streams_behind_the_first_one_are_judged() -> None:
    """The fault of a later stream is found, at its place in the bytes."""
    first, bad = SCHEMA + BATCH + END, batch_message(2, [(2, 0)], [b"", i4(1)])

    verdicts = judge_ipc(first * 2 + SCHEMA + bad + END, Kind.STREAM)

    findings = {one.clause: one.findings for one in verdicts if one.findings}
    assert set(findings) == {"stream.nothing-after-end", "body.data-size"}
    assert [one.start for one in findings["stream.nothing-after-end"]] == [len(first), 2 * len(first)]
    assert findings["body.data-size"][0].start >= 2 * len(first) + len(SCHEMA)


def test_streams_beyond_a_number_are_not_judged() -> None:
    """A source of many streams is read up to a limit, and that is said."""
    verdicts = judge_ipc((SCHEMA + END) * 70, Kind.STREAM)

    assert {one.reason for one in verdicts if one.outcome is Outcome.UNTESTABLE} == {
        "there are more than 64 streams, where the suite stops reading"
    }
