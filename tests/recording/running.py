"""A proxy in a thread of this process."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

from conformance.recording.journal import Journal
from conformance.recording.keeping import Bounds
from conformance.recording.meeting import Clock
from conformance.recording.proxy import Listener, Proxy, ProxyPlan, Upstream
from conformance.records import PlannedFault
from conformance.reference.guard import ServerTls
from conformance.targets.endpoint import Tls
from tests.patience import LONG

__all__ = ["address", "recording"]

ANY = ("127.0.0.1", 0)


def address(text: str) -> tuple[str, int]:
    """``host:port`` as host and port."""
    host, _, port = text.rpartition(":")
    return host, int(port)


@contextlib.contextmanager
def recording(
    upstream: str,
    log: Path,
    *,
    rest: str = "",
    bounds: Bounds | None = None,
    accept: ServerTls | None = None,
    tls: Tls | None = None,
    faults: tuple[PlannedFault, ...] = (),
    clock: Clock = asyncio.sleep,
) -> Iterator[tuple[Proxy, Journal]]:
    """A proxy in front of ``upstream``; the log is complete when the context ends."""
    there = Upstream(address(upstream), address(rest) if rest else None, tls)
    plan = ProxyPlan(Listener(ANY, ANY, accept), there, faults, clock)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="proxy")
    with Journal(log, target=upstream, bounds=bounds or Bounds()) as journal:
        thread.start()
        try:

            async def begin() -> Proxy:
                return await Proxy(plan, journal).__aenter__()

            proxy = asyncio.run_coroutine_threadsafe(begin(), loop).result(LONG)
            try:
                yield proxy, journal
            finally:
                asyncio.run_coroutine_threadsafe(proxy.__aexit__(None, None, None), loop).result(LONG)
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()
