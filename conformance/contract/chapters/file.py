"""IPC files: the magic at both ends, the footer, and the blocks by which messages are found without reading all.

The comment on `Block.offset` in File.fbs has been read as the place behind a message's header; the format's text and
every implementation in use mean the place of its first byte, and so do these clauses.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from conformance.contract.clause import Violation, clause
from conformance.contract.ipc.messages import Container
from conformance.contract.ipc.selectors import blocks, encoded_files, files, footers, remarked, told
from conformance.records import Level
from conformance.wire import Rule

FILE: Final = "https://arrow.apache.org/docs/format/Columnar.html#ipc-file-format"
FILE_FBS: Final = "https://github.com/apache/arrow/blob/main/format/File.fbs"
SECURITY: Final = "https://arrow.apache.org/docs/format/Security.html"
ONLY: Final = ("ipc-file",)


@clause("file.magic", over=files, source=FILE, breaks="every reader tells a file by it", profiles=ONLY)
def magic(whole: Container) -> Iterable[Violation]:
    """A file begins with the magic `ARROW1`, padded to eight bytes."""
    return told(whole, Rule.FILE_MAGIC_START)


@clause("file.magic-padding", over=files, source=SECURITY, level=Level.SHOULD, profiles=ONLY)
def magic_padding(whole: Container) -> Iterable[Violation]:
    """The two bytes of padding behind the leading magic are zero, so that they publish no stale memory."""
    return told(whole, Rule.FILE_MAGIC_PADDING)


@clause(
    "file.stream-start",
    over=files,
    source=FILE,
    level=Level.SHOULD,
    breaks="readers that read the file from its beginning as a stream take the zeros for its end",
    profiles=ONLY,
)
def stream_start(whole: Container) -> Iterable[Violation]:
    """The stream in a file begins at byte 8, right behind the magic and its two bytes of padding.

    The format pads the magic "to 8 byte boundary". Writers that pad it further, to the alignment of their buffers, are
    read by all who go by the footer.
    """
    return told(whole, Rule.FILE_STREAM_START)


@clause(
    "file.finished",
    over=files,
    source=FILE,
    breaks="every reader that goes by the footer: the writer was not closed, and nothing can be found",
    profiles=ONLY,
)
def finished(whole: Container) -> Iterable[Violation]:
    """A file ends with the magic `ARROW1` behind the length of its footer."""
    return told(whole, Rule.FILE_MAGIC_END)


@clause(
    "file.end-marker",
    over=files,
    source=FILE,
    level=Level.SHOULD,
    breaks="readers that read the file from its beginning as a stream take the footer for a message",
    profiles=ONLY,
)
def end_marker(whole: Container) -> Iterable[Violation]:
    """The stream in a file ends with its end-of-stream marker, and the footer follows.

    The format draws it so ("STREAMING FORMAT with EOS"); an earlier text of it drew the marker as optional, and files
    from that time are read by their footer.
    """
    return told(whole, Rule.FILE_END_MISSING)


# --- the footer ---------------------------------------------------------------------------------------


@clause("file.footer-length", over=files, source=FILE, breaks="every reader looks there for the footer", profiles=ONLY)
def footer_length(whole: Container) -> Iterable[Violation]:
    """The length in front of the closing magic is positive and counts the footer alone, which lies inside the file."""
    return told(whole, Rule.FOOTER_LENGTH_NOT_POSITIVE, Rule.FOOTER_OUT_OF_RANGE)


@clause(
    "file.footer-version",
    over=footers,
    source=FILE,
    breaks="readers by the footer lay unions out by one version, readers by the stream by the other",
    profiles=ONLY,
)
def footer_version(whole: Container) -> Iterable[Violation]:
    """The footer has the metadata version of the stream's first message; an absent one means V1."""
    return told(whole, Rule.FOOTER_VERSION_DIFFERS)


@clause(
    "file.footer-schema",
    over=footers,
    source=FILE,
    breaks="the same file holds other columns for a reader by the footer than for one of the stream",
    profiles=ONLY,
)
def footer_schema(whole: Container) -> Iterable[Violation]:
    """The footer has a schema, and it is that of the stream."""
    return told(whole, Rule.FOOTER_SCHEMA_MISSING, Rule.FOOTER_SCHEMA_DIFFERS)


@clause(
    "file.footer-metadata",
    over=footers,
    source=FILE,
    breaks="the same file says other things to a reader by the footer than to one of the stream",
    profiles=ONLY,
)
def footer_metadata(whole: Container) -> Iterable[Violation]:
    """The footer has the custom metadata of the stream's first message."""
    return told(whole, Rule.FOOTER_METADATA_DIFFERS)


