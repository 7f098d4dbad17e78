"""The facts about readers and writers of IPC data, and what an implementation declares about itself when it runs."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import pyarrow as pa

from conformance.contain.text import keep_safe, safe
from conformance.readers.rewrite import Rewrite

__all__ = [
    "Decoded",
    "Hello",
    "IpcReaderInfo",
    "IpcWriterInfo",
    "Library",
    "LibraryModule",
    "Tensors",
    "Unavailable",
    "Unsupported",
]

_NONE: Mapping[str, tuple[Any, ...]] = types.MappingProxyType({})


class Unavailable(Exception):  # noqa: N818  # it is an expected answer, not an error of the caller
    """A library, a runtime or an adapter is missing; the text says what is missing and what to do.

    The text may quote the output of a program, so it is made safe here.
    """

    def __init__(self, text: str) -> None:
        super().__init__(safe(text))


class Unsupported(Exception):  # noqa: N818  # it is an expected answer
    """A library does not support the request; the text names the missing feature."""


@dataclass(frozen=True, slots=True)
class _Info:
    """The facts about one implementation; ``module`` or ``adapter`` says how it runs.

    ``name`` is permanent.
    ``module`` is the import path of a :class:`LibraryModule`, which the register fills in; ``adapter`` is the
    directory of a program's ``adapter.toml``. ``kinds`` and ``options`` are the supported kinds of data and values
    of options; a program declares them in its hello, and they are empty here. ``lacks`` is a regular expression for
    the errors (``class: text``) with which a Python library says that it lacks a feature; an adapter recognises its
    library's errors itself.
    """

    name: str
    title: str
    language: str
    module: str = ""
    adapter: Path | None = None
    kinds: tuple[str, ...] = ()
    options: Mapping[str, tuple[Any, ...]] = field(default_factory=lambda: _NONE)
    lacks: str = ""


@dataclass(frozen=True, slots=True)
class IpcReaderInfo(_Info):
    """The facts about a reader; an option without listed values takes any value (``included_fields``).

    ``rewrites`` are the changes of type, and so of values, that its maintainers document;
    :func:`~conformance.readers.ipc.rewrites.as_read_by` applies them to the expected rows. ``left_to_validation``
    are the clauses on errors that, according to its documentation, only a separate validation finds, which the
    reader does not call. ``takes_long`` says that to judge it takes longer than others: of several, it begins first.
    """

    rewrites: tuple[Rewrite, ...] = ()
    left_to_validation: tuple[str, ...] = ()
    takes_long: bool = False

    def as_writer(self, **others: Any) -> IpcWriterInfo:
        """The same implementation as a writer, without options; ``others`` replace facts that differ for the writer."""
        facts = {field.name: getattr(self, field.name) for field in fields(IpcWriterInfo)}
        return IpcWriterInfo(**facts | {"options": _NONE} | others)


@dataclass(frozen=True, slots=True)
class IpcWriterInfo(_Info):
    """The facts about a writer; an option that its library's interface lacks does not apply to it."""


@dataclass(frozen=True, slots=True)
class Hello:
    """The declaration of a running implementation about itself; ``paths`` are those of a client."""

    implementation: str
    title: str
    language: str
    version: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    read_options: Mapping[str, tuple[Any, ...]] = field(default_factory=lambda: _NONE)
    write_options: Mapping[str, tuple[Any, ...]] = field(default_factory=lambda: _NONE)
    paths: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        keep_safe(self, "implementation", "title", "language", "version", "reads", "writes", "paths")


@dataclass(frozen=True, slots=True)
class Decoded:
    """The rows that a library read, as pyarrow batches, and the library's own spelling of the types.

    ``statistics`` are the library's own counts of what it read, under the names of
    :data:`conformance.contract.ipc.expectation.STATISTICS`; empty if it does not count.
    """

    schema: pa.Schema
    batches: Sequence[pa.RecordBatch]
    types: Sequence[str] = ()
    statistics: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, batches: pa.RecordBatchReader, types: Sequence[str] | None = None) -> Decoded:
        """The batches of a reader; ``types`` are pyarrow's spellings unless given."""
        schema = batches.schema
        return cls(schema, list(batches), [str(field.type) for field in schema] if types is None else types)


class Library(Protocol):
    """A Python library, imported."""

    version: str

    def decode(self, kind: str, data: bytes, schema: bytes, options: Mapping[str, Any]) -> Any:
        """Read all of the bytes into the library's own representation.

        Raises any exception of the library, or :class:`Unsupported`.
        """

    def hand_over(self, made: Any) -> Decoded:
        """Convert the result of :meth:`decode` to pyarrow batches."""

    def source(self, data: bytes) -> Any:
        """Read, with the library itself, the stream that is to be written."""

    def encode(self, kind: str, data: Any, options: Mapping[str, Any]) -> bytes:
        """Write the result of :meth:`source`; raises any exception of the library, or :class:`Unsupported`."""


@runtime_checkable
class Tensors(Protocol):
    """A library that also writes tensors."""

    def tensor(self, data: bytes) -> Any:
        """Read, with the library itself, the tensor that is to be written."""


class LibraryModule(Protocol):
    """A module of :mod:`conformance.readers.ipc.libraries`; it imports its library in ``load`` only."""

    READER: IpcReaderInfo
    WRITER: IpcWriterInfo | None

    def load(self) -> Library:
        """Import the library without starting any of its threads; raises ImportError if it is not installed."""
