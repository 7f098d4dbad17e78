"""The operations that each mutated input goes through: everything that the suite does to foreign bytes."""

from __future__ import annotations

from conformance.contract.files import judge_bytes
from conformance.contract.ipc.judging import judge_ipc
from conformance.generate.mutating import MutatedInput
from conformance.records import Outcome, Verdict
from conformance.wire import (
    DecodingError,
    Kind,
    Schema,
    SparseTensor,
    batch_to_arrow,
    dissect,
    lines,
    read_batch,
    read_file,
    read_schema,
    read_stream,
    read_tensor,
    sniff,
)

__all__ = ["judge_input", "look_at"]


def judge_input(made: MutatedInput) -> list[Verdict]:
    """The verdicts on an input, as ``conformance check`` would give them, but for clauses that its faults hide."""
    if made.kind is Kind.MESSAGE:
        return judge_bytes(made.parts[0], made.parts[1:], profile=made.subject.profile)
    verdicts = judge_ipc(made.parts[0], made.kind, writer=made.writer)
    return [one for one in verdicts if one.outcome is not Outcome.UNTESTABLE]


def look_at(made: MutatedInput, *, dumped: bool) -> None:
    """Guess the kind of an input, decode it and dissect it; with ``dumped``, also write its dump.

    Raises:
        AssertionError: the dump does not cover every byte exactly once, or a fault is outside of the data.
    """
    sniff(made.parts[0])
    schema = read_schema(made.parts[0]).schema if made.kind is Kind.MESSAGE else None
    for number, data in enumerate(made.parts):
        try:
            _decode(data, made.kind, schema if number else None)
        except DecodingError as error:
            if isinstance(error.__cause__, MemoryError):
                raise error.__cause__ from None
        _dissect(data, made.kind, schema if number else None, dumped=dumped)


def _decode(data: bytes, kind: Kind, schema: Schema | None) -> None:
    match kind:
        case Kind.STREAM:
            read_stream(data).to_batches()
        case Kind.FILE:
            read_file(data).to_batches()
        case Kind.TENSOR:
            # A sparse tensor stays sparse: making it dense is a separate operation with a limit of its own.
            tensor = read_tensor(data)
            _ = tensor.to_coordinates() if isinstance(tensor.tensor, SparseTensor) else tensor.to_numpy()
        case Kind.MESSAGE if schema is not None:
            batch_to_arrow(read_batch(data, schema))
        case Kind.MESSAGE:
            read_schema(data)


def _dissect(data: bytes, kind: Kind, schema: Schema | None, *, dumped: bool) -> None:
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
    if dumped:
        lines(dissection)
        dissection.to_json()
