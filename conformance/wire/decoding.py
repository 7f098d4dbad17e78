"""Decoding of the record batches of a stream or file, each with the dictionaries that apply to it.

Judging a stream decodes nothing; it only counts the dictionary batches before each record batch. A dictionary batch and
the deltas after it form one generation, whose values are concatenated once. A batch that was written before the last
delta uses a prefix of these values.
"""

from __future__ import annotations

import bisect
import dataclasses
import functools
from collections.abc import Iterator, Sequence

import pyarrow as pa

from conformance.wire.arrays import batch_to_arrow, column_to_arrow
from conformance.wire.arrow import DecodingError, UndecodableError, UnsupportedHereError
from conformance.wire.batch import BatchMessage
from conformance.wire.dictionaries import DictionaryMessage
from conformance.wire.types import Field

__all__ = ["decode"]


def decode(
    dictionaries: Sequence[DictionaryMessage], batches: Sequence[BatchMessage], defined: Sequence[int]
) -> Iterator[pa.RecordBatch]:
    """The record batches, each with the dictionaries that apply at its position.

    ``defined`` contains, for each batch, the number of ``dictionaries`` that apply to it: in a stream those before it,
    in a file all, in the footer's order. The values of a dictionary may be dictionary-encoded, too: the inner
    dictionary is the one that applies at the position of the dictionary batch or, if it is not defined there yet, at
    the position of the record batch. A dictionary that is not defined counts as empty.

    Raises :class:`~conformance.wire.arrow.UndecodableError` if faults leave no safe way to decode, for example a
    visible index outside its dictionary, and :class:`~conformance.wire.arrow.UnsupportedHereError` if the installed
    pyarrow lacks something.
    """
    known = _Dictionaries(dictionaries)
    for batch, count in zip(batches, defined, strict=True):
        yield batch_to_arrow(batch, functools.partial(known.lookup, count, count))


@dataclasses.dataclass(slots=True, eq=False)
class _Generation:
    """A dictionary batch and its deltas, each with its position among all dictionary batches.

    ``joined`` remembers, per type, the concatenated values and the length up to each message; ``failures`` the error of
    the first message that could not be decoded.
    """

    messages: list[tuple[int, DictionaryMessage]]
    joined: dict[pa.DataType, tuple[pa.Array, list[int]]] = dataclasses.field(default_factory=dict)
    failures: dict[pa.DataType, DecodingError] = dataclasses.field(default_factory=dict)


class _Dictionaries:
    """The dictionary batches of one stream or file, and the dictionaries that apply at any position among them."""

    def __init__(self, messages: Sequence[DictionaryMessage]) -> None:
        self.places: dict[int, list[int]] = {}
        self.states: dict[int, list[tuple[_Generation, int]]] = {}
        for place, message in enumerate(messages):
            states = self.states.setdefault(message.id, [])
            if message.delta and states:
                generation = states[-1][0]
                generation.messages.append((place, message))
            else:
                generation = _Generation([(place, message)])
            self.places.setdefault(message.id, []).append(place)
            states.append((generation, len(generation.messages)))

    def lookup(self, place: int, late: int, field: Field, made: pa.DataType) -> pa.Array | None:
        """The dictionary that an encoded field has at position ``place``.

        If no dictionary is defined before ``place``, it is the one defined before ``late``, or None.
        Raises :class:`DecodingError` if decoding is unsafe.
        """
        if field.dictionary is None:
            return None
        places = self.places.get(field.dictionary.id, [])
        # Number of dictionary batches of this id before `place`; 0 falls back to `late`.
        count = bisect.bisect_left(places, place) or bisect.bisect_left(places, late)
        if not count:
            return None
        generation, parts = self.states[field.dictionary.id][count - 1]
        return self.values(generation, parts, late, field, made)

    def values(self, generation: _Generation, parts: int, late: int, field: Field, made: pa.DataType) -> pa.Array:
        """The values of the first ``parts`` messages of a generation, as an array of type ``made``."""
        first = generation.messages[0][1]
        if first.delta:
            raise UndecodableError(f"dictionary {first.id} has a delta, and nothing that it could be added to")
        if not _alike(first.batch.schema.fields[0], field):
            raise UndecodableError(f"dictionary {first.id} is shared by {field}, which has another type")
        if made not in generation.joined:
            self.join(generation, made, late)
        array, ends = generation.joined[made]
        if parts > len(ends):
            raise generation.failures[made]
        return array[: ends[parts - 1]]

    def join(self, generation: _Generation, made: pa.DataType, late: int) -> None:
        """Decode and concatenate a generation's messages up to the first that fails, and remember the result."""
        parts: list[pa.Array] = []
        ends: list[int] = []
        for place, message in generation.messages:
            lookup = functools.partial(self.lookup, place, late)
            try:
                part = column_to_arrow(message.batch, made, lookup)
            except DecodingError as error:
                generation.failures[made] = error
                break
            parts.append(part)
            ends.append(len(part) + (ends[-1] if ends else 0))
        generation.joined[made] = _concatenated(parts, made), ends


def _concatenated(parts: list[pa.Array], made: pa.DataType) -> pa.Array:
    if len(parts) == 1:
        return parts[0]
    try:
        return pa.concat_arrays(parts) if parts else pa.nulls(0, made)
    except (pa.ArrowException, ValueError) as error:
        message = f"pyarrow {pa.__version__} cannot join the parts of a dictionary: {error}"
        raise UnsupportedHereError(message) from error


def _alike(one: Field, other: Field) -> bool:
    """True if the values of two fields have the same layout; reading a buffer as another type would be unsafe."""
    if one.type != other.type or len(one.children) != len(other.children):
        return False
    return all(
        left.dictionary == right.dictionary and _alike(left, right)
        for left, right in zip(one.children, other.children, strict=True)
    )
