"""Keeps the messages of a call in progress, within bounds, and turns them into the call of a log without secrets.

What is passed on never depends on what is kept. Two bounds limit the memory: one for each call, and one for all calls
that are in progress or not yet written. A call beyond one of them keeps its first messages only. It is then recorded
as cancelled, so that no clause on reads of a full stream takes the kept part for the whole.
"""

from __future__ import annotations

import dataclasses
import re
import threading
from collections.abc import Iterable, Sequence
from typing import Final

from conformance.contain.secrets import MASK, SHORTEST, forms_of, longest_first, masked, masked_bytes
from conformance.contain.text import many
from conformance.protocol import plugin
from conformance.recording.plugin import Metadata, RecordingPlugin
from conformance.records import Call, CallEnd, MetadataEntry, Turn
from conformance.targets.endpoint import is_secret_name

__all__ = ["MOST_PER_CALL", "Bounds", "KeptMessages", "Metadata"]

MOST_PER_CALL: Final = 40 << 20
"""The largest bound for one call, in bytes: a line of a log has at most 64 MiB, and base64 adds a third."""


_CREDENTIAL: Final = re.compile(r"auth|token|secret|passw|credential|api-?key|cookie", re.IGNORECASE)
"""The names of headers whose values are masked wherever the server repeats them. They are fewer than those of
:func:`is_secret_name`: a value that is masked inside a message could not be judged.
"""


class Bounds:
    """The memory for kept messages: ``call`` bytes for each call, ``together`` bytes for all. Threads may share it."""

    def __init__(self, *, call: int = 16 << 20, together: int = 128 << 20) -> None:
        self.call: Final = call
        self.together: Final = together
        self._used = 0
        self._lock = threading.Lock()

    @property
    def used(self) -> int:
        """The bytes that are kept now."""
        return self._used

    def take(self, size: int) -> bool:
        """Reserve ``size`` bytes; False if there are not so many left."""
        with self._lock:
            if self._used + size > self.together:
                return False
            self._used += size
            return True

    def give(self, size: int) -> None:
        """Give ``size`` bytes back."""
        with self._lock:
            self._used -= size


@dataclasses.dataclass(slots=True)
class KeptMessages:
    """The messages of one call so far. ``started`` is seconds since the recording began.

    ``method`` is the bare name, and ``sent`` is the metadata of the client, which is not recorded: its credentials are
    masked wherever the server repeats them.
    """

    protocol: str
    method: str
    sent: Metadata
    bounds: Bounds
    started: float
    size: int = 0
    passed: int = 0
    full: bool = False
    requests: list[bytes] = dataclasses.field(default_factory=list)
    responses: list[bytes] = dataclasses.field(default_factory=list)
    order: list[str] = dataclasses.field(default_factory=list)

    def request(self, data: bytes) -> None:
        """Keep a message of the client."""
        self._keep(self.requests, data, Turn.REQUEST)

    def half_close(self) -> None:
        """Keep that the client sends no more messages."""
        self.order.append(Turn.HALF_CLOSE)

    def response(self, data: bytes) -> None:
        """Keep a message of the server."""
        self.passed += 1
        self._keep(self.responses, data, Turn.RESPONSE)

    def _keep(self, into: list[bytes], data: bytes, turn: Turn) -> None:
        beyond = self.size + len(data) > self.bounds.call
        if self.full or beyond or not self.bounds.take(len(data)):
            self.full = True
            return
        self.size += len(data)
        into.append(data)
        self.order.append(turn)

    def release(self) -> None:
        """Give the memory back, after the call was written."""
        self.bounds.give(self.size)
        self.size = 0
        self.requests, self.responses = [], []

    def call(
        self, *, status: str, details: str, end: CallEnd, initial: Metadata, trailers: Metadata, seconds: float
    ) -> Call:
        """The call of a log, with every secret masked."""
        spoken = plugin(RecordingPlugin, self.protocol)
        named = [value for key, value in self.sent if _CREDENTIAL.search(key)]
        values = (*named, *spoken.secrets(self.method, self.requests))
        secrets = longest_first({form for value in values for form in _secrets(value)})
        if self.full:
            said = f"not kept: {len(self.responses)} of {many(self.passed, 'response')} kept, within the bounds"
            status, details, end = "", f"{said}; the call itself ended in {status or end}", CallEnd.CANCELLED
        requests, responses = (
            [spoken.without_secrets(self.method, data) for data in messages]
            for messages in (self.requests, self.responses)
        )
        first, *more = requests or [b""]
        return Call(
            step=0,
            label="",
            method=self.method,
            request=masked_bytes(first, secrets),
            more_requests=tuple(masked_bytes(data, secrets) for data in more),
            responses=tuple(masked_bytes(data, secrets) for data in responses),
            order=self._order(),
            status=status,
            details=masked(details, secrets),
            end=end,
            initial_metadata=_entries(initial, secrets),
            trailers=_entries(trailers, secrets),
            started=self.started,
            seconds=seconds,
        )

    def _order(self) -> str:
        """The order of messages; of a single request it is the default one, whenever the client half-closed."""
        return "" if len(self.requests) == 1 else "".join(self.order)


def _secrets(value: str | bytes) -> Iterable[str]:
    """The secrets in the value of a header: the value, without the word that names its kind, such as Bearer."""
    text = value.decode("latin-1") if isinstance(value, bytes) else value
    for word in {text, text.rpartition(" ")[2]}:
        if len(word) >= SHORTEST:
            yield from forms_of(word)


def _entries(metadata: Metadata, secrets: Sequence[str]) -> tuple[MetadataEntry, ...]:
    """The server's metadata; the value of a key that names a secret, such as a cookie, is masked whole."""
    found = []
    for key, value in metadata:
        data = MASK.encode() if is_secret_name(key) else value.encode() if isinstance(value, str) else value
        found.append(MetadataEntry(masked(key, secrets), masked_bytes(data, secrets)))
    return tuple(found)
