"""IPC files: the magic at both ends, the footer, and the blocks that locate messages without reading the whole file.

The comment on `Block.offset` in File.fbs has been read as the place after a message's header; the format's text and
every implementation in use mean the place of its first byte, and so do these clauses.
"""

from __future__ import annotations

from typing import Final

from conformance.contract.ipc.selectors import blocks, encoded_files, files, footers
from conformance.contract.rules import ANY_VIOLATION, must, rule_clauses, should
from conformance.contract.sources import IPC_FILE
from conformance.wire import Rule

ONLY: Final = ("ipc-file",)

# A table, one row per clause: id, rules, affected software, and an explanation if it says more than the rules.
# fmt: off
rule_clauses(files, ONLY,
    must("file.magic", Rule.FILE_MAGIC_START,
      "programs that recognise a file by its first bytes; pyarrow 26.0.1, arro3 0.9.1 and Polars 2.1.0 read it by its"
      " end"),
    should("file.magic-padding", Rule.FILE_MAGIC_PADDING,
      says="The two bytes of padding after the leading magic are zero, so that they leak no stale memory."),
    should("file.stream-start", Rule.FILE_STREAM_START,
      "readers that read the file from its beginning as a stream treat the zeros as its end",
      """The stream in a file begins at byte 8, directly after the magic and its two bytes of padding.

      The format pads the magic "to 8 byte boundary". Readers that use the footer accept
      files of writers that pad it further, to the alignment of their buffers.
      """),
    must("file.finished", Rule.FILE_MAGIC_END,
      "pyarrow 26.0.1, arro3 0.9.1 and Polars 2.1.0 refuse the file: they find its messages by its end",
      "A file ends with the length of its footer and the magic `ARROW1`."),
    must("file.one-footer", Rule.FILE_OVERWRITTEN,
      "pyarrow 26.0.1 refuses such a file: `advertised body size is 4000, but message decoder"
      " expects to read 8 bytes`; arro3 0.9.1 and Polars 2.1.0 read the batches that the older footer lists",
      """A file ends with its own footer.

      A writer that opens an existing file without truncating it leaves the end of a longer file behind its own
      footer. Readers look for the footer at the end, and find that of the older file. The clauses on files judge the
      newer one.
      """),
    should("file.end-marker", Rule.FILE_END_MISSING,
      "readers that read the file from its beginning as a stream treat the footer as a message",
      """The stream in a file ends with its end-of-stream marker, and the footer follows.

      The format shows it so ("STREAMING FORMAT with EOS"); an earlier text showed the marker as optional, and
      readers that use the footer accept files from that time.
      """),
    must("file.footer-length", (Rule.FOOTER_LENGTH_NOT_POSITIVE, Rule.FOOTER_OUT_OF_RANGE),
      "pyarrow 26.0.1, arro3 0.9.1 and Polars 2.1.0 refuse the file: they locate the footer by it",
      "The length before the closing magic is positive, counts the footer alone, and keeps it inside the file."),
)
rule_clauses(footers, ONLY,
    must("file.footer-version", Rule.FOOTER_VERSION_DIFFERS,
      "readers of the footer decode unions by one version, readers of the stream by the other"),
    must("file.footer-schema", (Rule.FOOTER_SCHEMA_MISSING, Rule.FOOTER_SCHEMA_DIFFERS),
      "a reader of the footer sees other columns in the file than a reader of the stream",
      "The footer has a schema, which is equal to that of the stream.", source=IPC_FILE),
    should("file.footer-metadata", Rule.FOOTER_METADATA_DIFFERS,
      "a reader of the footer lacks metadata that a reader of the stream sees",
      """The footer has the custom metadata of the stream's first message; it may have more, of the file's own.

      No text requires it: the footer repeats the schema, and metadata of a message is no part of that.
      """),
)
rule_clauses(blocks, ONLY,
    must("file.blocks-aligned",
      (Rule.BLOCK_OFFSET_NOT_MULTIPLE_OF_8, Rule.BLOCK_METADATA_LENGTH_NOT_MULTIPLE_OF_8),
      "pyarrow 26.0.1: `Unaligned block in IPC file`; arro3 0.9.1 and Polars 2.1.0 read other values without an error",
      "Offset and metadata length of a block are multiples of eight: the length counts prefix, metadata and padding."),
    must("file.blocks-inside", Rule.BLOCK_OUT_OF_FILE, "readers without bounds checks read memory elsewhere"),
    must("file.blocks-are-messages", (Rule.BLOCK_NO_MESSAGE, Rule.BLOCK_NOT_IN_STREAM),
      "readers of the footer decode other bytes than readers of the stream",
      "At the offset of a block, a message of the stream begins with its prefix."),
    must("file.block-kinds", Rule.BLOCK_HEADER_KIND,
      "pyarrow 26.0.1, arro3 0.9.1 and Polars 2.1.0 refuse a block of batches that is a schema"),
    must("file.block-lengths", (Rule.BLOCK_METADATA_LENGTH_DIFFERS, Rule.BLOCK_BODY_LENGTH_DIFFERS),
      "pyarrow 26.0.1 refuses the file; of a wrong length of the body, arro3 0.9.1 dies (SIGABRT); with one of the"
      " metadata, arro3 and Polars 2.1.0 read other values",
      "The lengths of a block are those of its message: prefix, metadata and padding; and the body."),
    must("file.blocks-apart", (Rule.BLOCK_REPEATED, Rule.BLOCK_OVERLAP), "rows are read twice"),
    should("file.block-order", Rule.BLOCK_ORDER,
      "a reader of the footer gets the rows in another order than a reader of the stream",
      """The footer lists messages in the order of the stream.

      If another order changes the contents of a dictionary, the clause on deltas reports it.
      """, unless={*ANY_VIOLATION, Rule.FILE_DELTA_ORDER}),
    should("file.blocks-complete", Rule.BLOCK_UNLISTED, "readers of the footer lose the rows that it does not list",
      unless=ANY_VIOLATION),
)
rule_clauses(encoded_files, ONLY,
    must("file.dictionary-once", Rule.FILE_DICTIONARY_REPLACED,
      "the dictionary of a batch depends on the order in which a reader reads them",
      """A file defines each dictionary once, and after that only appends to it.

      "it is invalid to have more than one non-delta dictionary batch per dictionary ID" (IPC File Format).
      """),
    should("file.delta-order", Rule.FILE_DELTA_ORDER,
      "readers of the stream apply deltas in another order than readers of the footer, and get other values",
      """The footer lists the batches of one dictionary in the order of the stream.

      "Delta dictionaries are applied in the order they appear in the file footer" (IPC File Format), so if the two
      orders differ, the values of the file depend on the way in which it is read.
      """),
)
# fmt: on
