"""What a scripted Flight server answers to each method: messages in bytes, and how the call ends."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

__all__ = ["OK", "EndOfCall", "Reply", "Script", "Trailers"]

Trailers = tuple[tuple[str, str | bytes], ...]


@dataclasses.dataclass(frozen=True, slots=True)
class EndOfCall:
    """How a call ends: with a status, or because its connection breaks after ``after`` messages.

    ``kind`` is ``status``, ``reset`` (the connection breaks between two messages), ``inside`` (it breaks in the middle
    of a message) or ``goaway`` (the server says that it takes no new calls; this one goes on).
    """

    kind: str = "status"
    code: str = "OK"
    details: str = ""
    trailers: Trailers = ()
    after: int = 0


OK: Final = EndOfCall()


@dataclasses.dataclass(frozen=True, slots=True)
class Reply:
    """The messages of one call, of which a fault may keep some back, and its end."""

    messages: tuple[bytes, ...] = ()
    end: EndOfCall = OK


@dataclasses.dataclass(frozen=True, slots=True)
class Script:
    """The reply of each method. ``tickets`` are the replies of DoGet by ticket; any other one gets that of the method.

    Actions are answered alike, whatever their type.
    """

    replies: Mapping[str, Reply]
    tickets: Mapping[bytes, Reply] = dataclasses.field(default_factory=lambda: MappingProxyType({}))

    @property
    def digest(self) -> str:
        """A digest of everything that is answered."""
        made = hashlib.sha256()
        for key, reply in (*sorted(self.replies.items()), *sorted(self.tickets.items())):
            made.update(repr((key, reply)).encode())
        return made.hexdigest()[:12]