# --- blocks -------------------------------------------------------------------------------------------


@clause(
    "file.blocks-aligned",
    over=blocks,
    source=FILE,
    breaks="Arrow C++ refuses the file; readers that map it read unaligned",
    profiles=ONLY,
)
def blocks_aligned(whole: Container) -> Iterable[Violation]:
    """Offset and metadata length of a block are multiples of eight: the length counts prefix, metadata and padding."""
    return told(whole, Rule.BLOCK_OFFSET_NOT_MULTIPLE_OF_8, Rule.BLOCK_METADATA_LENGTH_NOT_MULTIPLE_OF_8)


@clause(
    "file.blocks-inside", over=blocks, source=FILE_FBS, breaks="readers that do not check read elsewhere", profiles=ONLY
)
def blocks_inside(whole: Container) -> Iterable[Violation]:
    """A block lies between the leading magic and the footer."""
    return told(whole, Rule.BLOCK_OUT_OF_FILE)


@clause(
    "file.blocks-are-messages",
    over=blocks,
    source=FILE_FBS,
    breaks="readers by the footer read other bytes than readers of the stream",
    profiles=ONLY,
)
def blocks_are_messages(whole: Container) -> Iterable[Violation]:
    """Where a block says, a message of the stream begins with its prefix."""
    return told(whole, Rule.BLOCK_NO_MESSAGE, Rule.BLOCK_NOT_IN_STREAM)


@clause("file.block-kinds", over=blocks, source=FILE_FBS, breaks="every reader by the footer", profiles=ONLY)
def block_kinds(whole: Container) -> Iterable[Violation]:
    """The footer lists dictionary batches among its dictionaries, and record batches among its record batches."""
    return told(whole, Rule.BLOCK_HEADER_KIND)


@clause(
    "file.block-lengths",
    over=blocks,
    source=FILE_FBS,
    breaks="readers that fetch a block in one piece cut it short, or refuse",
    profiles=ONLY,
)
def block_lengths(whole: Container) -> Iterable[Violation]:
    """The lengths of a block are those of its message: prefix, metadata and padding; and the body."""
    return told(whole, Rule.BLOCK_METADATA_LENGTH_DIFFERS, Rule.BLOCK_BODY_LENGTH_DIFFERS)


@clause("file.blocks-apart", over=blocks, source=FILE, breaks="rows come twice", profiles=ONLY)
def blocks_apart(whole: Container) -> Iterable[Violation]:
    """The footer lists a message once, and no two blocks share bytes."""
    return told(whole, Rule.BLOCK_REPEATED, Rule.BLOCK_OVERLAP)


@clause(
    "file.block-order",
    over=blocks,
    source=FILE,
    level=Level.SHOULD,
    breaks="rows come in another order by the footer than from the stream",
    profiles=ONLY,
)
def block_order(whole: Container) -> Iterable[Violation]:
    """The footer lists messages in the order of the stream.

    Where that changes what a dictionary holds, the clause on deltas says so.
    """
    deltas = bool(told(whole, Rule.FILE_DELTA_ORDER))
    return () if deltas else remarked(whole, Rule.BLOCK_ORDER)


@clause(
    "file.blocks-complete",
    over=blocks,
    source=FILE,
    level=Level.SHOULD,
    breaks="readers by the footer lose the rows that it does not list",
    profiles=ONLY,
)
def blocks_complete(whole: Container) -> Iterable[Violation]:
    """The footer lists every batch of the stream."""
    return remarked(whole, Rule.BLOCK_UNLISTED)


# --- dictionaries -------------------------------------------------------------------------------------


@clause(
    "file.dictionary-once",
    over=encoded_files,
    source=FILE,
    breaks="which dictionary a batch means depends on the order in which a reader gets at them",
    profiles=ONLY,
)
def dictionary_once(whole: Container) -> Iterable[Violation]:
    """A file defines each dictionary once, and then only appends to it.

    "it is invalid to have more than one non-delta dictionary batch per dictionary ID" (IPC File Format).
    """
    return told(whole, Rule.FILE_DICTIONARY_REPLACED)


@clause(
    "file.delta-order",
    over=encoded_files,
    source=FILE,
    level=Level.SHOULD,
    breaks="readers of the stream apply deltas in another order than readers by the footer: other values",
    profiles=ONLY,
)
def delta_order(whole: Container) -> Iterable[Violation]:
    """The footer lists the batches of one dictionary in the order of the stream.

    "Delta dictionaries are applied in the order they appear in the file footer" (IPC File Format), so where the two
    orders differ, what the file holds depends on the way in which it is read.
    """
    return told(whole, Rule.FILE_DELTA_ORDER)
