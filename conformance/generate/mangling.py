"""Mangled bytes: one seeded change of a valid stream, file or tensor, mostly in its structure.

A change of a random byte nearly always hits a value, and any value is legal. So most changes aim at metadata and
write what breaks readers: integers at the ends of their ranges, lengths and offsets a little or far off, messages
left out, doubled or swapped. The judge decides about the result: some changes are legal.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from conformance.generate.choices import Seeded
from conformance.wire import Header, Message, read_messages

__all__ = ["ONE_CHANGE", "Change", "mangled", "messages_of"]

_MAGIC: Final = b"ARROW1"
_LEAD: Final = 8
"""The number of bytes before the stream in a file."""
_FOOTER: Final = 200
"""The number of bytes at the end in which a small file has its footer."""

Change: TypeAlias = Callable[[Seeded, bytearray, Sequence[Message]], bytearray]
"""One change of bytes whose messages are known; it may modify the bytes."""

_BYTES: Final = (0x00, 0x01, 0x7F, 0x80, 0xFF)
_WORDS: Final = (0, 1, -1, 8, 1 << 16, (1 << 31) - 1, -(1 << 31))
_LONGS: Final = (0, -1, 1 << 31, (1 << 63) - 1, -(1 << 63))


def mangled(data: bytes, seed: int, number: int) -> bytes:
    """Return ``data`` with one change, which follows from the arguments alone; the result is at most twice as long."""
    choices = Seeded(seed, number, "mangled")
    change = choices.pick(ONE_CHANGE)
    return bytes(change(choices, bytearray(data), messages_of(data))) if data else data


def messages_of(data: bytes) -> Sequence[Message]:
    """Return the messages that have metadata, at their places in the data; one that spans it if there are no
    messages.
    """
    skip = _LEAD if data.startswith(_MAGIC) else 0
    found = [
        dataclasses.replace(
            message,
            start=message.start + skip,
            end=message.end + skip,
            metadata_start=message.metadata_start + skip,
            metadata_end=message.metadata_end + skip,
        )
        for message in read_messages(data[skip:])
        if message.metadata_end > message.metadata_start
    ]
    return found or [Message(0, len(data), Header.STRAY, metadata_end=len(data))]


def _place(choices: Seeded, messages: Sequence[Message], width: int) -> int:
    """Return a place for ``width`` bytes in a prefix or in metadata, aligned to ``width``."""
    message = choices.pick(messages)
    return choices.integer(message.start, max(message.start, message.metadata_end - width)) // width * width


def _byte(choices: Seeded, data: bytearray, messages: Sequence[Message]) -> bytearray:
    data[_place(choices, messages, 1)] = choices.pick(_BYTES)
    return data


def _bit(choices: Seeded, data: bytearray, messages: Sequence[Message]) -> bytearray:
    data[_place(choices, messages, 1)] ^= 1 << choices.integer(0, 7)
    return data


def _word(choices: Seeded, data: bytearray, messages: Sequence[Message]) -> bytearray:
    at = _place(choices, messages, 4)
    data[at : at + 4] = struct.pack("<i", choices.pick(_WORDS))
    return data


def _long(choices: Seeded, data: bytearray, messages: Sequence[Message]) -> bytearray:
    at = _place(choices, messages, 8)
    data[at : at + 8] = struct.pack("<q", choices.pick(_LONGS))
    return data


def _nudge(choices: Seeded, data: bytearray, messages: Sequence[Message]) -> bytearray:
    at = _place(choices, messages, 1)
    data[at] = (data[at] + choices.pick((-8, -1, 1, 8))) & 0xFF
    return data


def _anywhere(choices: Seeded, data: bytearray, _: Sequence[Message]) -> bytearray:
    data[choices.integer(0, len(data) - 1)] = choices.pick((*_BYTES, choices.integer(0, 255)))
    return data


def _body(choices: Seeded, data: bytearray, messages: Sequence[Message]) -> bytearray:
    """Change four bytes of a body: an offset, an index, a run end."""
    message = choices.pick(messages)
    at = choices.integer(message.metadata_end, max(message.metadata_end, message.end - 4)) // 4 * 4
    data[at : at + 4] = struct.pack("<i", choices.pick(_WORDS))
    return data


def _cut(choices: Seeded, data: bytearray, _: Sequence[Message]) -> bytearray:
    return data[: choices.integer(0, len(data))]


def _drop(choices: Seeded, data: bytearray, messages: Sequence[Message]) -> bytearray:
    message = choices.pick(messages)
    return data[: message.start] + data[message.end :]


def _twice(choices: Seeded, data: bytearray, messages: Sequence[Message]) -> bytearray:
    message = choices.pick(messages)
    return data[: message.end] + data[message.start :]


def _swap(choices: Seeded, data: bytearray, messages: Sequence[Message]) -> bytearray:
    first, second = sorted((choices.pick(messages), choices.pick(messages)), key=lambda message: message.start)
    if first.start == second.start:
        return data
    between = data[first.end : second.start]
    swapped = data[second.start : second.end] + between + data[first.start : first.end]
    return data[: first.start] + swapped + data[second.end :]


def _tail(choices: Seeded, data: bytearray, _: Sequence[Message]) -> bytearray:
    """Change a byte near the end, where a file has its footer."""
    at = max(0, len(data) - choices.integer(1, _FOOTER))
    data[at] = choices.pick((*_BYTES, choices.integer(0, 255)))
    return data


_OFTEN: Final[tuple[Change, ...]] = (_byte, _bit, _word, _long, _nudge, _body)
ONE_CHANGE: Final[tuple[Change, ...]] = (*_OFTEN * 2, _nudge, _anywhere, _cut, _drop, _twice, _swap, _tail)
"""Every change, repeated by its frequency. An input's number chooses among them, so their order is part of its id."""
