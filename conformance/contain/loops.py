"""What an event loop says of connections that it cannot take."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from conformance.contain.text import safe

__all__ = ["says_plainly"]


def says_plainly(loop: asyncio.AbstractEventLoop) -> asyncio.AbstractEventLoop:
    """Let ``loop`` say each error of the system, such as no free descriptor, once and in one line; returns ``loop``.

    By itself it prints a traceback each second. What else goes wrong in it is a defect, and keeps its traceback.
    """
    said: set[str] = set()

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if not isinstance(error, OSError):
            loop.default_exception_handler(context)
            return
        line = safe(f"{context['message']}: {error.strerror or error}")
        if line not in said:
            said.add(line)
            sys.stderr.write(f"{line}\n")

    loop.set_exception_handler(handle)
    return loop
