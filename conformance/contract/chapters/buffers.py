"""Compressed buffers inside a batch: the codec, the length in front of each buffer, and one frame after it.

Whether compression that was asked for is honoured is a matter of the session, not of the bytes.
Buffers stored as they are (length -1) beside compressed ones, and empty buffers without a prefix, are legal.
"""

from __future__ import annotations

from typing import Final

from conformance.contract.clause import ANY_BATCH
from conformance.contract.messages import bodies
from conformance.contract.rules import must, rule_clauses, should
from conformance.wire import Rule

UNKNOWN: Final = "readers have to refuse what they do not know"

# A table reads as a table: id, rules and who breaks, then the explanation where it says more than the rules.
# fmt: off
rule_clauses(bodies, ANY_BATCH,
    must("buffers.codec-known", Rule.COMPRESSION_CODEC_UNKNOWN, UNKNOWN),
    must("buffers.method-known", Rule.COMPRESSION_METHOD_UNKNOWN, UNKNOWN,
      "The compression method is BUFFER: each buffer on its own."),
    must("buffers.prefix", Rule.COMPRESSION_PREFIX_TRUNCATED, "arrow-rs before 58.2.0 panics (from its source)",
      "A compressed buffer that is not empty starts with eight bytes: its uncompressed length, little-endian."),
    must("buffers.prefix-not-negative", Rule.COMPRESSION_PREFIX_NEGATIVE, "readers that allocate what is announced"),
    must("buffers.frame", (Rule.COMPRESSION_FRAME, Rule.COMPRESSION_CHECKSUM), "every client",
      """The bytes after the length are a well-formed frame of the codec.

      LZ4_FRAME means LZ4's frame format; a raw LZ4 block is not one.
      """),
    must("buffers.one-frame", Rule.COMPRESSION_TRAILING_BYTES,
      "pyarrow 26.0.1: `Lz4 compressed input contains more than one frame`"),
    should("buffers.frame-length", Rule.COMPRESSION_PADDING_IN_LENGTH),
    must("buffers.size", Rule.COMPRESSION_SIZE_MISMATCH,
      "Polars 2.1.0 reads such a buffer without an error; pyarrow 26.0.1, nanoarrow 0.9.0 and arro3 0.9.1 refuse it",
      unless_there=[Rule.COMPRESSION_TRAILING_BYTES]),
    should("buffers.expansion", Rule.COMPRESSION_EXPANSION,
      "readers without a limit, which a few kilobytes can take all memory from",
      """The buffers of a message decompress to no more than a careful reader allows.

      Beyond the limit of this suite the values are not judged.
      """),
)
# fmt: on
