"""Jobs for readers and writers of IPC data, and their answers, as plain records that do not depend on processes."""

from __future__ import annotations

import enum
import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

from conformance.contain.text import keep_safe
from conformance.wire.plain import PlainTable

__all__ = [
    "KINDS",
    "LIMIT",
    "MEMORY",
    "METADATA",
    "READ_OPTIONS",
    "WAITS",
    "WRITE_OPTIONS",
    "Job",
    "JobAnswer",
    "JobLimits",
    "JobOutcome",
    "JobStage",
]

WAITS: Final = 3.0
"""The clock's deadline as a multiple of that in processor time: a program that waits for an answer uses none."""

KINDS: Final = ("message", "stream", "file", "tensor")
"""The kinds of IPC data, as :class:`conformance.wire.Kind` spells them."""

READ_OPTIONS: Final[Mapping[str, str]] = types.MappingProxyType(
    {
        "included_fields": "a list of numbers of top-level fields: only these are read",
        "native_endian": "whether values are swapped to this machine's byte order",
        "threads": "whether the library may use its thread pool",
        "chunk": "bytes that the reader gets at a time, by pushing them or from a file object",
        "mapped": "whether the bytes are in a file that the library maps into memory",
        "way": 'the interface that reads: "" for the usual one, "batches", "table", "scan", "streaming-scan",'
        ' "exact" (pushed what the decoder says that it needs), "prebuffered", "embedded" (a file in a larger one),'
        ' "imported" (slices that come over the C stream interface)',
        "after": 'what happens to the rows before their values are compared: "", "cast", "concatenated", "exported",'
        ' "inspected" (asked which values are null and for sizes, structs flattened), "padded" (behind nulls of their'
        ' types that the library makes), "objects", "pandas", "recast" (in slices, each column to its own type),'
        ' "validated", "sliced", "copied" (one by one, or decoded from a dictionary), "appended" (twice), "hashed" (and'
        ' compared with each other) or "taken" (by their row numbers in reverse order, twice)',
    }
)
"""The closed vocabulary of read options with their meanings; a library does not get an option that it lacks."""

WRITE_OPTIONS: Final[Mapping[str, str]] = types.MappingProxyType(
    {
        "codec": 'the compression of buffers: "", "lz4" or "zstd"',
        "legacy": "whether messages go without the continuation marker of format 0.15",
        "version": 'the metadata version: "V4" or "V5"',
        "alignment": "bytes that buffers are padded to: 8 or 64",
        "deltas": "whether a dictionary that grew is written as a delta",
        "unify": "whether the dictionaries of all batches are unified before a file is written",
        "allow_64bit": "whether lengths beyond 31 bits are written",
        "min_space_savings": "the part of a buffer, 0 to 1, that compression has to save",
        "level": "the level of the codec; 0 for its default",
        "threads": "whether the library may use its thread pool",
        "given": 'how the writer gets the batches: "" one by one, "sliced" in slices, of which some have no rows,'
        ' "cut" in slices without an offset, whose buffers begin inside others, "chunked" as one table, "encoded" with'
        " each column as the values of a dictionary",
        "metadata": 'key-value metadata: "" for none, of each of the "batches", or of the "file"',
        "depth": "the deepest nesting that the writer accepts",
        "layout": 'how the values of a tensor are in memory before they are written: "" as its library reads them,'
        ' "column-major", or "strided" with gaps between them',
        "through": "the form of a sparse tensor that a dense one is made into, and back, before it is written:"
        ' "" for none, "coo", "csr", "csc" or "csf"',
        "compat_level": "how new the layouts may be, as polars counts them: 0 without views, 1 with views",
    }
)
"""The closed vocabulary of write options with their meanings."""

METADATA: Final[Mapping[str, str]] = types.MappingProxyType({"writer": "pyarrow", "größe": "7", "empty": ""})
"""The pairs that the write option ``metadata`` puts on each batch or on the file."""


class JobOutcome(enum.StrEnum):
    """The outcome of a job."""

    ROWS = "rows"
    """The library read the bytes."""
    WRITTEN = "written"
    """The library wrote bytes."""
    REFUSED = "refused"
    """The library raised an error; :attr:`JobAnswer.panicked` distinguishes a failed internal assertion from a
    refusal.
    """
    UNSUPPORTED = "unsupported"
    """The library says that it lacks the feature, or its interface has no way to request it. A panic that says so is
    one (:attr:`JobAnswer.panicked`).
    """
    DIED = "died"
    """A signal ended the process, or it exited without a request."""
    HUNG = "hung"
    """No answer within the deadline."""
    EXHAUSTED = "exhausted"
    """The process reached its limit of memory or of processor time."""
    UNAVAILABLE = "unavailable"
    """The library or its runtime is missing, or its adapter is broken: this says nothing about the library."""


