"""Nulls of unions: rows that are null in different children, one after the other, as a column and as values of runs.

A union has no validity bitmap: "physically, a union array does not have its own validity bitmap", so each of its nulls
is one of a child, and its type id says of which.
"""

from __future__ import annotations

import functools
from typing import Final

import pyarrow as pa

from conformance.reference.ipc.rare.register import PREFIX, Rare, RareBytes, register, written
from conformance.reference.ipc.variations.sources import COL
from conformance.wire import Kind

_CODES: Final = [0, 1, 0, 1, 1, 0]
_NUMBERS: Final = [None, None, 3]
"""The rows 0, 2 and 5; the others are the texts."""
_TEXTS: Final = [None, "b", None]
MODES: Final = ("sparse", "dense")


def _union(mode: str) -> pa.Array:
    codes = pa.array(_CODES, pa.int8())
    if mode == "dense":
        places = pa.array([0, 0, 1, 1, 2, 2], pa.int32())
        return pa.UnionArray.from_dense(codes, places, [pa.array(_NUMBERS, pa.int32()), pa.array(_TEXTS)], ["x", "y"])
    numbers, texts = [None, 0, None, 0, 0, 3], ["", None, "", "b", None, ""]
    return pa.UnionArray.from_sparse(codes, [pa.array(numbers, pa.int32()), pa.array(texts)], ["x", "y"])


def _made(mode: str, *, runs: bool) -> RareBytes:
    column = _union(mode)
    if runs:
        ends = pa.array([2, 3, 5, 6, 8, 9], pa.int32())
        kind = pa.run_end_encoded(pa.int32(), column.type)
        column = pa.RunEndEncodedArray.from_buffers(kind, 9, [None], 0, 0, [ends, column])
    return written([pa.RecordBatch.from_arrays([pa.array(range(len(column)), pa.int32()), column], names=["n", "x"])])


def _register() -> None:
    for mode in MODES:
        for runs in (False, True):
            register(
                Rare(
                    f"{PREFIX}.null.{'runs-of-' if runs else ''}union-{mode}",
                    f"A stream of {'runs of ' if runs else ''}a {mode} union that is null in different children.",
                    Kind.STREAM,
                    f"{COL}#{'run-end-encoded' if runs else 'union'}-layout",
                    functools.partial(_made, mode, runs=runs),
                )
            )


_register()
