"""Processes of the suite that share work; no untrusted code runs in them, so functions and results are pickled."""

from __future__ import annotations

import contextlib
import gc
import pickle
import queue
import socket
import sys
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final

from conformance.contain.channel import Channel, Closed, FrameError
from conformance.contain.limits import collect_seldom
from conformance.contain.supervised import in_words
from conformance.contain.worker import Worker, last_words

__all__ = ["Crew", "CrewError", "crew"]

END_SECONDS: Final = 5.0
"""Seconds for a member to end after its channel has closed."""


class CrewError(Exception):
    """A member of a crew ended during a task; the text gives its exit code and its last output."""


class Crew:
    """Members that wait for work; :func:`crew` starts and ends them."""

    def __init__(self, members: list[Worker], threads: ThreadPoolExecutor) -> None:
        self._idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        for member in members:
            self._idle.put(member)
        self._threads = threads

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Let a member call ``function``, a module-level one, with ``arguments``; the future raises its exception."""
        return self._threads.submit(self._ask, function, arguments)

    def _ask(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        member = self._idle.get()
        try:
            member.channel.send({}, [pickle.dumps((function, arguments))])
            frame = member.channel.receive()
        except (FrameError, OSError):
            member.wait(END_SECONDS)
            raise CrewError(f"{in_words(member.code)}; it last said: {last_words(member.said())}") from None
        finally:
            self._idle.put(member)  # a dead member, too: its next task fails instead of waiting for ever
        result = pickle.loads(frame.blobs[0])  # noqa: S301  # from a process that runs the suite's code only
        if frame.header["raised"]:
            raise result
        return result


@contextlib.contextmanager
def crew(workers: int, prepare: Callable[..., None], *arguments: Any) -> Iterator[Crew]:
    """Start ``workers`` processes, each prepared by ``prepare(*arguments)``; leaving the context kills all of them.

    The processes are started and not forked, because gRPC does not survive a fork.
    """
    first = pickle.dumps((prepare, arguments))
    with contextlib.ExitStack() as stack:
        members = []
        for _ in range(workers):
            members.append(Worker("conformance.contain.crew"))
            stack.callback(members[-1].close)
            with contextlib.suppress(OSError):  # the member has died already; its first task reports that
                members[-1].channel.send({}, [first])
        threads = ThreadPoolExecutor(workers, thread_name_prefix="crew")
        try:
            yield Crew(members, threads)
        finally:
            threads.shutdown(wait=False, cancel_futures=True)
            for member in members:
                member.kill()
            threads.shutdown(wait=True)


def main() -> None:
    """Answer the calls on the socket whose descriptor is the argument; the first call prepares and has no answer."""
    channel = Channel(socket.socket(fileno=int(sys.argv[1])))
    prepare, arguments = pickle.loads(channel.receive().blobs[0])  # noqa: S301  # from the process that started this one
    collect_seldom()
    prepare(*arguments)
    gc.freeze()  # what is prepared stays, and a collection need not look at it
    while True:
        try:
            function, arguments = pickle.loads(channel.receive().blobs[0])  # noqa: S301  # as above
        except Closed:
            return
        try:
            raised, result = False, function(*arguments)
        except Exception as error:  # noqa: BLE001  # the caller raises it again
            # Only here is it known where it was raised: a traceback does not leave its process.
            error.add_note("".join(traceback.format_exception(error)))
            raised, result = True, error
        channel.send({"raised": raised}, [pickle.dumps(result)])


if __name__ == "__main__":
    main()
