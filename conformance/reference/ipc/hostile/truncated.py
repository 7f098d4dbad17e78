"""Streams, files and tensors that end too early: after every eighth byte."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Final

from conformance.reference.ipc.hostile.register import register
from conformance.reference.ipc.register import ContainerKind
from conformance.reference.ipc.samples import SAMPLES
from conformance.reference.ipc.samples.tensors import TENSORS

__all__: list[str] = []

_CUT_OFF: Final = "https://issues.apache.org/jira/browse/ARROW-14769"
_STEP: Final = 8


def _stream() -> bytes:
    return SAMPLES["dictionary.delta"].stream().encode()


def _file() -> bytes:
    return SAMPLES["types.utf8"].file_of().encode()


def _tensor() -> bytes:
    return TENSORS["dense.i32"].model().encode()


_WHOLES: Final[dict[ContainerKind, Callable[[], bytes]]] = {"stream": _stream, "file": _file, "tensor": _tensor}


def _cut(kind: ContainerKind, size: int) -> bytes:
    return _WHOLES[kind]()[:size]


def _register(kind: ContainerKind) -> None:
    whole = len(_WHOLES[kind]())
    for size in range(0, whole, _STEP):
        register(
            f"truncated.{kind}-{size:04}",
            f"The first {size} of the {whole} bytes of a {kind}.",
            functools.partial(_cut, kind, size),
            kind=kind,
            source=_CUT_OFF,
        )


for _each in _WHOLES:
    _register(_each)
