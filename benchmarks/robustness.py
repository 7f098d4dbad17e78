"""What hostile bytes do to the readers of :mod:`conformance.wire`: nothing, if all is well.

Mutates streams, files, tensors and single messages (flipped bits, cuts, splices, extreme integers where the metadata
has offsets and lengths), and reads, dissects and decodes each. An input fails if an exception other than a
``DecodingError`` comes out, if it takes more than a second, or if memory grows beyond a constant times its size and
what the reader may decompress. Prints how many were read, the slowest, the hungriest, and every failure with the
number that makes it again.

    python -m benchmarks.robustness --count 100000 --seed 1
    python -m benchmarks.robustness --seed 1 --replay 4711
"""

from __future__ import annotations

import argparse
import dataclasses
import random
import sys
import time
import traceback
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from conformance.reference.ipc.tensors import write_sparse
from conformance.wire import (
    DecodingError,
    Kind,
    RegionKind,
    Schema,
    SparseTensor,
    dissect,
    read_batch,
    read_file,
    read_schema,
    read_stream,
    read_tensor,
    sniff,
)
from conformance.wire.compression import FLOOR

SECONDS: Final = 1.0
"""The most that one input may take."""
PER_BYTE: Final = 4096
"""Bytes of memory that one input byte may cost: a region of the dump is an object, and describes as few as one byte."""
BASE: Final = 1 << 20
"""Bytes of memory that any input may cost."""
MEASURED: Final = 16
"""Of so many inputs, one has its memory measured and its dump written out: both are slow."""

EXTREMES: Final = (
    0,
    1,
    -1,
    7,
    8,
    1 << 15,
    1 << 16,
    (1 << 31) - 1,
    -(1 << 31),
    1 << 40,
    1 << 62,
    (1 << 63) - 1,
    -(1 << 63),
)


@dataclasses.dataclass(frozen=True, slots=True)
class Subject:
    """Legal bytes to start from: what they are, where their metadata has numbers, and the schema of a bare batch."""

    name: str
    kind: Kind
    data: bytes
    places: tuple[int, ...]
    schema: Schema | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Outcome:
    """What one input did: seconds, peak memory in bytes where that was measured, and the traceback of a failure."""

    number: int
    subject: str
    size: int
    seconds: float
    memory: int | None
    error: str = ""

    @property
    def failure(self) -> str:
        """Why the input fails, empty if it does not."""
        if self.error:
            return self.error
        if self.seconds > SECONDS:
            return f"took {self.seconds:.2f} s"
        if self.memory is not None and self.memory > BASE + PER_BYTE * self.size + 2 * FLOOR * ("zstd" in self.subject):
            return f"took {self.memory} bytes of memory for {self.size}"
        return ""


# --- what is mutated ------------------------------------------------------------------------------------


def _table() -> list[pa.RecordBatch]:
    columns = {
        "id": pa.array([1, None, 3], pa.int64()),
        "name": pa.array(["anna", None, "zoë"]),
        "items": pa.array(
            [[{"a": 1.5, "b": b"x"}], None, []], pa.list_(pa.struct({"a": pa.float64(), "b": pa.binary()}))
        ),
        "pairs": pa.array([[("k", 1)], [], None], pa.map_(pa.utf8(), pa.int32())),
        "runs": pa.RunEndEncodedArray.from_arrays(
            [1, 3], pa.array(["x", "y"]), pa.run_end_encoded(pa.int16(), pa.utf8())
        ),
        "either": pa.UnionArray.from_dense(
            pa.array([0, 1, 0], pa.int8()), pa.array([0, 0, 1], pa.int32()), [pa.array([1, 2]), pa.array(["u"])]
        ),
        "level": pa.array(["low", None, "high"]).dictionary_encode(),
    }
    if hasattr(pa, "string_view"):
        columns["view"] = pa.array(["a text of more than twelve", "short", None], pa.string_view())
    others = columns | {"level": pa.array(["low", "mid", "high"]).dictionary_encode()}
    return [pa.record_batch(list(made.values()), names=list(made)) for made in (columns, others)]


