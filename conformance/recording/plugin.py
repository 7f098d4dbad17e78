"""What a proxy knows of a protocol: what a request asks for, and what in its messages is a secret."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, Protocol, TypeAlias

__all__ = ["KeptCall", "LabelsCalls", "Metadata", "RecordingPlugin"]

Metadata: TypeAlias = Sequence[tuple[str, str | bytes]]


class KeptCall(Protocol):
    """What was kept of a call: its method, the metadata that the client sent, and the responses; ``full`` says that
    some messages were not kept.
    """

    method: str
    sent: Metadata
    full: bool
    responses: list[bytes]


class LabelsCalls(Protocol):
    """Labels the calls of a recording, which come in the order in which they ended."""

    def __call__(self, kept: KeptCall, answered: Metadata, /, *, served: bool) -> str:
        """The label of a call; ``answered`` is the metadata of the answer, ``served`` says that its status was OK."""


def _unlabelled() -> LabelsCalls:
    def label(_kept: KeptCall, _answered: Metadata, /, *, served: bool) -> str:  # noqa: ARG001  # named by callers
        return ""

    return label


def _no_secrets(_method: str, _requests: Sequence[bytes]) -> Iterable[str]:
    return ()


def _as_it_is(_method: str, message: bytes) -> bytes:
    return message


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RecordingPlugin:
    """A protocol for the proxy.

    The calls of the methods in its :class:`~conformance.readers.plugin.ReadersPlugin` are recorded. ``stream_of`` gives
    the name of the stream that a request of a method (by its bare name) asks for, or an empty one. ``labels`` makes
    what labels the calls of one recording. ``secrets`` gives the secrets in the requests of a call, and
    ``without_secrets`` writes one of its messages without those that the suite never records.
    """

    LAYER: ClassVar[str] = "recording"

    stream_of: Callable[[str, bytes], str]
    labels: Callable[[], LabelsCalls] = _unlabelled
    secrets: Callable[[str, Sequence[bytes]], Iterable[str]] = _no_secrets
    without_secrets: Callable[[str, bytes], bytes] = _as_it_is
