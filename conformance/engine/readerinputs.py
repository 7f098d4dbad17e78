"""The inputs for readers of IPC data: golden vectors, the same under options, and bytes mangled from them.

Each input has an id from which it can be made again (:func:`Inputs.find`), so that a single line replays it.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import re
import threading
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar, TypeVarTuple, Unpack

import pyarrow as pa

from conformance.contract.closed import Tier, Validity
from conformance.contract.ipc.expectation import STATISTICS, Expectation
from conformance.contract.ipc.expecting import expect
from conformance.engine.combining import applies, factors_of, options_of, readings_of
from conformance.engine.selection import Patterns
from conformance.generate.choices import Seeded
from conformance.generate.covering import Factors
from conformance.generate.mangling import mangled
from conformance.generate.vectors import Vector, VectorError, VectorSet
from conformance.readers.ipc.job import KINDS
from conformance.reference.ipc import rare
from conformance.reference.ipc.combined import PREFIX, make, name_of, row_of, rows
from conformance.wire import (
    FileReading,
    Header,
    Kind,
    PlainTable,
    StreamReading,
    plain_table,
    read_file,
    read_stream,
)
from conformance.wire.arrow import schema_to_arrow
from conformance.wire.integration import read_integration

__all__ = ["OPTION", "Inputs", "ReadInput", "counted", "option_text"]

OPTION: Final = "@"
"""Comes between the id of a vector and the options under which it is read."""

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_MANGLED: Final = re.compile(r"mangled\.s(\d{1,19})\.i(\d{1,19})")
_UNDER_OPTIONS: Final = ("rows.several", "nested.mixed", "dictionary.two", "types.union-dense", "nulls.words")
"""Samples that are read under every option. Few are enough: options change how data is read, whatever its types."""
_ANY: Final[Mapping[str, tuple[Any, ...]]] = {"included_fields": ([0], [1]), "chunk": (1, 7, 64)}
"""Values to try for options that accept any value."""
_UNKNOWN: Final = Expectation(Validity.PERMITTED, None, Tier.OPTIONAL)
"""The expectation of bytes that have not been looked at."""


@dataclasses.dataclass(frozen=True, slots=True)
class ReadInput:
    """Bytes to read with some options, and the expectation for readers; ``title`` describes the bytes.

    ``schema`` is the schema of the expected rows, or None if no rows are expected. ``row`` are the values of all
    factors that meet in a combined vector; it is empty for other inputs.
    """

    id: str
    title: str
    kind: Kind
    data: bytes
    expectation: Expectation
    schema: pa.Schema | None = None
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    generated: bool = False
    row: Mapping[str, Hashable] = dataclasses.field(default_factory=dict)


class Inputs:
    """The inputs made from a set of vectors.

    ``generated`` more inputs are mangled from the valid vectors, from ``seed``. ``combined`` adds the combined vectors
    (:mod:`conformance.reference.ipc.combined`) and the rare ones (:mod:`conformance.reference.ipc.rare`).
    """

    def __init__(self, vectors: VectorSet, *, seed: int = 0, generated: int = 0, combined: bool = False) -> None:
        self._set = vectors
        self._combined = tuple(map(name_of, rows())) if combined else ()
        self._rare = tuple(rare.RARE) if combined else ()
        self._vectors = vectors.vectors
        self._seed = seed
        self._generated = generated
        # Every reader gets the same inputs, and making one is slower than reading it.
        self._rows = _once(self._read_rows)
        self._of_vector = _once(self._read_vector)
        self._made = _once(_combined)
        self._of_rare = _once(_rare)
        self._mangled = _once(self._mangle)

    def ids(self, select: Sequence[str] = ()) -> list[str]:
        """The ids of the vectors that match ``select`` (globs); all if there are no globs."""
        return self.matched(Patterns(select))

    def matched(self, globs: Patterns) -> list[str]:
        """The vectors that one of ``globs`` matches."""
        return [name for name in (*self._vectors, *self._combined, *self._rare) if globs.match(name)]

    def chosen(
        self,
        select: Sequence[str],
        options: Mapping[str, Sequence[Any]],
        kinds: Sequence[str] = KINDS,
        holds: Callable[[str], bool] = lambda _: True,
    ) -> Iterator[ReadInput]:
        """The vectors of ``kinds`` that match ``select``, each followed by itself under ``options`` (values by name),
        then the combined ones, the rare ones, and the mangled ones. None is made whose id, without options, ``holds``
        does not hold: there may be a hundred thousand others.
        """
        for name in self.ids(select):
            if name in self._vectors and self._vectors[name].kind in kinds and holds(name):
                made = self._of_vector(name)
                yield made
                if name.partition(".")[2] in _UNDER_OPTIONS:
                    yield from _under(made, options)
        if self._combined:
            yield from self._readings(Patterns(select), factors_of(kinds, options), holds)
        yield from self._rarely(Patterns(select), options, kinds, holds)
        for number in range(self._generated):
            if holds(_mangled_id(self._seed, number)):
                mangled_input = self._mangled(self._seed, number)
                if mangled_input.kind in kinds:
                    yield mangled_input

    def _readings(self, globs: Patterns, factors: Factors, holds: Callable[[str], bool]) -> Iterator[ReadInput]:
        """The chosen combined vectors, each under the options of its readings."""
        for row in readings_of(factors):
            if globs.match(name := name_of(row)) and holds(name):
                made = self._made(name)
                yield dataclasses.replace(
                    _with(made, options) if (options := options_of(row, factors)) else made, row=row
                )

    def _rarely(
        self,
        globs: Patterns,
        options: Mapping[str, Sequence[Any]],
        kinds: Sequence[str],
        holds: Callable[[str], bool],
    ) -> Iterator[ReadInput]:
        """The chosen rare inputs, each followed by itself under the options that it names, but for their defaults."""
        for name in self._rare:
            if (each := rare.RARE[name]).kind in kinds and globs.match(name) and holds(name):
                made = self._of_rare(name)
                yield made
                known = options if each.under is None else {key: options[key] for key in each.under if key in options}
                yield from _under(made, {key: values[1:] for key, values in known.items()})

    def find(self, name: str) -> ReadInput:
        """The input with that id.

        Raises:
            VectorError: no input has it.
        """
        if found := _MANGLED.fullmatch(name):
            return self._mangled(int(found[1]), int(found[2]))
        base, _, option = name.partition(OPTION)
        if base in self._vectors:
            made = self._of_vector(base)
        elif base.startswith(f"{PREFIX}."):
            try:
                made = self._made(base)
            except ValueError as error:
                raise VectorError(str(error)) from None
        elif base in rare.RARE:
            made = self._of_rare(base)
        else:
            raise VectorError(f"expected the id of a vector or `mangled.s<seed>.i<number>`, got {name!r}")
        if not option:
            return made
        try:
            return _with(made, _options(option))
        except ValueError:
            raise VectorError(f"expected options with JSON values after the @ of {name!r}") from None

    def _read_vector(self, name: str) -> ReadInput:
        vector = self._vectors[name]
        data, kind = self._set.contents[vector.file], Kind(vector.kind)
        rows, schema = self._rows(vector.rows) if vector.rows else (None, None)
        if kind is Kind.TENSOR and vector.result is Validity.VALID:
            rows = expect(data, kind).rows  # the JSON form of the integration tests has no tensors
        expectation = Expectation(
            result=vector.result,
            rows=rows,
            tier=vector.tier,
            clauses=tuple(one for one in vector.clauses if one.startswith("reader.")),
            reason=vector.reason,
            statistics=counted(data, kind) if vector.result is Validity.VALID else None,
        )
        return ReadInput(vector.id, vector.comment, kind, data, expectation, schema)

    def _read_rows(self, path: str) -> tuple[PlainTable, pa.Schema]:
        schema, batches = read_integration(json.loads(self._set.contents[path]))
        if batches:
            return plain_table(batches), schema
        return PlainTable(tuple(schema.names), tuple([] for _ in schema.names), 0), schema

    def _mangle(self, seed: int, number: int) -> ReadInput:
        bases = self._sound
        base = Seeded(seed, number, "base").pick(bases)
        data = mangled(self._set.contents[base.file], seed, number)
        kind = Kind(base.kind)
        title = f"{base.id}, with one change"
        expectation = expect(data, kind)
        schema = None if expectation.rows is None else _schema(data, kind)
        return ReadInput(_mangled_id(seed, number), title, kind, data, expectation, schema, generated=True)

    @functools.cached_property
    def _sound(self) -> list[Vector]:
        return [vector for vector in self._vectors.values() if vector.result is Validity.VALID]


def _mangled_id(seed: int, number: int) -> str:
    return f"mangled.s{seed}.i{number}"


def _once(make: Callable[[Unpack[Ts]], T]) -> Callable[[Unpack[Ts]], T]:
    """The function with its results kept; if several threads ask for one, only the first makes it."""
    kept: dict[tuple[*Ts], T] = {}
    lock = threading.Lock()

    def found(*key: *Ts) -> T:
        with lock:
            if key not in kept:
                kept[key] = make(*key)
            return kept[key]

    return found


def counted(data: bytes, kind: Kind) -> Mapping[str, Sequence[int]] | None:
    """The number of messages, batches and dictionary batches of a stream or file, under the names in
    :data:`~conformance.contract.ipc.expectation.STATISTICS`; None for other kinds.

    The footer of a file leads to its batches. Its schema is there too, so a reader need not read the schema message.
    """
    messages: tuple[int, ...]
    reading: StreamReading | FileReading
    if kind is Kind.FILE:
        reading = read_file(data)
        blocks = len(reading.batches) + len(reading.dictionaries)
        messages = (blocks, blocks + 1)
    elif kind is Kind.STREAM:
        reading = stream = read_stream(data)
        messages = (sum(message.header is not Header.END_OF_STREAM for message in stream.messages),)
    else:
        return None
    seen: set[int] = set()
    replaced = 0
    for made in reading.dictionaries:
        replaced += made.id in seen and not made.delta
        seen.add(made.id)
    deltas = sum(made.delta for made in reading.dictionaries)
    counts = (len(reading.batches), len(reading.dictionaries), deltas, replaced)
    return dict(zip(STATISTICS, (messages, *((count,) for count in counts)), strict=True))


def _schema(data: bytes, kind: Kind) -> pa.Schema | None:
    reading = read_file(data) if kind is Kind.FILE else read_stream(data)
    return None if reading.schema is None else schema_to_arrow(reading.schema)


def _under(made: ReadInput, options: Mapping[str, Sequence[Any]]) -> Iterator[ReadInput]:
    """An input under each value of each option, one option at a time; nothing unless it is legal and its rows are
    known.
    """
    rows = made.expectation.rows
    if made.expectation.result is Validity.INVALID or rows is None:
        return
    for key, values in options.items():
        for value in values or _ANY.get(key, ()):
            fits = key != "included_fields" or max(value) < len(rows.names)
            if fits and value != "" and applies({key: value}, made.kind):
                yield _with(made, {key: value})


def _with(made: ReadInput, options: Mapping[str, Any]) -> ReadInput:
    """The input under options. Raises ValueError if they are none."""
    expectation = made.expectation
    rows, schema, chosen = expectation.rows, made.schema, options.get("included_fields")
    if chosen is not None and rows is not None and schema is not None:
        expectation = dataclasses.replace(expectation, rows=_projected(rows, chosen))
        schema = pa.schema([schema.field(place) for place in sorted({*chosen})])
    text = option_text(options)
    title = f"{made.title} Read with {text}."
    return dataclasses.replace(
        made, id=f"{made.id}{OPTION}{text}", title=title, options=options, expectation=expectation, schema=schema
    )


def _options(text: str) -> dict[str, Any]:
    """The options of an id. Raises ValueError if they are none."""
    parts = (part.partition("=") for part in re.split(r",(?=[a-z_]+=)", text))
    return {key: json.loads(value) for key, _, value in parts}


def _combined(name: str) -> ReadInput:
    """The combined vector with that id.

    Raises:
        ValueError: no vector has this id.
        RuntimeError: the suite reads other rows in it than it wrote, or finds fault with it.
    """
    made = make(row_of(name))
    return _checked(ReadInput(name, made.title, made.kind, made.data, _UNKNOWN), made.batches)


def _rare(name: str) -> ReadInput:
    """The rare input with that id.

    Raises:
        RuntimeError: the suite reads other rows in it than it wrote, or finds fault with it.
    """
    each = rare.RARE[name]
    made = each.make()
    checked = _checked(ReadInput(name, each.title, each.kind, made.data, _UNKNOWN), made.batches)
    if not each.open:
        return checked
    rows_ = checked.expectation.rows
    return dataclasses.replace(
        checked, expectation=Expectation(Validity.PERMITTED, rows_, Tier.OPTIONAL, reason=each.open)
    )


def _checked(made: ReadInput, batches: Sequence[pa.RecordBatch]) -> ReadInput:
    """Legal input with its expectation. Raises RuntimeError if the suite reads other rows in it than ``batches``."""
    rows_, read = plain_table(batches), expect(made.data, made.kind)
    if read.result is not Validity.VALID or read.rows != rows_:
        raise RuntimeError(f"{made.id}: expected the judge to read what was written, but {read.reason}")
    expectation = dataclasses.replace(read, rows=rows_, statistics=counted(made.data, made.kind))
    return dataclasses.replace(made, expectation=expectation, schema=batches[0].schema)


def _projected(rows: PlainTable, chosen: Sequence[int]) -> PlainTable:
    """The columns that a list of field numbers includes, in the schema's order."""
    kept = [place for place in range(len(rows.names)) if place in chosen]
    return PlainTable(
        tuple(rows.names[place] for place in kept), tuple(rows.columns[place] for place in kept), rows.rows
    )


def option_text(options: Mapping[str, Any]) -> str:
    """Options as a part of an id: ``codec="lz4"``."""
    return ",".join(f"{key}={json.dumps(value, separators=(',', ':'))}" for key, value in options.items())
