"""A client in another process, as a worker is to which names of streams were handed.

It knows the address of the server, its certificates, the metadata of a call and the name of a stream, and has seen no
session. It makes one call after another, each over a connection of its own.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from conformance.contain.crew import Crew, crew
from conformance.contain.secrets import masked, masked_bytes
from conformance.records import Call, CallEnd, MetadataEntry
from conformance.targets.endpoint import Tls
from conformance.targets.faulting import Met
from conformance.targets.recordedcall import EXIT_SECONDS, CallBudget, Caller, open_channel
from conformance.targets.tls import SecureLine

__all__ = ["Elsewhere"]


class Elsewhere:
    """The process, which is started by the first call; ``tls`` has files relative to ``here``."""

    def __init__(self, tls: Tls | None, here: Path, *, message_limit: int) -> None:
        self._line: Final = (tls, here, message_limit)
        self._stack: Final = ExitStack()

    @functools.cached_property
    def _process(self) -> Crew:
        return self._stack.enter_context(crew(1, _open_lines, *self._line))

    def caller(self, like: Caller, endpoint: str) -> Caller:
        """A caller like ``like`` that reads streams in the other process."""
        return _Handed(like, self, endpoint)

    def read(self, asked: _Asked) -> Call:
        """Make the call there; the secrets of this process are masked in what came."""
        made: Call = self._process.submit(_read, asked).result()
        return dataclasses.replace(
            made,
            details=masked(made.details),
            responses=tuple(map(masked_bytes, made.responses)),
            initial_metadata=_masked(made.initial_metadata),
            trailers=_masked(made.trailers),
        )

    def close(self) -> None:
        """End the process."""
        self._stack.close()


class _Handed(Caller):
    """A caller whose reads are made by another process; a read that meets a fault is made in this one."""

    def __init__(self, like: Caller, elsewhere: Elsewhere, endpoint: str) -> None:
        super().__init__(**like.settings)
        self._elsewhere = elsewhere
        self._endpoint = endpoint

    def stream(
        self, call: Call, *, routing: str = "", budget: CallBudget, take: int | None = None, met: Met | None = None
    ) -> Call:
        """As the base class, in the other process."""
        if met is not None:
            return super().stream(call, routing=routing, budget=budget, take=take, met=met)
        metadata = dict(self.settings["credentials"]())
        made = self._elsewhere.read(_Asked(call, self._endpoint, metadata, routing, budget, take))
        made = dataclasses.replace(made, started=made.started - self.settings["began"])
        if made.end is not CallEnd.CRASH:
            return made
        words = self.settings["last_words"](EXIT_SECONDS)
        return dataclasses.replace(made, details=words or made.details)


def _masked(entries: tuple[MetadataEntry, ...]) -> tuple[MetadataEntry, ...]:
    return tuple(MetadataEntry(masked(one.key), masked_bytes(one.value)) for one in entries)


# --- in the other process -----------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class _Lines:
    secure: SecureLine | None
    message_limit: int


_LINES: Final[list[_Lines]] = []
"""How this process connects to servers, once :func:`_open_lines` has said it."""


def _open_lines(tls: Tls | None, here: Path, message_limit: int) -> None:
    _LINES.append(_Lines(None if tls is None else SecureLine.of(tls, here), message_limit))


@dataclasses.dataclass(frozen=True, slots=True)
class _Asked:
    """A call for the other process to make, and what it needs for it; ``metadata`` is sent with it."""

    call: Call
    endpoint: str
    metadata: Mapping[str, str]
    routing: str
    budget: CallBudget
    take: int | None


def _read(asked: _Asked) -> Call:
    """Make the call; its start is the time on the monotonic clock, which both processes share."""
    (line,) = _LINES
    with open_channel(asked.endpoint, message_limit=line.message_limit, secure=line.secure) as channel:
        caller = Caller(
            channel,
            began=0.0,
            message_limit=line.message_limit,
            last_words=lambda _seconds: None,
            credentials=lambda: asked.metadata,
        )
        return caller.stream(asked.call, routing=asked.routing, budget=asked.budget, take=asked.take)
