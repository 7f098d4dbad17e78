"""Streams of FlightData: one table, and the kinds of messages in which a server's stream can differ from the plain one.

The table has three batches of four rows, each with ``app_metadata``, so that a lost, repeated or foreign row is seen
by its number, and lost metadata by its text. The bytes are written by the reference's own writer.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import pyarrow as pa

from conformance.contract.clientjudging import Situation
from conformance.protocols.flight.contract.encoding import BODY, HEADER, descriptor, number, part
from conformance.protocols.flight.generate.damage import DAMAGES, Change, Piece, Pieces, changed, inserted
from conformance.protocols.flight.records import Damage, Descriptor
from conformance.reference.flatbuffers import write
from conformance.reference.ipc.options import WriterOptions
from conformance.reference.ipc.writer import stream_model
from conformance.reference.message import DraftMessage

__all__ = ["BATCHES", "NAME", "STREAMS", "Piece", "StreamKind", "encoded", "table"]

NAME: Final = "conformance"
"""The only step of the path of a descriptor, the text of a ticket, the type of an action."""
BATCHES: Final = 3
ROWS: Final = 4
"""Rows of each batch."""

WORDS: Final = ("one", "two", "three", "four")


@dataclasses.dataclass(frozen=True, slots=True)
class StreamKind:
    """A kind of stream: ``situation`` says what a client has to make of it, ``title`` continues *the stream has …*.

    ``placed`` is False if it concerns the stream as a whole. ``start`` makes the stream that is changed. A client that
    gives an error is asked up to ``tries`` times: where one of its threads reads ahead of another, chance decides.
    """

    title: str
    situation: Situation
    change: Change = lambda pieces, _at: pieces
    placed: bool = True
    start: Callable[[], Pieces] | None = None
    metadata_known: bool = True
    tries: int = 1


def table() -> pa.Table:
    """The rows that every legal stream has."""
    return pa.Table.from_batches(_batches())


def _batches(words: Callable[[int], pa.Array] | None = None) -> list[pa.RecordBatch]:
    ids = [range(ROWS * at, ROWS * (at + 1)) for at in range(BATCHES)]
    texts = [pa.array([WORDS[one % len(WORDS)] for one in each], pa.utf8()) for each in ids]
    return [
        pa.record_batch([pa.array(each, pa.int64()), texts[at] if words is None else words(at)], ["number", "word"])
        for at, each in enumerate(ids)
    ]


def encoded(batches: Sequence[pa.RecordBatch], options: WriterOptions | None = None) -> list[Piece]:
    """A stream; each batch has metadata."""
    model = stream_model(batches, options or WriterOptions(end="close"))
    made, count = [], 0
    for message in model.messages:
        assert isinstance(message, DraftMessage), "the reference writes models"
        tree, body = message.complete()
        rows = tree["header_type"] == _RECORD_BATCH
        metadata = b"batch %d" % count if rows else None
        count += rows
        made.append(Piece(write("Message", tree, layout=message.layout), body, metadata, rows=rows))
    return made


_RECORD_BATCH: Final = 3
_TENSOR: Final = 4


@functools.cache
def _plain() -> Pieces:
    return tuple(encoded(_batches()))


def _written(**options: object) -> Callable[[], Pieces]:
    return lambda: encoded(_batches(), WriterOptions(end="close", **options))  # type: ignore[arg-type]  # as named below


def _dictionaries(values: Callable[[int], Sequence[str]], *, deltas: bool = False) -> Callable[[], Pieces]:
    """The same rows with a dictionary, whose values at each batch are given."""

    def words(at: int) -> pa.Array:
        known = values(at)
        return pa.DictionaryArray.from_arrays(pa.array([known.index(one) for one in WORDS], pa.int32()), list(known))

    return lambda: encoded(_batches(words), WriterOptions(end="close", deltas=deltas))


def _fields_reversed(piece: Piece) -> Piece:
    fields = [part(BODY, piece.body), part(3, piece.metadata or b""), part(HEADER, piece.header)]
    return Piece(piece.header, piece.body, piece.metadata, raw=b"".join(fields))


def _without_dictionaries(pieces: Pieces, _at: int) -> Pieces:
    return [piece for place, piece in enumerate(pieces) if place == 0 or piece.rows]


def _dictionary_late(pieces: Pieces, _at: int) -> Pieces:
    schema, words, batch, *rest = pieces
    return [schema, batch, words, *rest]


def _other(batch: pa.RecordBatch, at: int) -> Piece:
    return encoded([batch])[at]


_STRAY: Final = pa.record_batch([pa.array([1.5, 2.5], pa.float64())], names=["other"])
_UNKNOWN: Final = number(77, 5) + part(78, b"x")
_DESCRIPTOR: Final = descriptor(Descriptor(path=(NAME,)))


def _tensor_header() -> bytes:
    """The header of a message of another kind, of which nothing but the kind is set."""
    return write("Message", {"version": 4, "header_type": _TENSOR, "header": {}, "bodyLength": 0})


_LEGAL, _OPEN, _BROKEN = Situation.HEALTHY, Situation.OPEN, Situation.BROKEN


def _grown(at: int) -> Sequence[str]:
    return WORDS if at == 0 else (*WORDS, *(f"later {one}" for one in range(at)))


def _turned(at: int) -> Sequence[str]:
    return [*WORDS[at:], *WORDS[:at]]


STREAMS: Final[Mapping[str, StreamKind]] = {
    "plain": StreamKind("three batches with metadata", _LEGAL, placed=False),
    "no-metadata": StreamKind(
        "a batch without metadata", _LEGAL, changed(lambda one: dataclasses.replace(one, metadata=None))
    ),
    "empty-batch": StreamKind(
        "a batch of no rows",
        _LEGAL,
        inserted(dataclasses.replace(encoded([_batches()[0].slice(0, 0)])[1], metadata=None)),
    ),
    "descriptor": StreamKind(
        "a descriptor in a batch's message", _LEGAL, changed(lambda one: dataclasses.replace(one, of=_DESCRIPTOR))
    ),
    "later-field": StreamKind(
        "a field of a later version in a batch's message",
        _LEGAL,
        changed(lambda one: dataclasses.replace(one, raw=one.message + _UNKNOWN)),
    ),
    "fields-reversed": StreamKind("the body of a batch before its header", _LEGAL, changed(_fields_reversed)),
    "header-twice": StreamKind(
        "a header twice in one message, the right one last",
        _LEGAL,
        DAMAGES[Damage.HEADER_TWICE],
    ),
    "long-metadata": StreamKind(
        "64 KiB of metadata on a batch", _LEGAL, changed(lambda one: dataclasses.replace(one, metadata=b"m" * 65536))
    ),
    "lz4": StreamKind("buffers compressed with LZ4", _LEGAL, placed=False, start=_written(codec="lz4")),
    "zstd": StreamKind("buffers compressed with ZSTD", _LEGAL, placed=False, start=_written(codec="zstd")),
    "dictionary": StreamKind(
        "a column with a dictionary", _LEGAL, placed=False, start=_dictionaries(lambda _at: WORDS)
    ),
    "delta": StreamKind(
        "a dictionary that grows by deltas", _LEGAL, placed=False, start=_dictionaries(_grown, deltas=True)
    ),
    "replacement": StreamKind("a dictionary that is replaced", _LEGAL, placed=False, start=_dictionaries(_turned)),
    "metadata-alone": StreamKind("a message with metadata alone", _OPEN, inserted(Piece(metadata=b"alone"))),
    "schema-metadata": StreamKind(
        "metadata on the schema",
        _OPEN,
        lambda pieces, _at: [dataclasses.replace(pieces[0], metadata=b"schema"), *pieces[1:]],
        placed=False,
        metadata_known=False,
    ),
    "message-empty": StreamKind("a message without a field", _OPEN, DAMAGES[Damage.MESSAGE_EMPTY]),
    "schema-again": StreamKind("the schema once more", _OPEN, DAMAGES[Damage.SCHEMA_AGAIN], tries=8),
    "schema-other": StreamKind("another schema", _OPEN, inserted(_other(_STRAY, 0))),
    "header-with-prefix": StreamKind(
        "a header with the prefix of a stream",
        _OPEN,
        DAMAGES[Damage.HEADER_WITH_PREFIX],
    ),
    "end-marker": StreamKind("the end marker of a stream as a header", _OPEN, DAMAGES[Damage.END_MARKER]),
    "other-kind": StreamKind("a message of the kind Tensor", _OPEN, inserted(Piece(_tensor_header()))),
    "body-longer": StreamKind(
        "a body with eight bytes more than its header declares",
        _OPEN,
        DAMAGES[Damage.BODY_LONGER],
    ),
    "dictionary-late": StreamKind(
        "a dictionary behind the first batch that uses it",
        _OPEN,
        _dictionary_late,
        placed=False,
        start=_dictionaries(lambda _at: WORDS),
    ),
    "body-alone": StreamKind("a body without a header", _OPEN, DAMAGES[Damage.BODY_ALONE]),
    "schema-missing": StreamKind("no schema", _BROKEN, DAMAGES[Damage.SCHEMA_MISSING], placed=False),
    "schema-late": StreamKind("the schema behind a batch", _OPEN, DAMAGES[Damage.SCHEMA_LATE]),
    "no-message": StreamKind("no message at all", _BROKEN, lambda _pieces, _at: [], placed=False),
    "body-cut": StreamKind("half of a body", _BROKEN, DAMAGES[Damage.BODY_CUT]),
    "body-missing": StreamKind("a batch without its body", _BROKEN, DAMAGES[Damage.BODY_MISSING]),
    "body-behind": StreamKind("the body of a batch in the next message", _BROKEN, DAMAGES[Damage.BODY_BEHIND]),
    "header-cut": StreamKind(
        "half of a header",
        _BROKEN,
        DAMAGES[Damage.HEADER_CUT],
    ),
    "header-noise": StreamKind(
        "a header of 64 bytes that are no message",
        _BROKEN,
        DAMAGES[Damage.HEADER_NOISE],
    ),
    "no-protobuf": StreamKind(
        "a message that is no protobuf",
        _BROKEN,
        DAMAGES[Damage.NO_PROTOBUF],
    ),
    "other-batch": StreamKind("a batch of another table", _BROKEN, changed(lambda _one: _other(_STRAY, 1))),
    "dictionary-missing": StreamKind(
        "no dictionary for a column that needs one",
        _BROKEN,
        _without_dictionaries,
        placed=False,
        start=_dictionaries(lambda _at: WORDS),
    ),
}
"""Every kind of stream by name."""


def made(kind: StreamKind, at: int) -> list[Piece]:
    """The stream of a kind, changed at a batch."""
    return [*kind.change(kind.start() if kind.start is not None else _plain(), at)]
