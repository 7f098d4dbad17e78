"""Ends calls from outside: one that is silent is given up, and at last the connection below it is cut.

grpcio 1.85.1 misses the deadline of a call, and takes no cancellation, while the server sends frames such as SETTINGS
or PING without a pause: the thread that reads them does nothing else. A connection that is shut down ends all of it.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import socket
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Final, Self

import grpc

__all__ = ["GRACE_SECONDS", "Listening", "cut", "cut_after", "leads_to"]

GRACE_SECONDS: Final = 2.0
"""Seconds that gRPC has to end a call after its deadline."""
_DESCRIPTORS: Final = "/proc/self/fd"

_ENDPOINTS: Final[weakref.WeakKeyDictionary[grpc.Channel, str]] = weakref.WeakKeyDictionary()


def leads_to(channel: grpc.Channel, endpoint: str) -> grpc.Channel:
    """``channel``, of which it is known from now on that it leads to ``host:port`` or ``unix:PATH``."""
    _ENDPOINTS[channel] = endpoint
    return channel


class _Watch:
    """One thread, which acts on what is not over in time; it starts with the first call."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._changed = threading.Condition()
        self._open: dict[object, tuple[float, Callable[[], object]]] = {}
        self._wakes = math.inf
        self._started = False

    def begins(self, act: Callable[[], object], seconds: float) -> object:
        """Call ``act``, which must not wait, after so many seconds, unless what is returned ends before."""
        call, due = object(), self._now() + seconds
        with self._changed:
            self._open[call] = (due, act)
            if not self._started:
                self._started = True
                threading.Thread(target=self._watch, name="cutting", daemon=True).start()
            elif due < self._wakes:
                self._changed.notify()
        return call

    def postpone(self, call: object, seconds: float) -> None:
        """Count the seconds of what :meth:`begins` returned anew, if its time is not over yet."""
        with self._changed:
            if call in self._open:
                self._open[call] = (self._now() + seconds, self._open[call][1])

    def ends(self, call: object) -> None:
        """What :meth:`begins` returned is over."""
        with self._changed:
            self._open.pop(call, None)

    def _watch(self) -> None:
        while True:
            with self._changed:
                self._wakes = min((due for due, _ in self._open.values()), default=math.inf)
                left = self._wakes - self._now()
                if left > 0:
                    self._changed.wait(min(left, threading.TIMEOUT_MAX))
                    continue
            self.act()

    def act(self) -> None:
        """Act on what is not over in time."""
        with self._changed:
            now = self._now()
            over = [call for call, (due, _) in self._open.items() if due <= now]
            acts = [self._open.pop(call)[1] for call in over]
        for act in acts:
            act()


_WATCH: Final = _Watch()


@contextlib.contextmanager
def cut_after(channel: grpc.Channel, seconds: float) -> Iterator[None]:
    """Cut the connections of ``channel`` if what happens inside takes :data:`GRACE_SECONDS` more than ``seconds``."""
    endpoint = _ENDPOINTS.get(channel)
    if endpoint is None:
        yield
        return
    call = _WATCH.begins(functools.partial(cut, endpoint), seconds + GRACE_SECONDS)
    try:
        yield
    finally:
        _WATCH.ends(call)


class Listening:
    """The deadlines of a call on ``channel`` whose messages come one after another; use it as a context manager.

    A call that is silent for ``seconds`` is given up. One that goes on sending has ``longest`` seconds in all, which is
    ``timeout``, the deadline to make the call with. Where nobody could give the call up in the meantime, because the
    channel leads into this process, ``timeout`` is ``seconds``.
    """

    def __init__(self, channel: grpc.Channel, seconds: float, longest: float) -> None:
        self._endpoint = _ENDPOINTS.get(channel)
        self._seconds = seconds
        self.timeout = seconds if self._endpoint is None else max(seconds, longest)
        self._cancel: Callable[[], object] | None = None
        self._watched: list[object] = []
        self._lock = threading.Lock()
        self._over = False
        self.silent = False

    def to(self, cancel: Callable[[], object]) -> Self:
        """Listen from now on to the call that ``cancel`` gives up."""
        self._cancel = cancel
        return self

    def __enter__(self) -> Self:
        if self._endpoint is not None:
            self._watched = [
                _WATCH.begins(self._give_up, self._seconds),
                _WATCH.begins(functools.partial(cut, self._endpoint), self.timeout + GRACE_SECONDS),
            ]
        return self

    def __exit__(self, *_error: object) -> None:
        with self._lock:
            self._over = True
        for one in self._watched:
            _WATCH.ends(one)

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Count no silence inside: the client itself takes nothing."""
        if self._watched:
            _WATCH.ends(self._watched[0])
        try:
            yield
        finally:
            if self._watched:
                self._watched[0] = _WATCH.begins(self._give_up, self._seconds)

    def heard(self) -> None:
        """A message has come, or was taken from the client."""
        if self._watched:
            _WATCH.postpone(self._watched[0], self._seconds)

    def _give_up(self) -> None:
        """Cancel the call, in a thread of its own because that may wait, and cut the connection if it goes on."""
        assert self._endpoint is not None
        assert self._cancel is not None
        with self._lock:
            if self._over:
                return
            self.silent = True
            self._watched.append(_WATCH.begins(functools.partial(cut, self._endpoint), GRACE_SECONDS))
        threading.Thread(target=self._cancel, name="give a call up", daemon=True).start()


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
