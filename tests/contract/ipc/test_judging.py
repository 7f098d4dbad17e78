"""Whole streams, files and tensors: every clause passes good bytes and fails bytes with its deviation, once."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from conformance.contract.clause import CLAUSES, IPC, Role
from conformance.contract.ipc.judging import ipc_clauses, judge_ipc
from conformance.contract.ipc.messages import is_of_the_whole
from conformance.contract.ipc.rules import asked_rules, clauses_of_rules
from conformance.contract.ipc.selectors import Wholes
from conformance.contract.rules import NOT_ASKED
from conformance.records import Outcome, Verdict
from conformance.reference.ipc.variations import IPC_VARIATIONS
from conformance.wire import Header, Kind, Rule, read_stream
from tests.contract.ipc.broken import END, GOOD, broken, tensor, written
from tests.wire.corpus import batches
from tests.wire.forge import batch_message, field, i4, schema_message
from tests.wire.sealing import Sealed

INT = field("x", "Int", bitWidth=32, is_signed=1)
SCHEMA = schema_message(INT)
BATCH = batch_message(2, [(2, 0)], [b"", i4(1, 2)])
ON_WHOLES = [one for profile in IPC for one in ipc_clauses(profile, writer=True) if isinstance(one.over, Wholes)]


def failures(data: bytes, kind: Kind, *, writer: bool = True) -> list[str]:
    """The clauses that fail."""
    return [one.clause for one in judge_ipc(data, kind, writer=writer) if one.outcome is Outcome.FAIL]


def reported(verdicts: list[Verdict], clause_id: str) -> Verdict:
    """The verdict of one clause."""
    return next(one for one in verdicts if one.clause == clause_id)


# --- good bytes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["stream", "file"])
@pytest.mark.parametrize("name", [name for name in batches() if "sliced" not in name and "many" not in name])
def test_what_pyarrow_writes_is_clean(name: str, kind: str) -> None:
    """Every type, twice over, breaks no clause on bytes or writers."""
    batch = batches()[name]

    assert failures(written(kind, batch, batch), Kind(kind)) == []


def test_every_clause_on_sequences_is_shown() -> None:
    """A stream and a file with dictionaries, and a tensor, show all but what only other contents can."""
    seen = {one.clause for kind in ("stream", "file") for one in judge_ipc(written(kind, GOOD), Kind(kind))}
    seen |= {one.clause for one in judge_ipc(tensor(), Kind.TENSOR)}

    wanted = {one.id for one in ON_WHOLES if one.chapter != "sparse" and one.role is Role.BYTES}
    assert wanted <= seen


def test_messages_inside_are_judged_as_messages_are() -> None:
    """The clauses on any batch are asked of those in streams and files, dictionary batches among them."""
    seen = {one.clause for one in judge_ipc(written("stream", GOOD), Kind.STREAM)}

    alone = {one.id for one in CLAUSES.values() if "ipc-stream" in one.profiles and "ipc-message" in one.profiles}
    assert len(alone) >= 85
    assert alone <= seen


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
@pytest.mark.parametrize("kind", ["stream", "file"])
def test_compressed_bytes_are_clean(kind: str, codec: str) -> None:
    """Compression of dictionaries and batches breaks nothing."""
    assert failures(written(kind, GOOD, compression=codec), Kind(kind)) == []


@pytest.mark.parametrize("options", [{"use_legacy_format": True}, {"metadata_version": pa.ipc.MetadataVersion.V4}])
def test_what_older_writers_wrote_is_clean(options: dict[str, object]) -> None:
    """Framing as before 0.15 and V4 are legal from end to end."""
    assert failures(written("stream", GOOD, **options), Kind.STREAM) == []


def test_a_stream_may_just_stop() -> None:
    """To close the transport after a message ends a stream."""
    assert failures(SCHEMA + BATCH, Kind.STREAM) == []
    assert failures(SCHEMA, Kind.STREAM) == []


# --- broken bytes -------------------------------------------------------------------------------------

CASCADES = {
    Rule.STREAM_SCHEMA_FIRST: {"stream.one-schema"},
    Rule.STREAM_MESSAGE_KIND: {"structure.required-slots"},
    Rule.BLOCK_OFFSET_NOT_MULTIPLE_OF_8: {
        "file.blocks-are-messages",
        "file.block-lengths",
        "framing.metadata-alignment",
    },
    Rule.BLOCK_METADATA_LENGTH_NOT_MULTIPLE_OF_8: {"file.block-lengths"},
    Rule.BLOCK_NO_MESSAGE: {"file.blocks-inside"},
    Rule.BLOCK_NOT_IN_STREAM: {"body.buffer-count"},
    Rule.BLOCK_OVERLAP: {"body.buffer-count", "file.blocks-are-messages"},
}
"""Rules that cannot be broken alone, with the clauses that fail in addition to the rule's own."""


