"""What the judging of clients knows of a protocol: the situations of its clients, and what puts them into these."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar

from conformance.clients.task import JudgedPool, Situated

__all__ = ["ClientsPlugin"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ClientsPlugin:
    """The clients of a protocol.

    ``pool`` makes, of client programs, the names of their paths and the seconds of an answer, what puts each client
    into a situation; it is a context manager. ``situations`` gives those that a function of their ids selects; some may
    be made of the cases in a folder, which are not put to the reference unless they are selected.
    """

    LAYER: ClassVar[str] = "clients"

    pool: Callable[..., AbstractContextManager[JudgedPool[Any]]]
    situations: Callable[[Path, Callable[[str], bool]], Iterable[Situated]]
