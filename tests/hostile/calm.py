"""Servers that attack nobody: what happens to the suite's own process, or to its files, needs one that lives so."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tests.hostile.lives import ignore_term, note, sleeper

if TYPE_CHECKING:
    from tests.hostile.host import Host

__all__ = ["LIVES"]

MIB: Final = 1 << 20


def _calm(host: Host) -> None:
    if "HOSTILE_TOKEN" in os.environ:
        note("events", "forbidden.token-of-the-caller-in-the-environment")
    sleeper(before=os.setsid)
    host.serve()


def _starting(host: Host) -> None:
    """Never ready, deaf to SIGTERM, with a child in a session of its own."""
    sleeper(before=os.setsid)
    ignore_term()
    note("events", "starting")
    threading.Event().wait()


def _busy(host: Host) -> None:
    """Ready, and then at its first session for ever; deaf to SIGTERM, with a child in a session of its own."""

    def session(request: Any, context: Any) -> bytes:
        note("events", "busy")
        threading.Event().wait()
        return b""

    sleeper(before=os.setsid)
    host.session = session  # type: ignore[method-assign]
    host.start()
    host.announce()
    ignore_term()
    threading.Event().wait()


def _once(host: Host) -> None:
    """Serves one run for each home: leaves a mark in it, and does not start where there is one."""
    home = Path(os.environ["HOME"])
    if (home / "ran").exists():
        sys.exit("there was a run here before")
    (home / "ran").touch()
    host.serve()


def _heavy(host: Host) -> None:
    """Leaves a directory of its own full: read-only parts, links to elsewhere, names that are no text, 64 MiB."""
    home = Path(os.environ["HOME"])
    (home / "locked" / "inner").mkdir(parents=True)
    (home / "locked").chmod(0o000)
    (home / "link").symlink_to("/")
    (home / "loop").symlink_to(home / "loop")
    os.mkfifo(home / "pipe")
    (home / os.fsdecode(b"\xff\x1b[31m")).mkdir()
    (home / "big").write_bytes(bytes(64 * MIB))
    host.serve()


LIVES: Final[dict[str, Callable[..., None]]] = {
    "calm": _calm,
    "starting": _starting,
    "busy": _busy,
    "once": _once,
    "heavy": _heavy,
}
"""Lives by name."""
