"""IPC files: the magic at both ends, the footer, and the blocks by which messages are found without reading all.

The comment on `Block.offset` in File.fbs has been read as the place behind a message's header; the format's text and
every implementation in use mean the place of its first byte, and so do these clauses.
"""

from __future__ import annotations

from typing import Final

from conformance.contract.ipc.selectors import blocks, encoded_files, files, footers
from conformance.contract.rules import ANY_VIOLATION, must, rule_clauses, should
from conformance.contract.sources import IPC_FILE
from conformance.wire import Rule

ONLY: Final = ("ipc-file",)

# A table reads as a table: id, rules and who breaks, then the explanation where it says more than the rules.
# fmt: off
rule_clauses(files, ONLY,
    must("file.magic", Rule.FILE_MAGIC_START, "every reader tells a file by it"),
    should("file.magic-padding", Rule.FILE_MAGIC_PADDING,
      says="The two bytes of padding behind the leading magic are zero, so that they publish no stale memory."),
    should("file.stream-start", Rule.FILE_STREAM_START,
      "readers that read the file from its beginning as a stream take the zeros for its end",
      """The stream in a file begins at byte 8, right behind the magic and its two bytes of padding.

      The format pads the magic "to 8 byte boundary". Writers that pad it further, to the alignment of their buffers,
      are read by all who go by the footer.
      """),
    must("file.finished", Rule.FILE_MAGIC_END,
      "every reader that goes by the footer: the writer was not closed, and nothing can be found",
      "A file ends with the magic `ARROW1` behind the length of its footer."),
    should("file.end-marker", Rule.FILE_END_MISSING,
      "readers that read the file from its beginning as a stream take the footer for a message",
      """The stream in a file ends with its end-of-stream marker, and the footer follows.

      The format draws it so ("STREAMING FORMAT with EOS"); an earlier text of it drew the marker as optional, and files
      from that time are read by their footer.
      """),
    must("file.footer-length", (Rule.FOOTER_LENGTH_NOT_POSITIVE, Rule.FOOTER_OUT_OF_RANGE),
      "every reader looks there for the footer",
      "The length in front of the closing magic is positive and counts the footer alone, which lies inside the file."),
)
rule_clauses(footers, ONLY,
    must("file.footer-version", Rule.FOOTER_VERSION_DIFFERS,
      "readers by the footer lay unions out by one version, readers by the stream by the other"),
    must("file.footer-schema", (Rule.FOOTER_SCHEMA_MISSING, Rule.FOOTER_SCHEMA_DIFFERS),
      "the same file holds other columns for a reader by the footer than for one of the stream",
      "The footer has a schema, and it is that of the stream.", source=IPC_FILE),
    must("file.footer-metadata", Rule.FOOTER_METADATA_DIFFERS,
      "the same file says other things to a reader by the footer than to one of the stream"),
)
rule_clauses(blocks, ONLY,
    must("file.blocks-aligned",
      (Rule.BLOCK_OFFSET_NOT_MULTIPLE_OF_8, Rule.BLOCK_METADATA_LENGTH_NOT_MULTIPLE_OF_8),
      "Arrow C++ refuses the file; readers that map it read unaligned",
      "Offset and metadata length of a block are multiples of eight: the length counts prefix, metadata and padding."),
    must("file.blocks-inside", Rule.BLOCK_OUT_OF_FILE, "readers that do not check read elsewhere"),
    must("file.blocks-are-messages", (Rule.BLOCK_NO_MESSAGE, Rule.BLOCK_NOT_IN_STREAM),
      "readers by the footer read other bytes than readers of the stream",
      "Where a block says, a message of the stream begins with its prefix."),
    must("file.block-kinds", Rule.BLOCK_HEADER_KIND, "every reader by the footer"),
    must("file.block-lengths", (Rule.BLOCK_METADATA_LENGTH_DIFFERS, Rule.BLOCK_BODY_LENGTH_DIFFERS),
      "readers that fetch a block in one piece cut it short, or refuse",
      "The lengths of a block are those of its message: prefix, metadata and padding; and the body."),
    must("file.blocks-apart", (Rule.BLOCK_REPEATED, Rule.BLOCK_OVERLAP), "rows come twice"),
    should("file.block-order", Rule.BLOCK_ORDER,
      "rows come in another order by the footer than from the stream",
      """The footer lists messages in the order of the stream.

      Where that changes what a dictionary holds, the clause on deltas says so.
      """, unless={*ANY_VIOLATION, Rule.FILE_DELTA_ORDER}),
    should("file.blocks-complete", Rule.BLOCK_UNLISTED, "readers by the footer lose the rows that it does not list",
      unless=ANY_VIOLATION),
)
rule_clauses(encoded_files, ONLY,
    must("file.dictionary-once", Rule.FILE_DICTIONARY_REPLACED,
      "which dictionary a batch means depends on the order in which a reader gets at them",
      """A file defines each dictionary once, and then only appends to it.

      "it is invalid to have more than one non-delta dictionary batch per dictionary ID" (IPC File Format).
      """),
    should("file.delta-order", Rule.FILE_DELTA_ORDER,
      "readers of the stream apply deltas in another order than readers by the footer: other values",
      """The footer lists the batches of one dictionary in the order of the stream.

      "Delta dictionaries are applied in the order they appear in the file footer" (IPC File Format), so where the two
      orders differ, what the file holds depends on the way in which it is read.
      """),
)
# fmt: on
