"""Compressed buffers inside a batch: the codec, the length before each buffer, and one frame after it.

The chapter on compression judges whether a requested compression is applied; this chapter judges the bytes.
Uncompressed buffers (length -1) among compressed ones, and empty buffers without a prefix, are legal.
"""

from __future__ import annotations

from typing import Final

from conformance.contract.clause import ANY_BATCH, MESSAGES
from conformance.contract.messages import bodies
from conformance.contract.rules import must, rule_clauses, should
from conformance.wire import Rule

UNKNOWN: Final = "readers have to refuse codecs and methods that they do not know"

# A table, one row per clause: id, rules, affected software, and an explanation if it says more than the rules.
# fmt: off
rule_clauses(bodies, ANY_BATCH,
    must("buffers.codec-known", Rule.COMPRESSION_CODEC_UNKNOWN, UNKNOWN),
    must("buffers.method-known", Rule.COMPRESSION_METHOD_UNKNOWN, UNKNOWN,
      "The compression method is BUFFER: each buffer is compressed by itself."),
    must("buffers.prefix", Rule.COMPRESSION_PREFIX_TRUNCATED,
      "Polars 2.1.0 panics, and arrow-rs before 58.2.0 (from its source)",
      "A compressed buffer that is not empty starts with eight bytes: its uncompressed length, little-endian."),
    must("buffers.prefix-not-negative", Rule.COMPRESSION_PREFIX_NEGATIVE, "readers that allocate the declared length"),
    must("buffers.frame", (Rule.COMPRESSION_FRAME, Rule.COMPRESSION_CHECKSUM),
      "pyarrow 26.0.1, nanoarrow 0.9.0 and arro3 0.9.1 refuse the batch; Polars 2.1.0, too, but not for a checksum of"
      " the content",
      """The bytes after the length are a well-formed frame of the codec.

      LZ4_FRAME means LZ4's frame format; a raw LZ4 block is not one. ZSTD permits several frames, skippable ones among
      them, and windows of any size (RFC 8878).
      """),
    must("buffers.one-frame", Rule.COMPRESSION_TRAILING_BYTES,
      "pyarrow 26.0.1: `Lz4 compressed input contains more than one frame`; nanoarrow 0.9.0, arro3 0.9.1 and"
      " Polars 2.1.0 ignore what follows one of LZ4, and of them Polars alone what follows one of ZSTD",
      "Nothing follows the frame of LZ4, or the frames of ZSTD, in a compressed buffer."),
    should("buffers.frame-length", Rule.COMPRESSION_PADDING_IN_LENGTH,
      "pyarrow 26.0.1, of LZ4: `Lz4 compressed input contains more than one frame`"),
    must("buffers.size", Rule.COMPRESSION_SIZE_MISMATCH,
      "Polars 2.1.0 reads such a buffer without an error; pyarrow 26.0.1, nanoarrow 0.9.0 and arro3 0.9.1 refuse it",
      unless_there=[Rule.COMPRESSION_TRAILING_BYTES]),
    should("buffers.expansion", Rule.COMPRESSION_EXPANSION,
      "readers without a limit: a few kilobytes can use up all their memory",
      """The buffers of a message decompress to no more than a careful reader permits.

      Beyond this suite's own limit the values are not judged.
      """),
)

# Streams and files are not asked: their readers are, by the vectors that have such buffers.
rule_clauses(bodies, MESSAGES,
    should("buffers.empty-frame", Rule.COMPRESSION_EMPTY_WITHOUT_FRAME,
      "pyarrow 26.0.1 (`Lz4 compressed input contains less than one frame`) and nanoarrow 0.9.0 refuse it in LZ4;"
      " Polars 2.1.0 and arro3 0.9.1 read it, and all four read it in ZSTD",
      """A compressed buffer without values has no bytes at all, the length -1 alone, or a frame.

      The format does not define a length of 0 without a frame. arrow-java 19.0.0 writes it
      (https://github.com/apache/arrow-java/pull/1248).
      """),
)
# fmt: on
