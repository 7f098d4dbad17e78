"""Variations of framing, versions and ends of streams."""

from __future__ import annotations

import struct

from conformance.reference.ipc.models import StreamModel
from conformance.reference.ipc.register import STANDARD, variation
from conformance.reference.ipc.variations.sources import ALIGNMENT, COL, FBS, FRAMING, METADATA, ORDER, STREAM
from conformance.reference.message import CONTINUATION, END_OF_STREAM, DraftMessage

__all__: list[str] = []

_UNIONS = ("types.union-sparse", "types.union-dense", "types.union-dense-ids", "nested.union-sparse-in-struct")
_SWAPPED = ("types.int16", "types.decimal128", "types.interval-month-day-nano", "types.utf8", "nested.mixed")
_EVERYWHERE = (*STANDARD, "rows.zero", "rows.no-columns-three", "dictionary.replaced", "types.utf8")
_PAIRS = {"writer": "reference", "größe": "7", "empty": ""}


@variation("stream.legacy", FRAMING, on=_EVERYWHERE, choices={"legacy": True})
def legacy(_: StreamModel) -> None:
    """Messages start with their length alone, as before Arrow 0.15, and the end marker is four zeros."""


@variation("stream.legacy-v4", FRAMING, on=STANDARD, choices={"legacy": True, "version": "V4"})
def legacy_v4(_: StreamModel) -> None:
    """Legacy framing with metadata V4: what every library wrote before Arrow 0.15."""


@variation("stream.v4", f"{FBS}/Schema.fbs (MetadataVersion)", choices={"version": "V4"})
def v4(_: StreamModel) -> None:
    """Metadata version V4, modern framing."""


@variation("stream.v4-unions", f"{FBS}/Schema.fbs (MetadataVersion)", on=_UNIONS, choices={"version": "V4"})
def v4_unions(_: StreamModel) -> None:
    """Unions under V4, which have a validity bitmap; it is empty."""


@variation("stream.legacy-no-end", STREAM, choices={"legacy": True, "end": "close"})
def legacy_without_end(_: StreamModel) -> None:
    """Legacy framing, and the stream just ends."""


@variation("stream.no-end", STREAM, on=_EVERYWHERE, choices={"end": "close"})
def without_end(_: StreamModel) -> None:
    """The transport is closed after the last message; there is no marker."""


@variation(
    "stream.no-end-no-batches", STREAM, on=("rows.no-batches", "dictionary.no-batches"), choices={"end": "close"}
)
def schema_alone(_: StreamModel) -> None:
    """A schema, and nothing after it."""


@variation("stream.legacy-end", STREAM, grade="ambiguous")
def legacy_end(model: StreamModel) -> None:
    """Modern messages, and the end marker of legacy framing: four zeros."""
    model.end = bytes(4)


@variation("stream.framing-mixed", FRAMING, grade="ambiguous")
def mixed_framing(model: StreamModel) -> None:
    """Every second message has legacy framing."""
    for message in model.messages[1::2]:
        if isinstance(message, DraftMessage):
            message.continuation = b""


@variation("stream.bytes-after-end", STREAM, grade="ambiguous")
def bytes_after_end(model: StreamModel) -> None:
    """Something else follows the end marker; the format does not say what a reader does with it."""
    model.end += b"something else entirely"


@variation("stream.twice", STREAM, on=("rows.several", "dictionary.two"), grade="ambiguous")
def stream_after_stream(model: StreamModel) -> bytes:
    """Another stream follows the end marker; a reader of one stream stops before it."""
    return model.encode() + model.encode()


@variation("stream.end-twice", STREAM, grade="ambiguous")
def end_twice(model: StreamModel) -> None:
    """The end marker is written twice: by the writer, and again when it is closed."""
    model.end += END_OF_STREAM


@variation("stream.aligned-64", ALIGNMENT, on=_EVERYWHERE, choices={"alignment": 64})
def aligned_to_64(_: StreamModel) -> None:
    """Metadata and buffers end on multiples of 64."""


@variation("stream.alignments", ALIGNMENT)
def alignments(model: StreamModel) -> None:
    """Each message is aligned in its own way: 8, 16, 32, 64, 128."""
    for number, message in enumerate((*model.dictionaries, *model.batches)):
        message.alignment = 8 << number % 5


@variation("stream.metadata-padded", FRAMING)
def metadata_padded(model: StreamModel) -> None:
    """There are 72 zeros more between metadata and body than the alignment needs."""
    for message in (model.schema, *model.dictionaries, *model.batches):
        data = message.encode()
        (length,) = struct.unpack_from("<i", data, 4)
        padded = CONTINUATION + struct.pack("<i", length + 72) + data[8 : 8 + length] + bytes(72) + data[8 + length :]
        model.rewrite(message, padded)


@variation("stream.metadata-padding-dirty", f"{COL}#buffer-alignment-and-padding")
def metadata_padding_dirty(model: StreamModel) -> None:
    """The padding after the metadata is not zero."""
    for message in (model.schema, *model.dictionaries, *model.batches):
        data = message.encode()
        (length,) = struct.unpack_from("<i", data, 4)
        dirty = CONTINUATION + struct.pack("<i", length + 8) + data[8 : 8 + length] + b"\x5a" * 8 + data[8 + length :]
        model.rewrite(message, dirty)


@variation("stream.metadata", METADATA, choices={"message_metadata": _PAIRS, "opening_metadata": _PAIRS})
def metadata(_: StreamModel) -> None:
    """Every message carries key-value metadata."""


@variation("stream.metadata-of-one", METADATA, on=("rows.several",))
def metadata_of_one(model: StreamModel) -> None:
    """One batch of several carries a lot of metadata, so that the lengths of messages differ."""
    pairs = [{"key": f"key {number}", "value": "x" * number} for number in range(40)]
    model.batches[1].tree["custom_metadata"] = pairs


@variation("stream.metadata-repeated", METADATA)
def metadata_repeated(model: StreamModel) -> None:
    """A key of a message's metadata occurs twice."""
    for message in (model.schema, *model.batches):
        message.tree["custom_metadata"] = [{"key": "k", "value": "1"}, {"key": "k", "value": "2"}]


@variation("stream.big-endian", ORDER, on=_SWAPPED, grade="optional", choices={"big_endian": True})
def big_endian(_: StreamModel) -> None:
    """Bodies are big-endian; a reader converts them or refuses them, and never reads them as they are."""


@variation(
    "stream.big-endian-dictionaries",
    ORDER,
    on=("dictionary.index-int16", "dictionary.of-int64", "dictionary.nested-list", "dictionary.delta"),
    grade="optional",
    choices={"big_endian": True},
)
def big_endian_dictionaries(_: StreamModel) -> None:
    """Indices and dictionaries are big-endian."""


@variation(
    "stream.big-endian-compressed",
    ORDER,
    on=("rows.thousand",),
    grade="optional",
    choices={"big_endian": True, "codec": "lz4"},
)
def big_endian_compressed(_: StreamModel) -> None:
    """Big-endian buffers are compressed; the lengths before them stay little-endian."""


@variation(
    "stream.big-endian-views-and-runs",
    ORDER,
    on=("types.string-view", "types.run-end-encoded-32"),
    grade="optional",
    choices={"big_endian": True},
)
def big_endian_views(_: StreamModel) -> None:
    """Big-endian views and run ends, which not every reader that converts can convert."""