@pytest.mark.parametrize("rule", [rule for rule in broken() if rule not in NOT_ASKED])
def test_a_broken_rule_is_told_by_its_clause_and_no_other(rule: Rule) -> None:
    """One fault, one clause: consequences are reported only where the bytes cannot have the fault without them."""
    kind, data = broken()[rule]

    assert set(failures(data, kind)) == {clauses_of_rules(f"ipc-{kind}")[rule], *CASCADES.get(rule, ())}


def test_every_clause_on_wholes_fails_something() -> None:
    """No clause on wholes asks about rules that nothing breaks."""
    cut = {failures(data, Kind.STREAM)[0] for data in (b"", b"noise, and more", SCHEMA + BATCH[:-3])}
    second = set(failures(tensor() + tensor(), Kind.TENSOR)) | set(failures(SCHEMA, Kind.TENSOR))
    found = {one for rule, (kind, data) in broken().items() for one in failures(data, kind) if rule not in NOT_ASKED}

    gaps = {one for made in IPC_VARIATIONS["tensor.data-later"].make() for one in failures(made.data, Kind.TENSOR)}

    assert {one.id for one in ON_WHOLES} - found - cut - second - gaps == set()


def test_every_rule_is_asked_about() -> None:
    """Each rule of the wire is asked about in streams, files or tensors, or in messages alone, or not for a reason."""
    of_messages = {rule for one in CLAUSES.values() if one.on_messages for rule in one.rules}

    assert set(Rule) - asked_rules() - of_messages == set(NOT_ASKED)


@pytest.mark.parametrize("profile", IPC)
def test_a_rule_has_one_clause(profile: str) -> None:
    """No two clauses of the profile name it for messages, and no two for wholes; the lookup gives that one."""
    clauses = ipc_clauses(profile, writer=True)

    for rule, clause_id in clauses_of_rules(profile).items():
        side = type(CLAUSES[clause_id].over)
        assert [one.id for one in clauses if rule in one.rules and isinstance(one.over, side)] == [clause_id]


def test_places_count_from_the_first_byte() -> None:
    """A fault in the second batch of a stream or file is found at its position."""
    wrong = batch_message(2, [(2, 3)], [b"", i4(1, 2)])
    data = SCHEMA + BATCH + wrong + END

    (finding,) = reported(judge_ipc(data, Kind.STREAM), "body.null-count-range").findings

    assert (finding.call, finding.response) == (0, None)
    assert (finding.start or 0) >= len(SCHEMA + BATCH)
    assert data[finding.start : finding.end] != b""


