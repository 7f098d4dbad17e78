"""The forms of combined vectors: legal choices of writers that apply to every layout.

The other legal variations apply to some layouts only (views, offsets, children); the chapter *variations* of the golden
vectors has them.
"""

from __future__ import annotations

import dataclasses
import itertools
import struct
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

import numpy as np

from conformance.reference.body import Part
from conformance.reference.flatbuffers import TableLayout
from conformance.reference.ipc.models import FileModel, StreamModel
from conformance.reference.ipc.variations.bodies import batches_of
from conformance.reference.ipc.variations.compressedbodies import squeeze
from conformance.reference.ipc.variations.sources import (
    ALIGNMENT,
    BATCH,
    COL,
    COMPRESSION,
    FBS,
    FRAMING,
    METADATA,
    STREAM,
)
from conformance.reference.message import CONTINUATION, DraftMessage, frame

__all__ = ["FORMS", "ByteForm"]


def _as_it_is(_: StreamModel) -> None:
    """Leave the model as the writer's options made it."""


@dataclasses.dataclass(frozen=True, slots=True)
class ByteForm:
    """One form: what it is, the text that permits it, the writer's options, and a change of the stream's model.

    ``squeezes`` says that every buffer is compressed if there is a codec, as Arrow C++ does; otherwise the options
    decide. ``layout`` is that of all metadata, the Footer's too.
    """

    name: str
    what: str
    source: str
    choices: Mapping[str, object] = dataclasses.field(default_factory=dict)
    vary: Callable[[StreamModel], None] = _as_it_is
    squeezes: bool = True
    layout: TableLayout | None = None

    def apply(self, stream: StreamModel, codec: str, file: FileModel | None) -> None:
        """Change a stream in place; ``file`` is the file around it, if there is one."""
        if codec and self.squeezes:
            squeeze(stream, codec)
        if self.layout is not None:
            for message in stream.messages:
                if isinstance(message, DraftMessage):
                    message.layout = self.layout
            if file is not None:
                file.layout = self.layout
        self.vary(stream)


def _padded(model: StreamModel) -> None:
    for message in (model.schema, *model.dictionaries, *model.batches):
        data = message.encode()
        (length,) = struct.unpack_from("<i", data, 4)
        padded = CONTINUATION + struct.pack("<i", length + 72) + data[8 : 8 + length] + bytes(72) + data[8 + length :]
        model.rewrite(message, padded)


def _dirty(model: StreamModel) -> None:
    for message in batches_of(model):
        tree, body = message.complete()
        out = bytearray(body)
        for (start, length), (after, _) in itertools.pairwise(_buffers(tree)):
            if length:
                out[start + length : after] = b"\x5a" * max(0, after - start - length)
        model.rewrite(message, frame(tree, bytes(out)))


def _buffers(tree: Mapping[str, object]) -> list[tuple[int, int]]:
    header = tree["header"]
    assert isinstance(header, dict)
    found: list[tuple[int, int]] = header.get("data", header)["buffers"]
    return found


def _reversed(model: StreamModel) -> None:
    for message in batches_of(model):
        buffers, body = message.body()
        out, places = bytearray(), []
        for start, length in reversed(buffers):
            places.append((len(out), length))
            out += body[start : start + length]
            out += bytes(-len(out) % 8)
        message.batch["buffers"] = places[::-1]
        tree, _ = message.complete()
        model.rewrite(message, frame({**tree, "bodyLength": len(out)}, bytes(out)))


def _under_nulls(part: Part, below: Part) -> None:
    """Fill the slots under nulls with bits that are no value: of fixed width, or an index outside the dictionary."""
    if not part.data or below.role not in ("data", "indices") or not part.slots or len(below.data) % part.slots:
        return
    if len(below.data) < part.slots:  # booleans, eight to a byte
        return
    rows = np.frombuffer(below.data, np.uint8).reshape(part.slots, -1).copy()
    valid = np.unpackbits(np.frombuffer(part.data, np.uint8), count=part.slots, bitorder="little")
    rows[valid == 0] = 0xFF if below.role == "indices" else 0xA5
    below.data = rows.tobytes()


def _filled(model: StreamModel) -> None:
    for message in batches_of(model):
        for part, below in itertools.pairwise(message.parts):
            if part.role == "validity" and part.path == below.path:
                _under_nulls(part, below)


_PAIRS: Final = MappingProxyType({"writer": "reference", "größe": "7", "empty": ""})
_VALIDITY: Final = f"{COL}#validity-bitmaps"
_INTERNALS: Final = "https://flatbuffers.dev/internals/"

_ALL: Final = (
    ByteForm("usual", "As the reference writes.", f"{COL}#serialization-and-interprocess-communication-ipc"),
    ByteForm("no-end", "The stream just ends; there is no marker.", STREAM, {"end": "close"}),
    ByteForm("bitmaps", "Every field whose type has a bitmap has one.", _VALIDITY, {"validity": "always"}),
    ByteForm("aligned-64", "Metadata and buffers end on multiples of 64.", ALIGNMENT, {"alignment": 64}),
    ByteForm("legacy", "Messages start with their length alone.", FRAMING, {"legacy": True}),
    ByteForm("stored", "Compression is declared, and every buffer is stored under the length -1.", COMPRESSION,
             {"min_space_savings": 1.0}, squeezes=False),
    ByteForm("smaller", "A buffer is compressed where that makes it smaller.", COMPRESSION, squeezes=False),
    ByteForm("metadata", "Every message carries key-value metadata.", METADATA,
             {"message_metadata": _PAIRS, "opening_metadata": _PAIRS}),
    ByteForm("padded", "There are 72 zeros more after the metadata than the alignment needs.", FRAMING, vary=_padded),
    ByteForm("dirty", "The padding between buffers is not zero.", ALIGNMENT, vary=_dirty),
    ByteForm("reversed", "Buffers are in reverse order; the header gives their positions.", BATCH, vary=_reversed),
    ByteForm("under-nulls", "Slots under nulls hold arbitrary bits.", _VALIDITY, vary=_filled),
    ByteForm("defaults", "Scalars of the metadata that equal their default are written.", _INTERNALS,
             layout=TableLayout(explicit_defaults=True, shared_vtables=False)),
    ByteForm("vtables-last", "The vtables of the metadata follow their tables.", f"{FBS} and {_INTERNALS}",
             layout=TableLayout(vtables_last=True, shared_vtables=False)),
)  # fmt: skip

FORMS: Final[Mapping[str, ByteForm]] = {form.name: form for form in _ALL}
"""Every form by name."""