def _written(
    parts: Sequence[pa.RecordBatch], new: Callable[..., pa.ipc.RecordBatchStreamWriter], **options: object
) -> bytes:
    sink = pa.BufferOutputStream()
    with new(sink, parts[0].schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        for part in parts:
            writer.write_batch(part)
    return bytes(sink.getvalue().to_pybytes())


def _tensor(values: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> bytes:
    sink = pa.BufferOutputStream()
    pa.ipc.write_tensor(pa.Tensor.from_numpy(values), sink)
    return bytes(sink.getvalue().to_pybytes())


def _legal() -> Iterator[tuple[str, Kind, bytes, Schema | None]]:
    parts = _table()
    growing = [
        pa.RecordBatch.from_pydict({"x": pa.array(list(text)).dictionary_encode()}) for text in ("ab", "abc", "abcd")
    ]
    for codec in (None, "lz4", "zstd"):
        name = codec or "plain"
        yield f"stream, {name}", Kind.STREAM, _written(parts, pa.ipc.new_stream, compression=codec), None
        yield f"file, {name}", Kind.FILE, _written(parts[:1], pa.ipc.new_file, compression=codec), None
        yield (
            f"deltas, {name}",
            Kind.FILE,
            _written(growing, pa.ipc.new_file, compression=codec, emit_dictionary_deltas=True),
            None,
        )
    yield "deltas, stream", Kind.STREAM, _written(growing, pa.ipc.new_stream, emit_dictionary_deltas=True), None
    yield "legacy", Kind.STREAM, _written(growing, pa.ipc.new_stream, use_legacy_format=True), None
    yield "tensor", Kind.TENSOR, _tensor(np.arange(24, dtype=np.int32).reshape(2, 3, 4)), None
    yield "tensor, columns first", Kind.TENSOR, _tensor(np.asfortranarray(np.arange(6.0).reshape(2, 3))), None
    matrix = np.array([[0, 5, 0, 6], [0, 0, 7, 0], [8, 0, 0, 9]], np.int32)
    for form in ("COO", "CSR", "CSC", "CSF"):
        yield f"sparse tensor, {form}", Kind.TENSOR, write_sparse(matrix, form), None
    plain = pa.RecordBatch.from_pydict({"id": parts[0]["id"], "items": parts[0]["items"]})
    message = plain.schema.serialize().to_pybytes()
    yield "schema", Kind.MESSAGE, message, None
    yield "batch", Kind.MESSAGE, plain.serialize().to_pybytes(), read_schema(message).schema


_NUMBERS: Final = frozenset(
    {RegionKind.PREFIX, RegionKind.VTABLE, RegionKind.TABLE, RegionKind.VECTOR, RegionKind.STRING}
)


def make_subject(name: str, kind: Kind, data: bytes, schema: Schema | None = None) -> Subject:
    """Legal bytes with the places of the numbers in their metadata."""
    regions = dissect(data, schema, kind).regions
    return Subject(name, kind, data, tuple(region.start for region in regions if region.kind in _NUMBERS), schema)


def subjects() -> list[Subject]:
    """Every kind of input, written by the installed pyarrow."""
    return [make_subject(*legal) for legal in _legal()]


def mutate(subject: Subject, others: Sequence[Subject], rng: random.Random) -> bytes:
    """The bytes of ``subject``, changed in one to eight places."""
    made = bytearray(subject.data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        at = rng.randrange(len(made) + 1)
        match rng.randrange(8):
            case 0 | 1 | 2:
                place, width = rng.choice(subject.places), rng.choice((2, 4, 4, 8))
                value = rng.choice((*EXTREMES, rng.randrange(len(made) + 1)))
                made[place : place + width] = (value & (1 << 8 * width) - 1).to_bytes(width, "little")
            case 3 if at < len(made):
                made[at] ^= 1 << rng.randrange(8)
            case 4:
                made[at & ~7 : (at & ~7) + 8] = rng.choice(EXTREMES).to_bytes(8, "little", signed=True)
            case 5:
                other = rng.choice(others).data
                start = rng.randrange(len(other)) & ~7
                made[at & ~7 : (at & ~7) + rng.choice((0, 8, 64))] = other[start : start + rng.randrange(1, 129)]
            case 6:
                del made[at : at + rng.randrange(1, 33)]
            case _:
                del made[at if rng.randrange(2) else max(at, len(made) - 64) :]
    return bytes(made)


# --- what is done to it -----------------------------------------------------------------------------------


def exercise(data: bytes, kind: Kind, schema: Schema | None, *, written: bool) -> None:
    """Guesses, reads, decodes and dissects ``data``; raises what comes out of that but should not."""
    sniff(data)
    _decode(data, kind, schema)
    dissection = dissect(data, schema, kind)
    at = 0
    for region in dissection.regions:
        if not region.start == at < region.end:
            raise AssertionError(f"expected a region from {at} on, got one from {region.start} to {region.end}")
        at = region.end
    if at != len(data):
        raise AssertionError(f"expected regions up to {len(data)}, got them up to {at}")
    outside = [fault for fault in dissection.faults if not 0 <= fault.start <= fault.end <= len(data)]
    if outside:
        raise AssertionError(f"expected places inside {len(data)} bytes, got {outside[0]}")
    if written:
        dissection.lines()
        dissection.to_json()


def _decode(data: bytes, kind: Kind, schema: Schema | None) -> None:
    try:
        match kind:
            case Kind.STREAM:
                read_stream(data).to_batches()
            case Kind.FILE:
                read_file(data).to_batches()
            case Kind.TENSOR:
                # To make a sparse tensor dense is asked for on its own, and has a limit of its own.
                tensor = read_tensor(data)
                _ = tensor.to_coordinates() if isinstance(tensor.tensor, SparseTensor) else tensor.to_numpy()
            case Kind.MESSAGE if schema is not None:
                read_batch(data, schema).to_arrow()
            case Kind.MESSAGE:
                read_schema(data)
    except DecodingError:
        return


def attempt(known: Sequence[Subject], seed: int, number: int, *, measured: bool) -> Outcome:
    """Makes input ``number`` of ``seed``, and says what it did."""
    rng = random.Random(f"{seed}:{number}")  # noqa: S311  # reproducible, not secret
    subject = rng.choice(known)
    data = mutate(subject, known, rng)
    error, memory = "", None
    if measured:
        tracemalloc.start()
    started = time.process_time()
    try:
        exercise(data, subject.kind, subject.schema, written=measured)
    except Exception:  # noqa: BLE001  # whatever it is, it is the finding
        error = traceback.format_exc()
    seconds = time.process_time() - started
    if measured:
        memory = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return Outcome(number, subject.name, len(data), 0.0 if measured else seconds, memory, error)


def main() -> None:
    """Prints count, slowest, hungriest and failures; ends in 1 if there are any of the latter."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100_000, help="inputs")
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--replay", type=int, help="only the input of this number, written to --to")
    parser.add_argument("--to", type=Path, default=Path("replayed.bin"))
    options = parser.parse_args()
    known = subjects()
    if options.replay is not None:
        rng = random.Random(f"{options.seed}:{options.replay}")  # noqa: S311
        subject = rng.choice(known)
        options.to.write_bytes(mutate(subject, known, rng))
        print(f"{subject.name}, a {subject.kind}, written to {options.to}")
        print(attempt(known, options.seed, options.replay, measured=False).failure or "no failure")
        return
    slowest = hungriest = None
    done = failures = 0
    try:
        for number in range(options.first, options.first + options.count):
            outcome = attempt(known, options.seed, number, measured=number % MEASURED == 0)
            done += 1
            if slowest is None or outcome.seconds > slowest.seconds:
                slowest = outcome
            if outcome.memory and (hungriest is None or _appetite(outcome) > _appetite(hungriest)):
                hungriest = outcome
            if outcome.failure:
                failures += 1
                print(f"{options.seed}:{number}, {outcome.subject}: {outcome.failure}", flush=True)
    except KeyboardInterrupt:
        print("interrupted")
    print(f"{done} inputs of seed {options.seed} from {options.first} on, {failures} failures")
    if slowest is not None and hungriest is not None:
        print(f"slowest {slowest.seconds:.3f} s: {slowest.number}, {slowest.subject}, {slowest.size} bytes")
        appetite = f"{_appetite(hungriest):.0f} bytes of memory per byte"
        print(f"hungriest {appetite}: {hungriest.number}, {hungriest.subject}, {hungriest.size} bytes")
    sys.exit(1 if failures else 0)


def _appetite(outcome: Outcome) -> float:
    return (outcome.memory or 0) / max(outcome.size, 64)


if __name__ == "__main__":
    main()
