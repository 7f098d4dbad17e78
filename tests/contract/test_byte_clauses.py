"""The clauses on bytes: each passes good bytes and fails bytes with its deviation, and no rule is forgotten."""

from __future__ import annotations

import itertools
import pkgutil
import re
import struct
from collections.abc import Callable

import pyarrow as pa
import pytest

from conformance import wire
from conformance.contract import chapters
from conformance.contract.clause import CLAUSES, Clause, Violation, load_chapters
from conformance.contract.files import judge_bytes
from conformance.contract.messages import Message, Messages, ShownMessages
from conformance.contract.rules import NOT_ASKED
from conformance.contract.view import BatchBytes, SchemaBytes
from conformance.protocol import DEFAULT_PROTOCOL, protocol_files
from conformance.records import Level, Outcome
from conformance.reference.message import batch_message, schema_message
from tests.contract.byte_samples import BATCHES, SCHEMAS, broken_messages, framed_messages, good_messages
from tests.fixtures import real_bigquery

load_chapters()
ON_MESSAGES = [clause for clause in CLAUSES.values() if isinstance(clause.over, Messages)]
CHAPTERS = {"framing", "structure", "body", "buffers", "layouts", "schema", "types", "values", "readers"}
OURS = [clause for clause in CLAUSES.values() if clause.chapter in CHAPTERS]


def violations(clause: Clause, message: Message) -> list[Violation]:
    """A clause's findings in a message, if the clause is about this kind of message."""
    assert isinstance(clause.over, Messages)
    kind = ShownMessages.SCHEMAS if isinstance(message, SchemaBytes) else ShownMessages.BATCHES
    return list(clause.check(message)) if kind in clause.over.shown else []


def failing(clause: Clause) -> list[wire.Rule]:
    """The rules whose broken bytes a clause fails."""
    return [rule for rule, message in broken_messages().items() if violations(clause, message)]


@pytest.mark.parametrize("clause", ON_MESSAGES, ids=lambda clause: clause.id)
def test_clause_passes_good_bytes(clause: Clause) -> None:
    """No clause finds anything in messages without a fault."""
    schema, batch = good_messages()

    assert [*violations(clause, schema), *violations(clause, batch)] == []


DECLARED_BY_A_SCHEMA = {
    "framing.schema-without-dictionary": pa.field("c", pa.dictionary(pa.int32(), pa.utf8())),
    "schema.item-name": pa.field("c", pa.list_(pa.field("element", pa.int64())), nullable=False),
    "schema.item-nullable": pa.field("c", pa.list_(pa.field("item", pa.int64(), nullable=False)), nullable=False),
    "schema.metadata-keys": pa.field("c", pa.int64(), metadata={"BIGQUERY:type": "INT64"}),
}
"""Clauses on what a schema declares, with a field that breaks each."""


@pytest.mark.parametrize("clause", ON_MESSAGES, ids=lambda clause: clause.id)
def test_clause_fails_bytes_with_its_deviation(clause: Clause) -> None:
    """Every clause finds something in bytes that were made to break what it asks for."""
    if clause.id in DECLARED_BY_A_SCHEMA:
        field = DECLARED_BY_A_SCHEMA[clause.id]
        message = SchemaBytes(0, 0, pa.schema([field]).serialize().to_pybytes(), "serializer")
        assert violations(clause, message)
    elif clause.id == "schema.no-metadata":
        data = pa.schema([pa.field("c", pa.int64())], metadata={"pandas": "{}"}).serialize().to_pybytes()
        assert violations(clause, SchemaBytes(0, 0, data, "serializer"))
    else:
        assert failing(clause) or any(violations(clause, message) for message in framed_messages(clause.id))


@pytest.mark.parametrize("clause_id", [*SCHEMAS, *BATCHES])
def test_a_deviation_of_the_framing_is_told_once(clause_id: str) -> None:
    """One clause reports a fault of a field, and no other clause does."""
    (message,) = framed_messages(clause_id)

    found_by = {clause.id for clause in ON_MESSAGES if "bq-arrow" in clause.profiles and violations(clause, message)}

    assert found_by == {clause_id}


@pytest.mark.parametrize("rule", broken_messages())
def test_a_broken_rule_is_told_by_clauses_that_name_it(rule: wire.Rule) -> None:
    """Whatever a clause reports of broken bytes is a fault under one of its rules, and the rule is reported."""
    message = broken_messages()[rule]
    rules = {(fault.path, fault.start, fault.observed): fault.rule for fault in message.faults}
    found = [(clause, one) for clause in ON_MESSAGES if clause.rules for one in violations(clause, message)]

    found_by = [(clause, rules[one.field, one.start, one.observed]) for clause, one in found]

    assert all(reported in clause.rules for clause, reported in found_by)
    assert rule in {reported for _, reported in found_by} or rule in NOT_ASKED