LIMIT: Final = "limit"
"""The error class of a program that the suite ended at its limit of processor time."""
MEMORY: Final = "memory"
"""The error class of a program that the suite ended at its limit of memory."""


class JobStage(enum.StrEnum):
    """The stage that a job had reached, so that its end is attributed to the right code."""

    LIBRARY = "library"
    """In the library's own reader or writer."""
    SOURCE = "source"
    """Before a write: the same library reads the stream that it is to write."""
    VALUES = "values"
    """After a read: the library exports its result to pyarrow, and the values are examined there."""
    OWN = "own"
    """After that: the values are taken through the library's own interface, so a crash is the library's."""


@dataclass(frozen=True, slots=True)
class Job:
    """Bytes to read, or a stream to write again.

    ``kind`` is one of :data:`KINDS`: the kind of ``data`` or, for a writer, the kind to write (``data`` is then
    always a stream). ``schema`` is the schema message for kind ``message``, whose ``data`` is the batch message.

    Raises:
        ValueError: The kind or an option is not in the vocabulary.
    """

    id: str
    kind: str
    data: bytes
    schema: bytes = b""
    options: Mapping[str, Any] = field(default_factory=lambda: types.MappingProxyType({}))

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"expected kind to be one of {', '.join(KINDS)} but got {self.kind!r} in job {self.id}")
        unknown = sorted(set(self.options) - set(READ_OPTIONS) - set(WRITE_OPTIONS))
        if unknown:
            known = ", ".join([*READ_OPTIONS, *WRITE_OPTIONS])
            raise ValueError(f"expected options among {known} but got {unknown} in job {self.id}")


@dataclass(frozen=True, slots=True)
class JobAnswer:
    """The answer of one reader or writer to one job.

    ``table`` is set for ``rows`` unless it is larger than :attr:`Limits.values`; the count ``rows`` is set in both
    cases. ``data`` is set for ``written``. ``types`` are the columns' types in the library's spelling, or empty.
    ``error_class`` is the class of an error, or the name of the signal that ended the process. ``panicked`` is true
    if the error is a failed assertion inside the library (a Rust or Go panic), which its user cannot be expected to
    catch. ``stage`` is the stage that the job had reached. ``statistics`` are the counts of a reader, if it counts.
    ``ways`` are the differences between the values of the library's own interface and those that it hands over, or
    after the rows were used and before; None if they were not compared.
    """

    id: str
    reader: str
    outcome: JobOutcome
    table: PlainTable | None = None
    types: tuple[str, ...] = ()
    error_class: str = ""
    error_text: str = ""
    seconds: float = 0.0
    panicked: bool = False
    stage: JobStage = JobStage.LIBRARY
    rows: int = 0
    data: bytes = b""
    statistics: Mapping[str, int] = field(default_factory=lambda: types.MappingProxyType({}))
    ways: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.error_text:
            object.__setattr__(self, "error_text", self.error_text.strip())
        keep_safe(self, "types", "error_class", "error_text")
        if self.ways is not None:
            keep_safe(self, "ways")


@dataclass(frozen=True, slots=True)
class JobLimits:
    """The limits of one job.

    ``seconds`` is wall-clock time. ``memory`` is in bytes, in addition to what the warm process uses. ``cpu`` is
    seconds of processor time, by default twice ``seconds``, so that a loop on one thread counts as hung. ``values``
    bounds the values (rows times columns) of a table that is returned. ``reuse`` is the number of jobs that one fork
    of a Python library's worker does. With 1, no job can touch another's memory. More are several times faster; a
    job that ends a reused fork is done once more in a fresh one, and that answer counts.

    Raises:
        ValueError: A limit is not positive.
    """

    seconds: float = 10.0
    memory: int = 1 << 30
    cpu: float = 0.0
    values: int = 1_000_000
    reuse: int = 1

    def __post_init__(self) -> None:
        for name in ("seconds", "memory", "values", "reuse"):
            if getattr(self, name) <= 0:
                raise ValueError(f"expected {name} to be positive but got {getattr(self, name)!r}")
        if self.cpu < 0:
            raise ValueError(f"expected cpu to be positive, or 0 for twice the seconds, but got {self.cpu!r}")

    @classmethod
    def of_work(cls, seconds: float, *, waits: float = WAITS, memory: int = 1 << 30, reuse: int = 1) -> Self:
        """The limits of a job that may take so many seconds of processor time: on a busy machine, a slow answer is no
        hang. One that computes nothing has ``waits`` times as long.
        """
        return cls(seconds=waits * seconds, cpu=seconds, memory=memory, reuse=reuse)

    @property
    def cpu_seconds(self) -> float:
        """Seconds of processor time."""
        return self.cpu or 2 * self.seconds
