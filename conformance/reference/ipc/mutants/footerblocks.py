"""Mutants of a file's blocks: the positions and lengths of batches that the Footer gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from conformance.reference.ipc.models import EncodedMessage, FileModel
from conformance.reference.ipc.mutants.files import change_blocks
from conformance.reference.ipc.register import mutant
from conformance.reference.message import END_OF_STREAM
from conformance.wire.faults import Rule

__all__: list[str] = []

_SOME: Final = ("rows.several", "dictionary.two", "nested.mixed")
_SEVERAL: Final = ("rows.several",)
_JS: Final = "https://issues.apache.org/jira/browse/ARROW-3256"
_CHECKS: Final = "https://github.com/apache/arrow/pull/48845"
_ELSEWHERE: Final = {
    Rule.BLOCK_METADATA_LENGTH_DIFFERS: "what lies there has other lengths",
    Rule.BLOCK_BODY_LENGTH_DIFFERS: "what lies there has other lengths",
    Rule.BLOCK_HEADER_KIND: "what lies there is something else",
}


def _first(change: Callable[[int, int, int], tuple[int, int, int]]) -> Callable[[FileModel], bytes]:
    """The file whose first block has another offset, metadata length and body length."""
    return change_blocks(lambda blocks: [change(*blocks[0]), *blocks[1:]])


# fmt: off
mutant("block.offset-odd", (Rule.BLOCK_OFFSET_NOT_MULTIPLE_OF_8, Rule.BLOCK_NO_MESSAGE, Rule.BLOCK_NOT_IN_STREAM),
       kind="file", on=_SEVERAL,
       also={Rule.METADATA_LENGTH_NOT_MULTIPLE_OF_8: "what lies there is not aligned", **_ELSEWHERE},
       fault="A block's offset is 4 more than that of its message.")(
    _first(lambda offset, metadata, body: (offset + 4, metadata, body)))
mutant("block.metadata-odd", Rule.BLOCK_METADATA_LENGTH_NOT_MULTIPLE_OF_8, kind="file", on=_SOME,
       also={Rule.BLOCK_METADATA_LENGTH_DIFFERS: "the message's own length is a multiple of 8"},
       source="https://issues.apache.org/jira/browse/ARROW-6682",
       fault="A block's metadata length leaves out the padding: it is no multiple of 8.")(
    _first(lambda offset, metadata, body: (offset, metadata - 4, body)))
mutant("block.metadata-without-prefix", Rule.BLOCK_METADATA_LENGTH_DIFFERS, kind="file", on=_SOME, source=_JS,
       fault="A block's metadata length leaves out the prefix of 8 bytes.")(
    _first(lambda offset, metadata, body: (offset, metadata - 8, body)))
mutant("block.offset-after-prefix", (Rule.BLOCK_NO_MESSAGE, Rule.BLOCK_NOT_IN_STREAM), kind="file", on=_SEVERAL,
       also=_ELSEWHERE, source=_JS,
       fault="A block's offset is that of the metadata, behind the prefix, as a comment in File.fbs has it.")(
    _first(lambda offset, metadata, body: (offset + 8, metadata - 8, body)))
mutant("block.body-differs", Rule.BLOCK_BODY_LENGTH_DIFFERS, kind="file", on=_SOME, source=_CHECKS,
       fault="A block's body length is 8 less than its message's.")(
    _first(lambda offset, metadata, body: (offset, metadata, body - 8)))
mutant("block.beyond-file", Rule.BLOCK_OUT_OF_FILE, kind="file", on=_SOME,
       also={Rule.DICTIONARY_MISSING: "a dictionary that cannot be read is missing"},
       source="https://github.com/apache/arrow/pull/49897", fault="A block lies beyond the end of the file.")(
    _first(lambda offset, metadata, body: (offset + (1 << 40), metadata, body)))
mutant("block.offset-negative", Rule.BLOCK_OUT_OF_FILE, kind="file", on=_SOME,
       fault="A block's offset is negative.")(
    _first(lambda _, metadata, body: (-8, metadata, body)))
mutant("block.body-huge", (Rule.BLOCK_OUT_OF_FILE, Rule.BLOCK_BODY_LENGTH_DIFFERS), kind="file", on=_SOME,
       source=_CHECKS, fault="A block's body is said to be an exbibyte long.")(
    _first(lambda offset, metadata, body: (offset, metadata, body + (1 << 60))))
mutant("block.body-negative", (Rule.BLOCK_OUT_OF_FILE, Rule.BLOCK_BODY_LENGTH_DIFFERS), kind="file", on=_SOME,
       fault="A block's body length is negative.")(
    _first(lambda offset, metadata, _: (offset, metadata, -8)))
mutant("block.metadata-negative", (Rule.BLOCK_OUT_OF_FILE, Rule.BLOCK_METADATA_LENGTH_DIFFERS), kind="file", on=_SOME,
       fault="A block's metadata length is negative.")(
    _first(lambda offset, _, body: (offset, -8, body)))
# fmt: on


@mutant("block.schema", Rule.BLOCK_HEADER_KIND, kind="file", on=_SEVERAL)
def of_schema(model: FileModel) -> bytes:
    """A block of a record batch is that of the schema."""
    length = len(model.stream.schema.encode())
    return change_blocks(lambda blocks: [(8, length, 0), *blocks])(model)


@mutant(
    "block.of-other-kind",
    Rule.BLOCK_HEADER_KIND,
    kind="file",
    on=("dictionary.two",),
    also={Rule.DICTIONARY_MISSING: "what is not listed as a dictionary is not defined"},
)
def of_other_kind(model: FileModel) -> bytes:
    """Dictionary batches are listed among the record batches."""
    before, footer = model.complete()
    footer["recordBatches"] = [*footer["dictionaries"], *footer["recordBatches"]]
    footer["dictionaries"] = []
    return model.assemble(before, footer)


@mutant("block.to-the-end-marker", Rule.BLOCK_NO_MESSAGE, kind="file", on=_SEVERAL)
def to_the_end_marker(model: FileModel) -> bytes:
    """A block points to the end marker."""
    before, _ = model.complete()
    return change_blocks(lambda blocks: [*blocks, (len(before) - len(END_OF_STREAM), 8, 0)])(model)


@mutant("block.repeated", Rule.BLOCK_REPEATED, kind="file", on=_SEVERAL)
def repeated(model: FileModel) -> bytes:
    """The Footer lists a batch twice."""
    return change_blocks(lambda blocks: [*blocks, blocks[0]])(model)


@mutant("block.behind-the-end", Rule.BLOCK_NOT_IN_STREAM, kind="file", on=_SEVERAL)
def behind_the_end(model: FileModel) -> None:
    """The last batch is behind the stream's end marker: the Footer lists it, the stream does not contain it."""
    stream = model.stream
    last = stream.messages.pop()
    stream.messages += [EncodedMessage(END_OF_STREAM), last]
    stream.end = b""


@mutant(
    "block.overlap",
    Rule.BLOCK_OVERLAP,
    kind="file",
    on=("types.binary",),
    also={Rule.BLOCK_NOT_IN_STREAM: "a message inside another is none of the stream's"},
)
def overlap(model: FileModel) -> bytes:
    """A block points to a batch inside the data of another."""
    batch = model.stream.batches[0]
    data = batch.part("data")
    inner = batch.encode()
    data.data = data.data + bytes(-len(data.data) % 8) + inner
    before, footer = model.complete()
    place = before.rindex(inner)
    (outer,) = footer["recordBatches"]
    footer["recordBatches"] = [outer, (place, outer[1], len(inner) - outer[1])]
    return model.assemble(before, footer)