@pytest.mark.parametrize("clause", OURS, ids=lambda clause: clause.id)
def test_clause_says_what_where_and_in_whose_words(clause: Clause) -> None:
    """A clause has a permanent id, a level, an explanation and a public source; a MUST says who suffers."""
    assert re.fullmatch(r"[a-z]+(\.[a-z0-9]+(-[a-z0-9]+)*)", clause.id)
    assert clause.level in Level
    assert len(clause.explanation) >= 30
    assert clause.explanation.split("\n")[0].endswith((".", "…", ":"))
    assert clause.source.startswith("https://")


def test_a_clause_stands_in_its_chapter() -> None:
    """The first part of its id is the name of the module that registers it, where "_" stands for "-".

    In the folder of a protocol that is not the default one, the name of the protocol comes before that of the module.
    """
    names = [name for name, _ in itertools.groupby(CLAUSES.values(), lambda clause: clause.chapter)]
    modules = [module.name for module in pkgutil.iter_modules(chapters.__path__)]
    for folder in protocol_files("chapters"):
        word = "" if folder.parent.name == DEFAULT_PROTOCOL.replace("-", "_") else f"{folder.parent.name}_"
        modules += [f"{word}{module.name}" for module in pkgutil.iter_modules([str(folder)])]

    assert sorted(names) == sorted(name.replace("_", "-") for name in modules)


def test_there_are_enough_clauses() -> None:
    """The two halves of the contract keep their number."""
    assert len(OURS) >= 80
    assert sum(clause.on_messages for clause in CLAUSES.values()) >= 120


# --- bytes from elsewhere -----------------------------------------------------------------------------


def failures(schema: bytes, batch: bytes) -> dict[str, Level]:
    """The clauses that a pair of messages fails, with their level."""
    verdicts = judge_bytes(schema, [batch])
    return {one.clause: CLAUSES[one.clause].level for one in verdicts if one.outcome is Outcome.FAIL}


@pytest.mark.parametrize(
    "names", [("arrowDateTimeSchema", "arrowDateTimeRowsInBytes"), ("pekko_ten.arrowschema", "pekko_ten.arrow")]
)
def test_messages_captured_from_the_service_are_clean(names: tuple[str, str]) -> None:
    """The v1 pairs that public connectors captured break nothing at any level."""
    schema, batch = map(real_bigquery, names)

    assert failures(schema, batch) == {}


def test_messages_captured_from_v1beta1_are_legacy_and_nothing_else() -> None:
    """The v1beta1 pair is framed as before Arrow 0.15, and its metadata version is not a finding."""
    schema, batch = real_bigquery("alltypes.arrowschema"), real_bigquery("alltypes.arrow")

    assert failures(schema, batch) == {"framing.not-legacy": Level.MUST}


def test_a_whole_stream_in_the_batch_field_is_not_one_message() -> None:
    """Schema, batch and end-of-stream marker in the batch field fail the clauses on each of the three."""
    batch = pa.RecordBatch.from_pydict({"n": pa.array([1, 2])})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)

    found = failures(batch.schema.serialize().to_pybytes(), sink.getvalue().to_pybytes())

    assert set(found) == {
        "framing.batch-without-schema",
        "framing.batch-single-message",
        "framing.batch-without-end-of-stream",
    }


def test_batch_framing_is_judged_without_a_readable_schema() -> None:
    """A schema that cannot be read does not hide what is wrong with the frame of the batch."""
    batch = pa.RecordBatch.from_pydict({"n": pa.array([1, 2])}).serialize().to_pybytes()

    found = failures(b"", batch + bytes.fromhex("ffffffff00000000"))

    assert set(found) == {"framing.schema-not-empty", "framing.batch-without-end-of-stream"}


