"""A process that has imported the suite and read its cases, and forks for each command of a guide.

A command in a fork is a process as any other, with a directory, an environment and streams of its own, and leaves
nothing behind for the next one; only its start is cheap. That start is not the one of a user:
:mod:`tests.docs.snippets` starts one command of each name as a user does.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.fixtures import ROOT

PACKAGES: Final = (
    *("cli", "contract", "drift", "engine", "generate", "history", "records", "replay", "report", "targets", "truth"),
    "wire",
)
"""What commands import in the end, without clients, readers and Spark, which have processes of their own."""


@contextlib.contextmanager
def warm(folder: Path) -> Iterator[Path]:
    """Run commands until the context is left; ``asking.py`` asks for them at the socket whose path this yields."""
    place = folder / "commands"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(place))
        listener.listen()
        # gRPC reads its variable when it is imported; the threads of OpenBLAS are none that a fork could have.
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "GRPC_VERBOSITY": "NONE", "OPENBLAS_NUM_THREADS": "1"}
        keeper = subprocess.Popen(
            [sys.executable, "-m", __name__, str(listener.fileno())],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            pass_fds=[listener.fileno()],
        )
    with keeper:
        yield place
    assert keeper.returncode == 0


def main() -> None:
    """Fork for each connection to the listener whose descriptor is the argument, until standard input ends."""
    listener = socket.socket(fileno=int(sys.argv[1]))
    _prepare()
    assert threading.active_count() == 1, threading.enumerate()
    running: set[int] = set()
    while True:
        ready, _, _ = select.select([listener.fileno(), 0], [], [])
        running = {child for child in running if os.waitpid(child, os.WNOHANG) == (0, 0)}
        if 0 in ready:
            break
        connection, _ = listener.accept()
        child = os.fork()
        if child == 0:
            listener.close()
            _run(connection)
        connection.close()
        running.add(child)
    for child in running:  # a test that gave up waiting for its command left it
        os.kill(child, signal.SIGTERM)
        os.waitpid(child, 0)


def _prepare() -> None:
    """Import all that commands import, and read the clauses and the cases."""
    for package in PACKAGES:
        for module in pkgutil.iter_modules(importlib.import_module(f"conformance.{package}").__path__):
            importlib.import_module(f"conformance.{package}.{module.name}")
    importlib.import_module("conformance.contract.clause").load_chapters()
    importlib.import_module("conformance.engine.corpus").load_corpus()
    gc.freeze()  # a collection in a fork would touch, and so copy, each of these objects


def _run(connection: socket.socket) -> None:
    """Become the command that a connection asks for; the status is sent when it has printed everything."""
    status = 1
    try:
        _, streams, _, _ = socket.recv_fds(connection, 1, 3)
        with connection.makefile("rb") as sent:
            arguments, directory, environment = json.load(sent)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        sys.stdin, sys.stdout, sys.stderr = (open(number, mode) for number, mode in enumerate("rww"))  # noqa: PTH123, SIM115
        os.chdir(directory)
        os.environ.clear()
        os.environ.update(environment)
        # As ``python -m conformance`` has them.
        sys.argv[:] = [str(ROOT / "conformance" / "__main__.py"), *arguments]
        sys.path[0] = directory
        status = _ended()
        sys.stdout.flush()
    except BaseException:  # noqa: BLE001  # Python prints it where a command ends with it
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError):
            sys.stderr.flush()
            connection.send(str(status).encode())
        os._exit(0)  # the exit handlers are those of the process that forked


def _ended() -> int:
    """The status of the command in ``sys.argv``."""
    from conformance.cli import main as command  # noqa: PLC0415  # it is imported by now

    try:
        command()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    main()
