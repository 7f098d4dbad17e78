"""The last way to end a call: cut the connection below it.

grpcio 1.85.1 misses the deadline of a call, and takes no cancellation, while the server sends frames such as SETTINGS
or PING without a pause: the thread that reads them does nothing else. A connection that is shut down ends all of it.
"""

from __future__ import annotations

import contextlib
import math
import os
import socket
import threading
import time
import weakref
from collections.abc import Iterator
from typing import Final

import grpc

__all__ = ["GRACE_SECONDS", "cut", "cut_after", "leads_to"]

GRACE_SECONDS: Final = 2.0
"""Seconds that gRPC has to end a call after its deadline."""
_DESCRIPTORS: Final = "/proc/self/fd"

_ENDPOINTS: Final[weakref.WeakKeyDictionary[grpc.Channel, str]] = weakref.WeakKeyDictionary()


def leads_to(channel: grpc.Channel, endpoint: str) -> grpc.Channel:
    """``channel``, of which it is known from now on that it leads to ``host:port`` or ``unix:PATH``."""
    _ENDPOINTS[channel] = endpoint
    return channel


class _Watch:
    """One thread, which cuts what is not over in time; it starts with the first call."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._open: dict[object, tuple[float, str]] = {}
        self._wakes = math.inf
        self._started = False

    def begins(self, endpoint: str, seconds: float) -> object:
        """Cut the connections to ``endpoint`` after so many seconds, unless what is returned ends before."""
        call, due = object(), time.monotonic() + seconds
        with self._changed:
            self._open[call] = (due, endpoint)
            if not self._started:
                self._started = True
                threading.Thread(target=self._watch, name="cutting", daemon=True).start()
            elif due < self._wakes:
                self._changed.notify()
        return call

    def ends(self, call: object) -> None:
        """What :meth:`begins` returned is over."""
        with self._changed:
            self._open.pop(call, None)

    def _watch(self) -> None:
        while True:
            with self._changed:
                self._wakes = min((due for due, _ in self._open.values()), default=math.inf)
                left = self._wakes - time.monotonic()
                if left > 0:
                    self._changed.wait(min(left, threading.TIMEOUT_MAX))
                    continue
                over = [call for call, (due, _) in self._open.items() if due <= self._wakes]
                endpoints = {self._open.pop(call)[1] for call in over}
            for endpoint in endpoints:
                cut(endpoint)


_WATCH: Final = _Watch()


@contextlib.contextmanager
def cut_after(channel: grpc.Channel, seconds: float) -> Iterator[None]:
    """Cut the connections of ``channel`` if what happens inside takes :data:`GRACE_SECONDS` more than ``seconds``."""
    endpoint = _ENDPOINTS.get(channel)
    if endpoint is None:
        yield
        return
    call = _WATCH.begins(endpoint, seconds + GRACE_SECONDS)
    try:
        yield
    finally:
        _WATCH.ends(call)


def cut(endpoint: str) -> int:
    """Shut down each connection of this process to the port or socket of ``endpoint``; the number of them.

    On a system that does not list the descriptors of a process, there is none.
    """
    port, path = endpoint.rpartition(":")[2], endpoint.removeprefix("unix:")
    count = 0
    try:
        descriptors = os.listdir(_DESCRIPTORS)  # noqa: PTH208  # names are wanted
    except OSError:
        return 0
    for descriptor in descriptors:
        with contextlib.suppress(OSError):  # it is no socket, has no peer, or has been closed
            copied = os.dup(int(descriptor))
            try:
                one = socket.socket(fileno=copied)
            except OSError:
                os.close(copied)
                continue
            with one:
                peer = one.getpeername()
                if (peer == path) if path != endpoint else (isinstance(peer, tuple) and str(peer[1]) == port):
                    one.shutdown(socket.SHUT_RDWR)
                    count += 1
    return count