@pytest.mark.parametrize(
    ("data", "clauses"),
    [
        (b"", ["stream.not-empty"]),
        (b"not Arrow at all", ["stream.prefixes"]),
        (SCHEMA + BATCH + END[:3], ["stream.whole"]),
        (SCHEMA + BATCH[:20], ["stream.whole"]),
        (SCHEMA + BATCH[:-1], ["stream.whole"]),
        (SCHEMA + BATCH + b"\xff\xff\xff\xff\xf0\xff\xff\xff", ["framing.metadata-length"]),
        (SCHEMA + BATCH + bytes(4), ["stream.one-framing"]),
        (SCHEMA + SCHEMA + END, ["stream.one-schema"]),
        (BATCH + END, ["stream.schema-first"]),
        (END, ["stream.schema-first"]),
        (SCHEMA + BATCH + END + END, ["stream.nothing-after-end"]),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, list) else "",
)
def test_how_a_stream_is_framed(data: bytes, clauses: list[str]) -> None:
    """Each way to begin and end wrongly has its clause."""
    assert failures(data, Kind.STREAM) == clauses


def test_noise_passes_nothing_about_what_streams_hold() -> None:
    """Bytes that are no message show nothing about schemas, batches and dictionaries."""
    passed = {one.clause for one in judge_ipc(b"\x7fnoise" * 9, Kind.STREAM) if one.outcome is Outcome.PASS}

    assert passed <= {"stream.not-empty", "framing.metadata-length"}


def test_the_footer_is_judged_as_metadata() -> None:
    """A footer whose FlatBuffers lead elsewhere breaks the clauses on metadata."""
    data = bytearray(written("file", GOOD))
    size = int.from_bytes(data[-10:-6], "little")
    data[-10 - size : -6 - size] = (1 << 20).to_bytes(4, "little")

    assert "structure.root-in-range" in failures(bytes(data), Kind.FILE)


@pytest.mark.parametrize("seed", range(3))
def test_mutated_bytes_are_judged(seed: int) -> None:
    """Flipped and cut bytes end in verdicts, never in an exception, and every finding is inside the bytes."""
    rng = random.Random(seed)
    corpus = [(Kind.STREAM, written("stream", GOOD)), (Kind.FILE, written("file", GOOD)), (Kind.TENSOR, tensor())]
    for _ in range(150):
        kind, good = rng.choice(corpus)
        data = bytearray(good[: rng.randrange(1, len(good))] if rng.random() < 0.2 else good)
        for _ in range(rng.randrange(1, 4)):
            data[rng.randrange(len(data))] = rng.randrange(256)

        for verdict in judge_ipc(bytes(data), kind, writer=True):
            for finding in verdict.findings:
                assert finding.start is None or 0 <= finding.start <= len(data)
                assert finding.call == 0


def test_a_fault_has_one_owner() -> None:
    """The rules of wholes and those of messages divide what the wire can say."""
    for profile in ("ipc-stream", "ipc-file"):
        for rule, clause_id in clauses_of_rules(profile).items():
            if rule is not Rule.PREFIX_CONTINUATION_MISSING:
                assert isinstance(CLAUSES[clause_id].over, Wholes) is is_of_the_whole(rule), rule


def test_broken_metadata_in_a_legacy_stream_is_told() -> None:
    """In legacy framing, a message whose metadata cannot be read is still a message."""
    data = bytearray(written("stream", GOOD, use_legacy_format=True))
    second = next(one for one in read_stream(bytes(data)).messages[1:] if one.header is Header.RECORD_BATCH)
    data[second.metadata_start : second.metadata_start + 4] = (1 << 20).to_bytes(4, "little")

    assert failures(bytes(data), Kind.STREAM) == ["structure.root-in-range"]


def test_a_fault_behind_an_inner_message_belongs_to_the_outer_one() -> None:
    """A file may list a message that lies in the body of another; each has the faults that were found in reading it."""
    fields = [field("b", "Binary"), field("t", "Time", unit=0, bitWidth=32)]
    inner = batch_message(0, [(0, 0), (0, 0)], [b"", b"", b"", b"", b""])
    buffers = [b"", i4(0, len(inner)), inner, b"", i4(86_400)]
    file = Sealed([schema_message(*fields), batch_message(1, [(1, 0), (1, 0)], buffers)], fields)
    start, metadata, _ = outer = file.blocks[1]
    data = file.seal(batches=[outer, (start + metadata + 8, len(inner), 0)])

    assert "body.times-within-day" in failures(data, Kind.FILE)
