"""The rules of the protobuf encoding, and what it permits although writers rarely do it: two closed sets.

Bytes that break a rule have a *fault*: parsers refuse them, or each parser makes something else of them. An
*observation* has another type, because it is permitted; a clause may still forbid it in some message.
"""

from __future__ import annotations

import dataclasses
from typing import Final

from conformance.wire.faults import MAX_FAULTS, Fault, Severity, WireRule

__all__ = ["EncodingNote", "PermittedEncoding", "ProtobufRule"]

_ENCODING: Final = "https://protobuf.dev/programming-guides/encoding/"
_PROTO3: Final = "https://protobuf.dev/programming-guides/proto3/"
_VARINTS: Final = f"{_ENCODING}#varints"
_STRUCTURE: Final = f"{_ENCODING}#structure"
_CARD: Final = f"{_ENCODING}#cheat-sheet"
_GROUPS: Final = f"{_ENCODING}#groups"
_LAST: Final = f"{_ENCODING}#last-one-wins"
_LIMITS: Final = "https://protobuf.dev/programming-guides/proto-limits/"
_CPP_STREAM: Final = "https://protobuf.dev/reference/cpp/api-docs/google.protobuf.io.coded_stream/"

_V: Final = Severity.VIOLATION
_N: Final = Severity.NOTE


class ProtobufRule(WireRule):
    """One requirement on the bytes of a protobuf message."""

    # fmt: off
    # One rule per entry, without the formatter: code, severity and source, then the requirement.
    VARINT_TRUNCATED = ("protobuf.varint-truncated", _V, _VARINTS,
        "a varint ends inside the message that contains it")
    VARINT_TOO_LONG = ("protobuf.varint-too-long", _V, _CARD,
        "a varint has at most 10 bytes; a tag or a length, which have 32 bits, at most 5")
    VARINT_OVERFLOW = ("protobuf.varint-overflow", _V, _VARINTS,
        "a varint has at most 64 bits, so that its tenth byte is 1 or 0")
    FIELD_NUMBER = ("protobuf.field-number", _V, f"{_PROTO3}#assigning",
        "a field number is at least 1 and at most 536870911")
    WIRE_TYPE_UNKNOWN = ("protobuf.wire-type-unknown", _V, _STRUCTURE,
        "a wire type is one of 0 to 5; without it nobody knows where the value ends")
    WIRE_TYPE_DIFFERS = ("protobuf.wire-type-differs", _V, _CARD,
        "a field has the wire type of its declared type; parsers refuse another one, or lose the value")
    LENGTH_BEYOND = ("protobuf.length-beyond", _V, _STRUCTURE,
        "as many bytes follow a length, inside the message that contains it, as the length declares")
    FIXED_TRUNCATED = ("protobuf.fixed-truncated", _V, f"{_ENCODING}#non-varints",
        "a fixed-width value has its 4 or 8 bytes inside the message that contains it")
    GROUP_NOT_ENDED = ("protobuf.group-not-ended", _V, _GROUPS,
        "a group ends, with the field number that started it, inside the message that contains it")
    GROUP_NOT_STARTED = ("protobuf.group-not-started", _V, _GROUPS,
        "the end of a group follows its start")
    PACKED_SIZE = ("protobuf.packed-size", _V, f"{_ENCODING}#packed",
        "packed fixed-width values fill the bytes that their length declares")
    STRING_NOT_UTF8 = ("protobuf.string-not-utf8", _V, f"{_PROTO3}#scalar",
        "a string is UTF-8")
    DEPTH = ("protobuf.depth", _N, _CPP_STREAM,
        "messages and groups nest at most 100 deep, the default limit of parsers; the encoding has none")
    FIELDS = ("protobuf.fields", _N, _LIMITS,
        "a message has at most 262144 fields and packed values, the limit of this reader; the rest is not read")
    # fmt: on


class PermittedEncoding(WireRule):
    """Something that the protobuf encoding permits, or that parsers have to accept, although few writers do it.

    ``requirement`` states what writers usually do instead.
    """

    # fmt: off
    FIELD_ORDER = ("protobuf.field-order", _N, f"{_ENCODING}#order",
        "fields are written in the order of their numbers; parsers accept any order")
    FIELD_REPEATED = ("protobuf.field-repeated", _N, _LAST,
        "a singular field occurs once; of several values the last one counts")
    MESSAGE_MERGED = ("protobuf.message-merged", _N, _LAST,
        "a singular message field occurs once; parsers merge several into one message")
    ONEOF_REPEATED = ("protobuf.oneof-repeated", _N, f"{_ENCODING}#oneofs",
        "at most one field of a oneof occurs; of several the last one counts")
    FIELD_UNKNOWN = ("protobuf.field-unknown", _N, f"{_PROTO3}#unknowns",
        "a message has only the fields that its definition names; parsers skip the others, of a later definition")
    GROUP = ("protobuf.group", _N, _GROUPS,
        "no field is a group, a deprecated form; parsers skip groups as they skip unknown fields")
    VARINT_OVERLONG = ("protobuf.varint-overlong", _N, _VARINTS,
        "a varint has no more bytes than its value needs; parsers accept zero bits above it")
    VALUE_TRUNCATED = ("protobuf.value-truncated", _N, f"{_PROTO3}#updating",
        "a value fits the type of its field; parsers cut it as a cast would")
    ENUM_UNKNOWN = ("protobuf.enum-unknown", _N, f"{_PROTO3}#enum",
        "the value of an enumeration is one that its definition names; parsers keep others")
    DEFAULT_WRITTEN = ("protobuf.default-written", _N, f"{_PROTO3}#default",
        "a default value is left out, because it means the same as an absent field")
    PACKING = ("protobuf.packing", _N, f"{_ENCODING}#packed",
        "repeated numbers are packed; parsers accept both forms")
    # fmt: on


@dataclasses.dataclass(frozen=True, slots=True)
class EncodingNote:
    """Something permitted, at one place: ``start`` and ``end`` are offsets in the bytes that were read."""

    sort: PermittedEncoding
    start: int
    end: int
    path: str
    observed: str

    @property
    def note(self) -> Fault:
        """The same as a fault of severity *note*, for a list or a dump that shows both."""
        return Fault(self.sort, self.start, self.end, self.path, self.sort.requirement, self.observed)


MAX_OBSERVATIONS: Final = MAX_FAULTS
"""The number of observations kept for each message."""