@pytest.mark.parametrize("codec", [None, "lz4", "zstd"])
@pytest.mark.parametrize("alignment", [8, 64])
def test_pyarrow_messages_are_clean(codec: str | None, alignment: int) -> None:
    """The output of a library in wide use has no finding, compressed or not, aligned to 8 or to 64."""
    batch = pa.RecordBatch.from_pydict({"n": pa.array([1, None] * 40), "t": pa.array(["a", "bb"] * 40)}).slice(1, 70)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as writer:
        writer.write_batch(batch)
    data = list(pa.ipc.MessageReader.open_stream(sink.getvalue()))[1].serialize().to_pybytes()
    schema = batch.schema.serialize().to_pybytes()
    if alignment == 64:  # pad the metadata as writers with the recommended alignment do
        length = int.from_bytes(data[4:8], "little")
        more = -(8 + length) % 64
        data = (
            data[:4] + (length + more).to_bytes(4, "little") + data[8 : 8 + length] + bytes(more) + data[8 + length :]
        )

    assert failures(schema, data) == {}


def _decimals(kind: pa.DataType, *values: int) -> tuple[bytes, bytes]:
    data = b"".join(value.to_bytes(kind.bit_width // 8, "little", signed=True) for value in values)
    column = pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(data)])
    batch = pa.record_batch([column], names=["n"])
    return batch.schema.serialize().to_pybytes(), batch.serialize().to_pybytes()


def test_the_extremes_of_bignumeric_are_legal() -> None:
    """Values of 77 digits in decimal256(76, 38) are BIGNUMERIC's own; any other type keeps its precision."""
    extremes = -(2**255), 2**255 - 1

    assert failures(*_decimals(pa.decimal256(76, 38), *extremes)) == {}
    assert set(failures(*_decimals(pa.decimal256(76, 37), *extremes))) == {"body.decimals-within-precision"}
    assert set(failures(*_decimals(pa.decimal128(3, 1), 1000))) == {"body.decimals-within-precision"}


def test_an_unknown_profile_is_refused() -> None:
    """A profile that does not exist is named together with those that do."""
    with pytest.raises(ValueError, match="expected a profile out of bq-arrow, ipc-message, got 'flight'"):
        judge_bytes(b"", [], profile="flight")


def test_batch_bytes_without_schema_have_no_rows() -> None:
    """A batch that no schema explains cannot be decoded."""
    batch = BatchBytes(0, 0, pa.RecordBatch.from_pydict({"n": pa.array([1])}).serialize().to_pybytes(), None)

    assert batch.arrow() is None
    assert batch.faults == []


def test_a_field_without_a_column_has_a_type_of_the_service() -> None:
    """Without a table every field is judged, at any depth; types with parameters count by their kind."""
    served = [pa.decimal128(9, 2), pa.decimal256(76, 38), pa.month_day_nano_interval(), pa.timestamp("us", "UTC")]
    foreign = [pa.date64(), pa.duration("us"), pa.timestamp("us", "+00:00"), pa.large_string(), pa.uint64()]

    def observed(*kinds: pa.DataType) -> list[tuple[str, str]]:
        schema = pa.schema([pa.field(str(number), pa.struct([("x", kind)])) for number, kind in enumerate(kinds)])
        verdicts = judge_bytes(schema.serialize().to_pybytes(), [])
        return [(one.field, one.observed) for verdict in verdicts for one in verdict.findings]

    assert observed(*served) == []
    assert [path for path, _ in observed(*foreign)] == ["0.x", "1.x", "2.x", "3.x", "4.x"]


@pytest.mark.parametrize(
    ("spoil", "clause"),
    [
        (lambda data: data[:4] + struct.pack("<i", -16) + data[8:], "framing.metadata-length"),
        (lambda data: data[:4] + struct.pack("<i", 1 << 20) + data[8:], "framing.metadata-length"),
        (lambda data: data[:6], "framing.batch-prefix"),
        (lambda data: bytes(4) + data[4:], "framing.batch-prefix"),
        (lambda data: data[:4] + bytes(4) + data[8:], "framing.batch-without-end-of-stream"),
    ],
    ids=["negative", "too large", "cut", "zeros", "marker"],
)
def test_nothing_is_guessed_behind_a_broken_prefix(spoil: Callable[[bytes], bytes], clause: str) -> None:
    """One clause fails on the message, and the clauses on what follows the prefix have no subject."""
    batch = pa.record_batch([pa.array([1, 2, 3])], ["x"])
    message = spoil(batch_message(batch).encode())

    verdicts = judge_bytes(schema_message(batch.schema).encode(), [message], profile="ipc-message")

    assert [one.clause for one in verdicts if one.outcome is Outcome.FAIL] == [clause]
    assert "framing.batch-single-message" not in {one.clause for one in verdicts}
    assert "structure.header-present" in {one.clause for one in verdicts}  # of the schema
