"""Judging of the blocks in a file's footer against the messages that they point to.

This module decides whether each block points to a message of the right kind, and whether the footer lists every message
of the stream exactly once and in order. It does not judge the content of the messages.
"""

from __future__ import annotations

import bisect
import dataclasses
import itertools
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from conformance.wire.faults import Fault, Rule, report
from conformance.wire.footer import HEAD, Block, Footer
from conformance.wire.messages import Frame, Header, Message, read_frame

__all__ = ["Listed", "follow_blocks"]

_SIZE: Final = 24
_NONE: Final = (Header.STRAY, Header.UNKNOWN, Header.END_OF_STREAM)
"""Headers of bytes that are not a message; a block must not point to them."""


@dataclasses.dataclass(frozen=True, slots=True)
class Listed:
    """A block that points to a message of the right kind.

    ``frame`` and ``faults`` are set if the message is not one of the stream's, so that it had to be read here; for a
    message of the stream, ``frame`` is None and ``faults`` is empty.
    """

    block: Block
    path: str
    message: Message
    frame: Frame | None
    faults: list[Fault]

    @property
    def place(self) -> tuple[int, int]:
        """The position of the block itself in the file: its first byte, and the byte after its last."""
        return self.block.place, self.block.place + _SIZE


def follow_blocks(
    view: memoryview, footer: Footer, messages: Collection[Message] | None, faults: list[Fault]
) -> tuple[list[Listed], list[Listed]]:
    """The dictionary batches and the record batches that the footer lists, in its order; bad blocks become faults.

    ``messages`` are the messages of the stream, None if the stream cannot be read.
    """
    return _Follower(view[: footer.start], footer, messages, faults).follow()


class _Follower:
    def __init__(
        self, view: memoryview, footer: Footer, messages: Collection[Message] | None, faults: list[Fault]
    ) -> None:
        self.view = view
        self.footer = footer
        self.faults = faults
        self.known: Mapping[int, Message] = {
            message.start: message for message in messages or () if message.header not in _NONE
        }
        # After a message that cannot be followed, it is unknown which bytes belong to the stream.
        broken = [message.start for message in messages or () if message.header in (Header.STRAY, Header.UNKNOWN)]
        self.reach = (broken or [footer.start])[0] if messages is not None else -1
        blocks = itertools.chain(footer.dictionaries or (), footer.batches or ())
        self.starts = sorted({block.offset for block in blocks} | {footer.start})
        self.seen: set[int] = set()

    def follow(self) -> tuple[list[Listed], list[Listed]]:
        footer = self.footer
        dictionaries = self.listed("dictionaries", footer.dictionaries or (), Header.DICTIONARY_BATCH)
        batches = self.listed("recordBatches", footer.batches or (), Header.RECORD_BATCH)
        self.apart(sorted(dictionaries + batches, key=lambda each: each.message.start))
        self.unlisted(Header.DICTIONARY_BATCH, footer.dictionaries)
        self.unlisted(Header.RECORD_BATCH, footer.batches)
        return dictionaries, batches

    def listed(self, name: str, blocks: Sequence[Block], kind: Header) -> list[Listed]:
        found = (self.block(block, f"Footer.{name}[{number}]", kind) for number, block in enumerate(blocks))
        listed = [each for each in found if each is not None]
        for before, after in itertools.pairwise(each for each in listed if each.frame is None):
            if after.message.start < before.message.start:
                observed = f"a message at byte {after.message.start}, after the one at byte {before.message.start}"
                report(self.faults, Rule.BLOCK_ORDER, after.place, after.path, observed)
                break
        return listed

    def block(self, block: Block, path: str, kind: Header) -> Listed | None:
        """The message that a block points to, after judging that it exists and has the declared lengths."""
        place, end = (block.place, block.place + _SIZE), self.footer.start
        offset, metadata, body = block.offset, block.metadata_length, block.body_length
        if offset in self.seen:
            self.fault(Rule.BLOCK_REPEATED, place, path, f"the message at byte {offset} again")
            return None
        self.seen.add(offset)
        if offset & 7:
            self.fault(Rule.BLOCK_OFFSET_NOT_MULTIPLE_OF_8, place, path, f"an offset of {offset}")
        if metadata & 7:
            self.fault(Rule.BLOCK_METADATA_LENGTH_NOT_MULTIPLE_OF_8, place, path, f"a metadata length of {metadata}")
        if min(metadata, body) < 0 or not HEAD <= offset <= end - metadata - body:
            observed = f"a block of {metadata} and {body} bytes at byte {offset}, where the footer is at byte {end}"
            self.fault(Rule.BLOCK_OUT_OF_FILE, place, path, observed)
        if not HEAD <= offset < end:
            return None
        found: list[Fault] = []
        message, frame = self.known.get(offset), None
        if message is None:
            frame = self.frame(offset, found)
            if frame is None or frame.message.header in _NONE:
                observed = f"no message at byte {offset}"
                self.fault(Rule.BLOCK_NO_MESSAGE, place, path, observed)
                return None
            message = frame.message
            if offset < self.reach:
                self.fault(Rule.BLOCK_NOT_IN_STREAM, place, path, f"a {message.header} message at byte {offset}")
        self.lengths(block, path, message)
        if message.header is not kind:
            self.fault(Rule.BLOCK_HEADER_KIND, place, path, f"a {message.header} message")
            return None
        return Listed(block, path, message, frame, found)

    def frame(self, offset: int, faults: list[Fault]) -> Frame | None:
        # Reading stops at the next block: otherwise each of many blocks could make this read the full file.
        following = self.starts[bisect.bisect_right(self.starts, offset)]
        return read_frame(self.view[:following], offset, faults)

    def lengths(self, block: Block, path: str, message: Message) -> None:
        place, metadata = block.place, message.metadata_end - message.start
        if block.metadata_length != metadata:
            observed = f"a metadata length of {block.metadata_length}, where the message has {metadata}"
            self.fault(Rule.BLOCK_METADATA_LENGTH_DIFFERS, (place + 8, place + 12), path, observed)
        if block.body_length != message.body_length:
            observed = f"a body length of {block.body_length}, where the message has {message.body_length}"
            self.fault(Rule.BLOCK_BODY_LENGTH_DIFFERS, (place + 16, place + 24), path, observed)

    def apart(self, listed: Sequence[Listed]) -> None:
        for before, after in itertools.pairwise(listed):
            end = before.message.metadata_end + max(before.message.body_length, 0)
            if after.message.start < end:
                observed = f"a message at byte {after.message.start}, inside the one at byte {before.message.start}"
                self.fault(Rule.BLOCK_OVERLAP, after.place, after.path, observed)

    def unlisted(self, kind: Header, blocks: Sequence[Block] | None) -> None:
        for message in self.known.values() if blocks is not None else ():
            if message.header is kind and message.start not in self.seen:
                place = message.start, message.metadata_end
                self.fault(Rule.BLOCK_UNLISTED, place, "", f"a {kind} message without a block")

    def fault(self, rule: Rule, place: tuple[int, int], path: str, observed: str) -> None:
        report(self.faults, rule, place, path, observed)
