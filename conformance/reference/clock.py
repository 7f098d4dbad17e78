"""How the clock of a reference is set, for tests alone: ``POST /clock`` with ``{"ahead": SECONDS}``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from conformance.contain.jsonhttp import Answering, JsonServer

__all__ = ["PATH", "ClockServer", "ahead_in", "answering"]

PATH: Final = "/clock"
"""The path of the request."""
MOST_AHEAD: Final = 366 * 24 * 3600
"""The most seconds by which the clock may be ahead."""


def ahead_in(body: object) -> int:
    """The seconds that a request asks for; raises :class:`ValueError` with a sentence if it asks for none."""
    ahead = body.get("ahead") if isinstance(body, dict) else None
    if not isinstance(ahead, int) or not 0 <= ahead <= MOST_AHEAD:
        raise ValueError(f'expected "ahead" as a number of seconds from 0 to {MOST_AHEAD}, got {ahead!r:.100}')
    return ahead


def answering(set_ahead: Callable[[int], None]) -> Answering:
    """What answers the one request; ``set_ahead`` gets the seconds."""

    def answer(method: str, target: str, _headers: Mapping[str, str], body: bytes) -> tuple[int, dict[str, Any]]:
        if (method, target) != ("POST", PATH):
            return 404, _error(404, f"Not found: {method} {target}; this server sets its clock and no more")
        try:
            ahead = ahead_in(json.loads(body))
        except ValueError as error:
            return 400, _error(400, str(error))
        set_ahead(ahead)
        return 200, {"ahead": ahead}

    return answer


class ClockServer(JsonServer):
    """An HTTP listener with this one route; ``set_ahead`` gets the seconds.

    Raises:
        OSError: ``host`` cannot be bound.
    """

    def __init__(self, set_ahead: Callable[[int], None], *, host: str) -> None:
        super().__init__(answering(set_ahead), host=host, pages=False)


def _error(status: int, message: str) -> dict[str, Any]:
    return {"error": {"code": status, "message": message}}
