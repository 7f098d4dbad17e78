"""The annotated dump of Flight's messages: every byte once, and the IPC message inside at the bytes that were sent."""

from __future__ import annotations

import itertools
import random

import pytest

from conformance.contract.protoclasses import message_classes
from conformance.protocols.flight.wire.messages import FLIGHT, PACKAGE
from conformance.protocols.flight.wire.plugin import PLUGIN
from conformance.wire import Dissection, Header, ProtobufRule, RegionKind, Rule, SectionKind, dissect, read_schema
from conformance.wire import lines as dump_lines
from conformance.wire.protobufdissect import dissect_protobuf
from tests.protocols.flight.wire.samples import divided, flight_data, streamed
from tests.protocols.flight.wire.test_data import ORDERS
from tests.wire.breaking import GOOD_BATCH, GOOD_SCHEMA
from tests.wire.breaking_files import GOOD_TENSOR
from tests.wire.corpus import batches, pair
from tests.wire.proto_samples import BROKEN, KINDS, UNUSUAL, delimited
from tests.wire.test_robustness import _mutate

SCHEMA = read_schema(GOOD_SCHEMA).schema
CLASSES = message_classes(PACKAGE, FLIGHT)


def assert_covered(dissection: Dissection) -> None:
    """Each byte belongs to one region, and the regions come in order."""
    at = 0
    for region in dissection.regions:
        assert region.start == at < region.end
        at = region.end
    assert at == len(dissection.data)


def dump(data: bytes, name: str = "FlightData") -> str:
    """The dump of a message of Flight."""
    return "\n".join(dump_lines(dissect_protobuf(data, FLIGHT[name], PLUGIN, SCHEMA)))


def test_every_byte_is_covered_and_known() -> None:
    """Of every type, in changing orders of fields, no byte is of no known part."""
    for order, (name, batch) in zip(itertools.cycle(ORDERS), batches().items(), strict=False):
        if "sliced" in name:
            continue
        schema = read_schema(pair(batch)[0]).schema
        for message in divided(streamed(batch)):
            sent = flight_data(message, order=order, metadata=b"m", descriptor=b"\x08\x02\x12\x01x")
            dissection = dissect_protobuf(sent, FLIGHT["FlightData"], PLUGIN, schema)

            assert_covered(dissection)
            # Without the stream, the body of a dictionary batch has no schema.
            if dissection.messages[0].header is not Header.DICTIONARY_BATCH:
                assert RegionKind.UNKNOWN not in {region.kind for region in dissection.regions}


def test_the_metadata_has_the_regions_of_the_bare_message() -> None:
    """Only the offsets differ, and the prefix, which Flight does not send."""
    bare = dissect(GOOD_BATCH, SCHEMA)
    inside = dissect_protobuf(flight_data(GOOD_BATCH), FLIGHT["FlightData"], PLUGIN, SCHEMA)
    parts = [
        [(one.end - one.start, one.path, one.meaning) for one in each.regions if one.kind not in leave]
        for each, leave in ((bare, {RegionKind.PREFIX}), (inside, {RegionKind.FIELD}))
    ]

    assert parts[0] == parts[1]
    assert inside.faults == ()


def test_dump_reads_as_a_person_reads() -> None:
    """Field, number, wire type and length in one row; offsets of the metadata are those of the message."""
    text = dump(flight_data(GOOD_BATCH, metadata=b"hi", descriptor=b"\x08\x01\x1a\x01a"))

    for line in (
        "── FlightData, bytes 0 to 169 ",
        "0x0000  0a 05                    flight_descriptor       field 1, LEN of 5 bytes",
        "        FlightData.flight_descriptor",
        "0x0002  08 01                    type                    field 1, VARINT: 1 PATH",
        "0x0006  61                       value                   'a'",
        "0x0007  12 90 01                 data_header             field 2, LEN of 144 bytes",
        "── 1. RecordBatch message V5, bytes 10 to 169 ",
        "0x000a  10 00 00 00              root table              → 0x001a Message",
        "0x009c  68 69                    value                   b'hi'",
        "0x009e  c2 3e 08                 data_body               field 1000, LEN of 8 bytes",
    ):
        assert line in text, text


def test_a_message_of_any_kind_can_be_dumped() -> None:
    """Each message of Flight, with a value in each of its fields."""
    info = CLASSES["FlightInfo"](schema=GOOD_SCHEMA, total_records=-1, ordered=True)
    info.endpoint.add().location.add(uri="grpc://host\n")
    poll = CLASSES["PollInfo"](info=info, progress=0.5)
    options = CLASSES["SetSessionOptionsRequest"]()
    options.session_options["x"].int64_value = -7

    for name, message in (("FlightInfo", info), ("PollInfo", poll), ("SetSessionOptionsRequest", options)):
        dissection = dissect_protobuf(message.SerializeToString(), FLIGHT[name], PLUGIN)

        assert_covered(dissection)
        assert RegionKind.UNKNOWN not in {region.kind for region in dissection.regions}
    assert "progress                field 3, I64: 0.5" in dump(poll.SerializeToString(), "PollInfo")
    assert "ordered                 field 6, VARINT: true" in dump(info.SerializeToString(), "FlightInfo")
    assert "int64_value             field 3, I64: -7" in dump(options.SerializeToString(), "SetSessionOptionsRequest")


