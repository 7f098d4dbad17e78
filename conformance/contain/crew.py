"""Processes of ours that share work: no foreign code runs in them, so functions and results are pickled."""

from __future__ import annotations

import contextlib
import pickle
import queue
import socket
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final

from conformance.contain.channel import Channel, Closed, FrameError
from conformance.contain.supervised import in_words
from conformance.contain.worker import Worker, last_words

__all__ = ["Crew", "CrewError", "crew"]

END_SECONDS: Final = 5.0
"""For a member whose channel closed to be seen dead."""


class CrewError(Exception):
    """A member of a crew ended under a task; the text says how, and what it last said."""


class Crew:
    """Members that wait for work; :func:`crew` makes one and ends it."""

    def __init__(self, members: list[Worker], threads: ThreadPoolExecutor) -> None:
        self._idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        for member in members:
            self._idle.put(member)
        self._threads = threads

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Have a member call ``function``, one of a module, with ``arguments``; the future raises what it raises."""
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
            self._idle.put(member)  # one that has ended as well: every task ends, if by an error
        result = pickle.loads(frame.blobs[0])  # noqa: S301  # from a process that runs our own code alone
        if frame.header["raised"]:
            raise result
        return result


@contextlib.contextmanager
def crew(workers: int, prepare: Callable[..., None], *arguments: Any) -> Iterator[Crew]:
    """A crew of ``workers`` processes, each prepared by ``prepare(*arguments)``; all are ended on leaving, at once.

    They are made anew, not forked: gRPC does not survive a fork.
    """
    first = pickle.dumps((prepare, arguments))
    with contextlib.ExitStack() as stack:
        members = []
        for _ in range(workers):
            members.append(Worker("conformance.contain.crew"))
            stack.callback(members[-1].close)
            with contextlib.suppress(OSError):  # it has died already, as its first task will show
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
    """Call what comes on the socket whose number is the argument; the first call prepares, and has no answer."""
    channel = Channel(socket.socket(fileno=int(sys.argv[1])))
    prepare, arguments = pickle.loads(channel.receive().blobs[0])  # noqa: S301  # from the process that started this one
    prepare(*arguments)
    while True:
        try:
            function, arguments = pickle.loads(channel.receive().blobs[0])  # noqa: S301  # as above
        except Closed:
            return
        try:
            raised, result = False, function(*arguments)
        except Exception as error:  # noqa: BLE001  # raised again where the result is awaited
            raised, result = True, error
        channel.send({"raised": raised}, [pickle.dumps(result)])


if __name__ == "__main__":
    main()
