"""What a reader or a writer of IPC data is, and what its implementation tells of itself once it runs."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from conformance.contain.text import keep_safe, safe
from conformance.readers.info import Rewrite

__all__ = [
    "Decoded",
    "Hello",
    "IpcReaderInfo",
    "IpcWriterInfo",
    "Library",
    "LibraryModule",
    "Unavailable",
    "Unsupported",
]

_NONE: Mapping[str, tuple[Any, ...]] = types.MappingProxyType({})


class Unavailable(Exception):  # noqa: N818  # an answer of its own, never an error of the caller's
    """A library, a runtime or an adapter is not here; the text says what is missing and what to do.

    It may quote what a program printed, so it is made safe here.
    """

    def __init__(self, text: str) -> None:
        super().__init__(safe(text))


class Unsupported(Exception):  # noqa: N818  # an answer of its own
    """A library cannot be asked for this; the text says for what."""


@dataclass(frozen=True, slots=True)
class _Info:
    """The facts about one implementation; ``module`` or ``adapter`` says how it runs.

    ``name`` is permanent.
    ``module`` is the import path of a :class:`LibraryModule`, which the register fills in; ``adapter`` the directory of
    a program's ``adapter.toml``. ``kinds`` and ``options`` are what it takes, and which values of which options;
    a program tells them in its hello, and they are empty here. ``lacks`` is a regular expression for the errors
    (``class: text``) by which a Python library says that it lacks a feature; an adapter knows its library's itself.
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
    """The facts about a reader; an option without values listed takes any (``included_fields``).

    ``rewrites`` are the changes of type, and so of values, that its maintainers document;
    :func:`~conformance.readers.ipc.rewrites.as_read_by` makes them on the rows that it is expected to return.
    ``left_to_validation`` are the clauses on what its documentation leaves to a validation that it does not call.
    """

    rewrites: tuple[Rewrite, ...] = ()
    left_to_validation: tuple[str, ...] = ()

    def as_writer(self, **others: Any) -> IpcWriterInfo:
        """The same implementation as a writer: it has no options unless ``others`` name some, and what else differs."""
        facts = {field.name: getattr(self, field.name) for field in fields(IpcWriterInfo)}
        return IpcWriterInfo(**facts | {"options": _NONE} | others)


@dataclass(frozen=True, slots=True)
class IpcWriterInfo(_Info):
    """The facts about a writer: what its library's interface exposes; any other option does not apply to it."""


@dataclass(frozen=True, slots=True)
class Hello:
    """What an implementation that runs told of itself."""

    implementation: str
    title: str
    language: str
    version: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    read_options: Mapping[str, tuple[Any, ...]] = field(default_factory=lambda: _NONE)
    write_options: Mapping[str, tuple[Any, ...]] = field(default_factory=lambda: _NONE)

    def __post_init__(self) -> None:
        keep_safe(self, "implementation", "title", "language", "version", "reads", "writes")


@dataclass(frozen=True, slots=True)
class Decoded:
    """What a library read, handed over as pyarrow batches, and how the library itself spells the types.

    ``statistics`` are what the library says that it has read, under the names of
    :data:`conformance.contract.ipc.expectation.STATISTICS`; empty where it does not count.
    """

    schema: pa.Schema
    batches: Sequence[pa.RecordBatch]
    types: Sequence[str] = ()
    statistics: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, batches: pa.RecordBatchReader, types: Sequence[str] | None = None) -> Decoded:
        """The batches of a reader; ``types`` are pyarrow's own unless the library spells them otherwise."""
        schema = batches.schema
        return cls(schema, list(batches), [str(field.type) for field in schema] if types is None else types)


class Library(Protocol):
    """A Python library, imported."""

    version: str

    def decode(self, kind: str, data: bytes, schema: bytes, options: Mapping[str, Any]) -> Any:
        """Read all of the bytes into what the library itself makes of them.

        Raises whatever the library raises, or :class:`Unsupported`.
        """

    def hand_over(self, made: Any) -> Decoded:
        """Hand over what :meth:`decode` made."""

    def source(self, data: bytes) -> Any:
        """Read, with the library itself, the stream that is to be written."""

    def encode(self, kind: str, data: Any, options: Mapping[str, Any]) -> bytes:
        """Write what :meth:`source` made; raises whatever the library raises, or :class:`Unsupported`."""


class LibraryModule(Protocol):
    """What a module of :mod:`conformance.readers.ipc.libraries` holds; it imports its library in ``load`` only."""

    READER: IpcReaderInfo
    WRITER: IpcWriterInfo | None

    def load(self) -> Library:
        """Import the library, starting none of its threads; raises ImportError where it is absent."""
