"""Variations of files: magic, gaps, Footer, blocks, and the stream inside."""

from __future__ import annotations

from typing import Final

from conformance.reference.flatbuffers import SHARED_FIRST, write
from conformance.reference.ipc.models import MAGIC, FileModel
from conformance.reference.ipc.register import STANDARD, variation
from conformance.reference.ipc.variations.sources import ALIGNMENT, COMPRESSION, FBS, FILE, METADATA, ORDER

__all__: list[str] = []

_EVERYWHERE: Final = (*STANDARD, "rows.zero", "rows.no-batches", "rows.no-columns-three", "dictionary.nested-list")
_EMPTY: Final = ("rows.no-batches", "rows.no-columns-no-batches", "dictionary.no-batches")
_PAIRS: Final = {"writer": "reference", "größe": "7"}


@variation("file.plain", FILE, kind="file", on=_EVERYWHERE)
def plain(_: FileModel) -> None:
    """A file as the reference writes it."""


@variation("file.legacy", FILE, kind="file", choices={"legacy": True})
def legacy(_: FileModel) -> None:
    """The stream inside has legacy framing."""


@variation("file.legacy-v4", FILE, kind="file", choices={"legacy": True, "version": "V4"})
def legacy_v4(_: FileModel) -> None:
    """Legacy framing and metadata V4: a file from before Arrow 0.15."""


@variation("file.v4", FILE, kind="file", choices={"version": "V4"})
def v4(_: FileModel) -> None:
    """Metadata version V4, in the Footer too."""


@variation("file.no-end", FILE, kind="file", choices={"end": "close"}, grade="ambiguous")
def without_end(_: FileModel) -> None:
    """The stream inside has no end marker: older texts draw it as optional, newer ones draw it."""


@variation("file.legacy-end", FILE, kind="file", grade="ambiguous")
def legacy_end(model: FileModel) -> None:
    """The end marker of legacy framing after modern messages."""
    model.stream.end = bytes(4)


@variation("file.aligned-64", ALIGNMENT, kind="file", on=_EVERYWHERE, choices={"alignment": 64})
def aligned_to_64(_: FileModel) -> None:
    """Metadata and buffers end on multiples of 64 from the start of their message."""


@variation(
    "file.big-endian",
    ORDER,
    kind="file",
    on=("types.int16", "nested.mixed", "dictionary.two"),
    grade="optional",
    choices={"big_endian": True},
)
def big_endian(_: FileModel) -> None:
    """Bodies are big-endian; the Footer and its blocks are not."""


@variation(
    "file.compressed",
    COMPRESSION,
    kind="file",
    on=("rows.thousand", "dictionary.many-values"),
    grade="optional",
    choices={"codec": "lz4"},
)
def compressed(_: FileModel) -> None:
    """Compressed batches and dictionaries in a file."""


@variation("file.metadata", METADATA, kind="file", choices={"message_metadata": _PAIRS, "opening_metadata": _PAIRS})
def metadata(_: FileModel) -> None:
    """Messages carry metadata, and the Footer repeats the metadata of the first message."""


@variation("file.metadata-of-one", METADATA, kind="file", on=("rows.several",))
def metadata_of_one(model: FileModel) -> None:
    """One batch of several has metadata, so that lengths differ from block to block
    (https://github.com/pola-rs/polars/pull/25975).
    """
    model.stream.batches[1].tree["custom_metadata"] = [{"key": "k", "value": "x" * 100}]


@variation("file.footer-metadata", f"{FBS}/File.fbs", kind="file")
def footer_metadata(model: FileModel) -> None:
    """The Footer has user-defined metadata, and the first message none; pyarrow writes it with ``metadata=``."""
    model.footer["custom_metadata"] = [{"key": key, "value": value} for key, value in _PAIRS.items()]


@variation("file.blocks-absent", f"{FBS}/File.fbs", kind="file", on=_EMPTY)
def blocks_absent(model: FileModel) -> bytes:
    """A file without batches has no vectors of blocks."""
    before, footer = model.complete()
    del footer["dictionaries"], footer["recordBatches"]
    return model.assemble(before, footer)


@variation("file.dictionary-blocks-absent", f"{FBS}/File.fbs", kind="file", on=("rows.several", "types.utf8"))
def dictionary_blocks_absent(model: FileModel) -> bytes:
    """A file without dictionaries has no vector of their blocks."""
    before, footer = model.complete()
    del footer["dictionaries"]
    return model.assemble(before, footer)


@variation("file.blocks-reordered", FILE, kind="file", on=("rows.several",), grade="ambiguous", reported=False)
def blocks_reordered(model: FileModel) -> bytes:
    """The Footer lists batches in another order than the stream; the format does not say which order counts."""
    before, footer = model.complete()
    footer["recordBatches"] = [footer["recordBatches"][index] for index in (0, 2, 1)]
    return model.assemble(before, footer)


@variation("file.batch-unlisted", FILE, kind="file", on=("rows.several",), grade="ambiguous", reported=False)
def batch_unlisted(model: FileModel) -> bytes:
    """The Footer leaves out the last batch of the stream, which readers of streams still read."""
    before, footer = model.complete()
    footer["recordBatches"] = footer["recordBatches"][:-1]
    return model.assemble(before, footer)


@variation("file.footer-padded", FILE, kind="file")
def footer_padded(model: FileModel) -> bytes:
    """The Footer's bytes end in 40 zeros that belong to no object, and its length counts them."""
    before, footer = model.complete()
    data = write("Footer", footer, layout=SHARED_FIRST)
    data += bytes(-len(data) % 8 + 40)
    return before + data + len(data).to_bytes(4, "little") + MAGIC


@variation("file.gap-before-footer", FILE, kind="file", grade="ambiguous")
def gap_before_footer(model: FileModel) -> None:
    """Zeros are between the end marker and the Footer, so that it starts on a multiple of 64."""
    before, _ = model.complete()
    model.stream.end += bytes(-len(before) % 64)


@variation("file.magic-to-64", FILE, kind="file", on=("rows.several", "dictionary.two"), grade="ambiguous")
def magic_to_64(model: FileModel) -> None:
    """The magic is padded to 64 bytes, as buffers are; the text draws padding to 8."""
    model.lead = MAGIC.ljust(64, b"\0")


@variation("file.magic-padding", FILE, kind="file", on=("rows.several", "dictionary.two"))
def magic_padding(model: FileModel) -> None:
    """The two bytes of padding after the magic are not zero."""
    model.lead = MAGIC + b"\x5a\x5a"


EMBEDDED: Final = "file.embedded"
"""The only variation whose bytes are more than a file: a judge of files must know where the file begins."""


@variation(EMBEDDED, FILE, kind="file", on=("rows.several", "dictionary.two"), grade="ambiguous")
def embedded(model: FileModel) -> None:
    """The file is at the end of something bigger, and offsets count from the start of the bigger thing."""
    model.lead = b"something that is no Arrow file".ljust(64, b".") + MAGIC + bytes(2)
