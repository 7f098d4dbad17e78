"""The bytes of the faults of server.py; numbers are places of values in metadata as pyarrow writes it for two rows."""

import struct

import pyarrow as pa


def written(column: pa.Array, codec: str | None = None) -> tuple[bytes, bytes]:
    """A column's schema and batch as messages."""
    schema, sink = pa.schema([pa.field("s", column.type)]), pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as writer:
        writer.write_batch(pa.record_batch([column], schema))
    header = schema.serialize().to_pybytes()
    return header, sink.getvalue().to_pybytes()[len(header) : -8]


TEXTS = ["a", "bb"], ["ccc", "dddd"], ["a", None], ["a" * 80, "bb"]
(HEADER, FIRST), (_, SECOND), (_, NULL), (_, LONG) = (written(pa.array(two)) for two in TEXTS)
(NUMBERS, ONE_TWO), (_, THREE_FOUR) = (written(pa.array(two)) for two in ([1, 2], [3, 4]))
END = b"\xff\xff\xff\xff" + bytes(4)


def put(form: str, at: int, value: int, message: bytes = FIRST) -> bytes:
    """A message with one number replaced."""
    return message[:at] + struct.pack("<" + form, value) + message[at + struct.calcsize(form) :]


def squeezed(codec: int, length: int, frames: bytes) -> bytes:
    """The first batch with its offsets as they are and its texts in frames, which are said to have a length."""
    offsets, texts = struct.pack("<q3i4x", -1, 0, 1, 3), struct.pack("<q", length) + frames
    batch = put("B", 107, codec, written(pa.array(["a", "bb"]), "zstd")[1][:184])
    for at, value in ((40, 24 + len(texts) + -len(texts) % 8), (136, 20), (144, 24), (152, len(texts))):
        batch = put("q", at, value, batch)
    return batch + offsets + texts + bytes(-len(texts) % 8)


LZ4, ZSTD = 0, 1
FRAMES = b"".join(pa.Codec("lz4").compress(part, asbytes=True) for part in (b"a", b"bb"))
BLOCK, LAST = ((1 << 20 | 2 | end).to_bytes(3, "little") + bytes(1) for end in (0, 1))  # 128 KiB of zeros
BOMB = bytes.fromhex("28b52ffd0038") + BLOCK * ((1 << 14) - 1) + LAST  # RFC 8878, section 3.1.1.2
BATCHES = {
    "empty-batch": b"", "schema-again": HEADER, "two-messages": 2 * FIRST, "end-behind-batch": FIRST + END,
    "no-prefix": FIRST[8:], "noise": bytes(range(64, 128)), "cut-metadata": FIRST[:40],
    "half-batch": FIRST[:92], "cut-text": LONG[:-88], "short-body": put("q", 40, 96, LONG),
    "huge-metadata": put("i", 4, 1 << 30), "huge-vector": put("I", 140, 10**9), "long-batch": put("q", 72, 3),
    "other-values": FIRST.replace(b"abb", b"xyy"),
    "negative-offset": FIRST.replace(struct.pack("<3i", 0, 1, 3), struct.pack("<3i", -1, 1, 3)),
    "no-bitmap": put("q", 96, 0, NULL), "no-null-count": put("q", 152, 0, NULL),
    "two-frames": squeezed(LZ4, 3, FRAMES), "bomb": squeezed(ZSTD, 1 << 31, BOMB),
}  # fmt: skip
OF_NUMBERS = {"negative-node": put("q", 128, -1, ONE_TWO), "surplus-nulls": put("q", 136, 3, ONE_TWO)}
HEADERS = {"end-of-stream": HEADER + END, "no-type": put("B", 83, 0, HEADER), "type-unknown": put("B", 83, 99, HEADER),
           "name-beyond": put("I", 100, 1 << 20, HEADER), "name-not-utf8": put("B", 104, 255, HEADER)}  # fmt: skip


def table(fault: str) -> tuple[bytes, bytes, bytes]:
    """The bytes of the schema and of the two batches."""
    others = HEADERS.get(fault, HEADER), BATCHES.get(fault, FIRST), SECOND
    return (NUMBERS, OF_NUMBERS[fault], THREE_FOUR) if fault in OF_NUMBERS else others