@pytest.mark.parametrize("name", ["FlightInfo", "SchemaResult"])
def test_a_schema_in_a_field_has_its_prefix(name: str) -> None:
    """These two messages carry the IPC form, whose prefix is part of the field."""
    data = delimited(1, GOOD_SCHEMA)
    dissection = dissect_protobuf(data, FLIGHT[name], PLUGIN)
    (content,) = PLUGIN.contents(data, FLIGHT[name])

    assert dissection.schema == SCHEMA
    assert [(section.kind, section.start) for section in dissection.sections] == [
        (SectionKind.OTHER, 0),
        (SectionKind.SCHEMA, 3),
    ]
    assert "0x0003  ff ff ff ff              continuation word" in dump(data, name)
    assert (content.data, content.back(8, 12)) == (GOOD_SCHEMA, (11, 15))


def test_messages_without_an_arrow_message() -> None:
    """Metadata alone, nothing at all, and a message that never has one."""
    for data, name in ((flight_data(metadata=b"m"), "FlightData"), (b"", "FlightData"), (b"\x0a\x01x", "Ticket")):
        dissection = dissect_protobuf(data, FLIGHT[name], PLUGIN)

        assert_covered(dissection)
        assert PLUGIN.contents(data, FLIGHT[name]) == []
        assert (dissection.messages, dissection.faults) == ((), ())


def test_faults_and_notes_are_at_the_bytes_that_were_sent() -> None:
    """Of the encoding, of the message as a whole, and of the IPC message inside."""
    cut = flight_data(GOOD_BATCH[:-4], order="body header") + b"\x0e"
    faults = {fault.rule: fault for fault in dissect_protobuf(cut, FLIGHT["FlightData"], PLUGIN, SCHEMA).faults}
    (orphan,) = dissect_protobuf(flight_data(body=b"12345678"), FLIGHT["FlightData"], PLUGIN).faults

    assert ProtobufRule.WIRE_TYPE_UNKNOWN in faults
    assert "protobuf.field-order" in {str(rule) for rule in faults}
    body = faults[Rule.MESSAGE_BODY_TRUNCATED]
    assert cut[body.start : body.end] == GOOD_BATCH[-8:-4]
    assert (orphan.rule, orphan.start, orphan.end) == (Rule.MESSAGE_HEADER_MISSING, 3, 11)


def test_a_tensor_is_dumped_too() -> None:
    """Flight does not forbid it; a clause may."""
    dissection = dissect_protobuf(flight_data(GOOD_TENSOR), FLIGHT["FlightData"], PLUGIN)

    assert_covered(dissection)
    assert dissection.messages[0].header is Header.TENSOR


@pytest.mark.parametrize(
    "data", [data for group in (BROKEN, UNUSUAL) for some in group.values() for data in some[:2]], ids=len
)
def test_broken_messages_are_covered(data: bytes) -> None:
    """Bytes that break a rule are dumped up to the break; the rest has no known part."""
    assert_covered(dissect_protobuf(data[:400], KINDS["Kinds"], PLUGIN))


def test_a_schema_field_without_an_arrow_message_is_shown_as_such() -> None:
    """The prefix is cut, or negative."""
    for schema in (GOOD_SCHEMA[:6], b"\xff\xff\xff\xff\xfe\xff\xff\xff"):
        dissection = dissect_protobuf(b"\x20\x01" + delimited(1, schema), FLIGHT["FlightInfo"], PLUGIN)

        assert_covered(dissection)
        assert (dissection.regions[-1].start, dissection.regions[-1].meaning) == (4, "no message begins here")
        assert {fault.start >= 4 for fault in dissection.faults if isinstance(fault.rule, Rule)} == {True}


def test_any_bytes_are_covered() -> None:
    """Mutated messages never raise, and no byte is lost."""
    rng = random.Random(20261123)
    for _ in range(300):
        data = _mutate(flight_data(rng.choice([GOOD_SCHEMA, GOOD_BATCH]), metadata=b"m"), rng)
        dissection = dissect_protobuf(data, FLIGHT["FlightData"], PLUGIN, SCHEMA)

        assert_covered(dissection)
        assert dump_lines(dissection) is not None
        assert all(0 <= fault.start <= fault.end <= len(data) for fault in dissection.faults)
