"""The changes that mutate bytes, each a function from choices and bytes to bytes; none of them ever raises.

The anatomy describes the bytes before any change: after other changes, a place may belong to something else or be
beyond the end.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, TypeAlias

from conformance.generate.choices import Seeded
from conformance.generate.mangling import ONE_CHANGE, Change, messages_of
from conformance.generate.subject import Anatomy, LegalBytes

__all__ = ["CHANGES", "Mutation", "Patient"]

_EXTREMES: Final = tuple(
    sorted(
        {
            0,
            1,
            -1,
            7,
            8,
            *(sign * (1 << bits) - low for bits in (15, 16, 31, 40, 62, 63) for sign in (1, -1) for low in (0, 1)),
        }
    )
)


@dataclasses.dataclass(frozen=True, slots=True)
class Patient:
    """The bytes to change, their anatomy before the first change, and other subjects to take pieces from."""

    data: bytearray
    anatomy: Anatomy
    others: Sequence[LegalBytes]


Mutation: TypeAlias = Callable[[Seeded, Patient], bytearray]
"""One change; it may modify the bytes of the patient."""


def _mangling(change: Change) -> Mutation:
    """Return a mutation that makes a change of mangled vectors, at the places of the messages before any other
    change.
    """

    def made(choices: Seeded, patient: Patient) -> bytearray:
        size = len(patient.data)
        there = [
            message for message in patient.anatomy.messages if message.metadata_end <= size and message.end <= size
        ]
        return change(choices, patient.data, there or messages_of(bytes(patient.data)))

    return made


def _number(choices: Seeded, patient: Patient) -> bytearray:
    """Write an extreme value over a number of the metadata."""
    data = patient.data
    if patient.anatomy.numbers:
        _put(data, choices.pick(patient.anatomy.numbers), choices.pick((2, 4, 4, 8)), _value(choices, len(data)))
    return data


def _numbers(choices: Seeded, patient: Patient) -> bytearray:
    """Change one number everywhere in the metadata: a length together with all equal values."""
    data = patient.data
    if not patient.anatomy.numbers:
        return data
    width = choices.pick((4, 8))
    at = choices.pick(patient.anatomy.numbers)
    old, new = bytes(data[at : at + width]), _value(choices, len(data))
    for place in patient.anatomy.numbers:
        if data[place : place + width] == old:
            _put(data, place, width, new)
    return data


def _value(choices: Seeded, size: int) -> int:
    """Return an extreme value, or a number that could be a place or a length in the bytes."""
    return choices.integer(0, size) if choices.integer(0, 3) == 0 else choices.pick(_EXTREMES)


def _put(data: bytearray, at: int, width: int, value: int) -> None:
    """Overwrite bytes at a place, up to the end of the data."""
    packed = (value & (1 << 8 * width) - 1).to_bytes(width, "little")
    data[at : at + width] = packed[: max(0, len(data) - at)]


def _resized(choices: Seeded, patient: Patient) -> bytearray:
    """Make a body longer or shorter, together with the length in its metadata."""
    data, anatomy = patient.data, patient.anatomy
    if not anatomy.body_lengths:
        return data
    at = choices.pick(anatomy.body_lengths)
    end = next((each.end for each in anatomy.messages if each.metadata_start <= at < each.metadata_end), len(data) + 1)
    by = choices.pick((8, 64, 4096, -8, -64))
    if end > len(data):
        return data
    (body,) = struct.unpack_from("<q", data, at)
    if body + by < 0:
        return data
    _put(data, at, 8, body + by)
    data[end + min(by, 0) : end] = bytes(max(by, 0))
    return data


def _stretched(choices: Seeded, patient: Patient) -> bytearray:
    """Make metadata longer by padding, together with the length in its prefix."""
    data, message = patient.data, choices.pick(patient.anatomy.messages)
    at = message.metadata_start - 4
    if at < 0 or message.metadata_end > len(data):
        return data
    by = choices.pick((4, 8, 64))
    (length,) = struct.unpack_from("<i", data, at)
    _put(data, at, 4, length + by)
    data[message.metadata_end : message.metadata_end] = bytes(by)
    return data


def _splice(choices: Seeded, patient: Patient) -> bytearray:
    """Put a piece of another subject of the kind over or between the bytes."""
    data, other = patient.data, choices.pick(choices.pick(patient.others).parts)
    at, start = _aligned(choices, len(data)), _aligned(choices, len(other))
    piece = other[start : start + 8 * choices.integer(1, 16)]
    data[at : at + choices.pick((0, 8, 64, len(piece)))] = piece
    return data


def _foreign(choices: Seeded, patient: Patient) -> bytearray:
    """Put a whole message of another subject in place of a message or before it."""
    data, other = patient.data, choices.pick(patient.others)
    part = choices.integer(0, len(other.parts) - 1)
    theirs, ours = choices.pick(other.anatomies[part].messages), choices.pick(patient.anatomy.messages)
    end = ours.end if choices.integer(0, 1) else ours.start
    data[ours.start : end] = other.parts[part][theirs.start : theirs.end]
    return data


def _reversed(_: Seeded, patient: Patient) -> bytearray:
    """Put all messages into the reverse order."""
    data, messages = patient.data, patient.anatomy.messages
    pieces = [data[message.start : message.end] for message in reversed(messages)]
    data[messages[0].start : messages[-1].end] = b"".join(pieces)
    return data


def _repeated(choices: Seeded, patient: Patient) -> bytearray:
    """Repeat one message many times."""
    data, message = patient.data, choices.pick(patient.anatomy.messages)
    data[message.end : message.end] = data[message.start : message.end] * choices.integer(2, 8)
    return data


def _removed(choices: Seeded, patient: Patient) -> bytearray:
    at = choices.integer(0, len(patient.data) - 1)
    del patient.data[at : at + choices.integer(1, 32)]
    return patient.data


def _inserted(choices: Seeded, patient: Patient) -> bytearray:
    at = choices.integer(0, len(patient.data))
    patient.data[at:at] = bytes(choices.integer(0, 255) for _ in range(choices.integer(1, 16)))
    return patient.data


def _extreme(choices: Seeded, patient: Patient) -> bytearray:
    """Write an extreme value anywhere, which is mostly in bodies."""
    _put(patient.data, _aligned(choices, len(patient.data)), choices.pick((4, 8)), choices.pick(_EXTREMES))
    return patient.data


def _end(choices: Seeded, patient: Patient) -> bytearray:
    """Cut off the last few bytes."""
    del patient.data[max(0, len(patient.data) - choices.integer(1, 64)) :]
    return patient.data


def _aligned(choices: Seeded, size: int) -> int:
    return choices.integer(0, max(0, size - 1)) // 8 * 8


CHANGES: Final[Mapping[str, Mutation]] = MappingProxyType(
    {
        **{change.__name__.strip("_"): _mangling(change) for change in dict.fromkeys(ONE_CHANGE)},
        **{
            change.__name__.strip("_"): change
            for change in (
                _number,
                _numbers,
                _resized,
                _stretched,
                _splice,
                _foreign,
                _reversed,
                _repeated,
                _removed,
                _inserted,
                _extreme,
                _end,
            )
        },
    }
)
"""Every change by name."""
