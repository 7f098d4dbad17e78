"""Processes of servers that attack: how they start, whom they leave behind, how they refuse to end.

Every process that loses the variable by which it is found notes its id first.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tests.hostile.attack import Act, Expected, Part, register

if TYPE_CHECKING:
    from tests.hostile.host import Host

__all__ = ["NOT_STARTED", "ignore_term", "life", "note", "place", "sleeper"]

MIB: Final = 1 << 20
SERVED: Final = Expected(("pass",), status=(0,))
NOT_STARTED: Final = Expected(status=(2,), says="did not start|cannot start")
LIFE_SECONDS: Final = 120
"""How long a process that was left behind lives where nobody ends it."""


def life(name: str, expected: Expected = SERVED, **more: Any) -> Callable[[Act], Act]:
    """Register an attack of a server's process."""
    return register(name, Part.LIFE, expected, **more)


def place() -> Path:
    """The attack's directory."""
    return Path(os.environ["HOSTILE_PLACE"])


def note(kind: str, name: str) -> None:
    """Leave a file behind: an event that happened, the id of a process."""
    (place() / kind / name).touch()


def sleeper(*, before: Callable[[], object] = lambda: None) -> int:
    """A child that lives on for two minutes, after it has done something; answers its id."""
    note_in = place()
    pid = os.fork()
    if pid:
        return pid
    with contextlib.suppress(BaseException):
        (note_in / "pids" / str(os.getpid())).touch()
        before()
        (note_in / "pids" / str(os.getpid())).touch()
        time.sleep(LIFE_SECONDS)
    os._exit(0)


def ignore_term() -> None:
    """Be deaf to every signal that asks a process to end."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def _close_all() -> None:
    os.closerange(0, 1024)


def _daemon(also: Callable[[], object] = lambda: None) -> None:
    """The way of a daemon: a session of its own, a second fork, no open files."""

    def begin() -> None:
        os.setsid()
        if os.fork():
            os._exit(0)
        _close_all()
        also()

    sleeper(before=begin)


# --- whom it leaves behind ----------------------------------------------------------------------------


@life("life.ignores-sigterm")
def ignores_sigterm(host: Host) -> None:
    """The server ignores SIGTERM, SIGINT and SIGHUP."""
    host.start()
    host.announce()
    ignore_term()
    threading.Event().wait()


@life("life.children-ignore-sigterm")
def children_ignore_sigterm(host: Host) -> None:
    """Ten children of the server ignore SIGTERM, and survive when it ends."""
    for _ in range(10):
        sleeper(before=ignore_term)
    host.serve()


@life("life.child-leaves-the-group")
def child_leaves_the_group(host: Host) -> None:
    """A child of the server leads its own process group."""
    sleeper(before=lambda: os.setpgid(0, 0))
    host.serve()


@life("life.child-leaves-the-session")
def child_leaves_the_session(host: Host) -> None:
    """A child of the server has its own session, and holds its outputs open."""
    sleeper(before=os.setsid)
    host.serve()


@life("life.leaves-a-daemon")
def leaves_a_daemon(host: Host) -> None:
    """The server leaves a daemon behind: two forks, a session of its own, no open file."""
    _daemon()
    host.serve()


@life("life.leaves-a-daemon-without-environment")
def leaves_a_daemon_without_environment(host: Host) -> None:
    """A daemon is left behind that runs another program, in another directory, without any environment."""
    noted = str(place() / "pids")
    shell = f'touch "{noted}/$$"; exec sleep {LIFE_SECONDS}'

    def another() -> None:
        os.chdir("/")
        os.execve("/bin/sh", ["sh", "-c", shell], {})

    _daemon(another)
    host.serve()


@life("life.becomes-a-daemon", NOT_STARTED)
def becomes_a_daemon(host: Host) -> None:
    """The command ends at once with status 0, and the server continues as a daemon."""

    def serve() -> None:
        host.start()
        threading.Event().wait(LIFE_SECONDS)

    _daemon(serve)
    os._exit(0)


@life("life.daemon-dies-and-rises")
def daemon_dies_and_rises(host: Host) -> None:
    """A daemon starts itself again every tenth of a second, with another process id each time."""
    _daemon(_rise)
    host.serve()


def _rise() -> None:
    until = time.monotonic() + LIFE_SECONDS / 4
    while time.monotonic() < until:
        time.sleep(0.1)
        (place() / "pids" / str(os.getpid())).touch()
        if os.fork():
            os._exit(0)


@life("life.fork-bomb")
def fork_bomb(host: Host) -> None:
    """Two hundred descendants in forty sessions are left behind, each a child of another one."""

    def spread(generations: int) -> None:
        if generations % 5 == 0:
            os.setsid()
        if generations:
            sleeper(before=lambda: spread(generations - 1))

    sleeper(before=lambda: spread(199))
    host.serve()


@life("life.forks-until-the-end")
def forks_until_the_end(host: Host) -> None:
    """A child forks without end, at a hundred a second, and each lives for a second."""
    until = time.monotonic() + 30

    def spread() -> None:
        ignore_term()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        while time.monotonic() < until:
            if not os.fork():
                os.setsid()
                time.sleep(1)
                os._exit(0)
            time.sleep(0.01)

    sleeper(before=spread)
    host.serve()


@life("life.dies-with-children", NOT_STARTED)
def dies_with_children(host: Host) -> None:
    """The server dies at its start, and three children in their own sessions survive."""
    for _ in range(3):
        sleeper(before=os.setsid)
    os.kill(os.getpid(), signal.SIGKILL)


def _signal_parent(number: signal.Signals) -> None:
    """Signal the parent, where it is a process of the suite under attack and no other."""
    parent = os.getppid()
    if f"HOSTILE_COOKIE={os.environ['HOSTILE_COOKIE']}".encode() in Path(f"/proc/{parent}/environ").read_bytes():
        os.kill(parent, number)
    else:
        note("events", "forbidden.parent-is-no-process-of-the-suite")


@life("life.kills-its-parent", Expected(status=(1, 2), says="."))
def kills_its_parent(host: Host) -> None:
    """The server kills its parent process, whatever that is, as soon as it serves."""
    sleeper(before=os.setsid)
    host.start()
    host.announce()
    _signal_parent(signal.SIGKILL)
    host.wait()


@life("life.stops-its-parent", Expected(status=(0, 1, 2), says="."))
def stops_its_parent(host: Host) -> None:
    """The server stops its parent process with SIGSTOP, whatever that is, as soon as it serves."""
    host.start()
    host.announce()
    _signal_parent(signal.SIGSTOP)
    host.wait()


@life("life.ends-during-the-stop", Expected(("pass",), status=(0,)))
def ends_during_the_stop(host: Host) -> None:
    """At SIGTERM, the server forks into a new session and ends, so that another process survives."""

    def flee(*_: object) -> None:
        if os.fork():
            os._exit(0)
        os.setsid()
        (place() / "pids" / str(os.getpid())).touch()
        time.sleep(LIFE_SECONDS)
        os._exit(0)

    host.start()
    host.announce()
    signal.signal(signal.SIGTERM, flee)
    while True:
        time.sleep(1)


# --- how it ends and what it does to itself -----------------------------------------------------------


@life("life.ends-at-once", NOT_STARTED)
def ends_at_once(host: Host) -> None:
    """The command ends at once with status 0, and prints nothing."""
    os._exit(0)


@life("life.dies-with-hostile-words", NOT_STARTED)
def dies_with_hostile_words(host: Host) -> None:
    """The last output of the command is control sequences for terminals and CI systems."""
    os.write(
        2,
        b"\n::error::HOSTILE\n##vso[task.complete]\n\x1b]0;owned\x07\x1b[2J\xed\xa0\x80\xff\xe2\x80\xae\n",
    )
    os._exit(3)


@life("life.closes-its-streams")
def closes_its_streams(host: Host) -> None:
    """The server closes its standard streams as soon as it serves."""
    host.start()
    host.announce()
    for number in (0, 1, 2):
        os.close(number)
    host.wait()


@life("life.changes-its-priority")
def changes_its_priority(host: Host) -> None:
    """The server gives itself the lowest priority for scheduling, and for the kernel's out-of-memory killer."""
    os.nice(19)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("-1000", encoding="ascii")
    with contextlib.suppress(OSError):
        ctypes.CDLL(None).prctl(15, b"conformance", 0, 0, 0)
    host.serve()


@life("life.raises-its-limits")
def raises_its_limits(host: Host) -> None:
    """The server raises all its own limits as far as it may, and maps 64 GiB that it never uses."""
    for kind in (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (resource.getrlimit(kind)[1],) * 2)
    held = ctypes.CDLL(None, use_errno=True)
    held.mmap.restype = ctypes.c_void_p
    held.mmap(None, ctypes.c_size_t(64 << 30), 0, 0x4022, -1, 0)
    host.serve()


@life("life.second-start-fails", Expected(("crash",), later=False))
def second_start_fails(host: Host) -> None:
    """The server dies of its first case, and does not start again."""
    if (place() / "events" / "started").exists():
        sys.exit("license expired")
    note("events", "started")
    host.start()
    host.announce()

    def die(*_: object) -> None:
        os._exit(4)

    host.session = die  # type: ignore[method-assign,assignment]
    host.wait()


@life("life.starts-at-the-second-try", NOT_STARTED)
def starts_at_the_second_try(host: Host) -> None:
    """The first start fails; later starts succeed."""
    if (place() / "events" / "started").exists():
        host.serve()
    note("events", "started")
    sys.exit("warming up")


@life("life.dies-between-cases", Expected(("pass", "crash", "untestable"), later=False))
def dies_between_cases(host: Host) -> None:
    """The server dies a moment after every stream that it has served."""
    serve_rows = host.rows

    def rows(request: Any, context: Any) -> Any:
        threading.Timer(0.05, os._exit, (5,)).start()
        return serve_rows(request, context)

    host.rows = rows  # type: ignore[method-assign]
    host.serve()


@life("life.starts-helpers-that-die-loudly")
def starts_helpers_that_die_loudly(host: Host) -> None:
    """Helpers of the server crash one after another and fill its standard error while it serves."""

    def crash() -> None:
        for _ in range(200):
            subprocess.run([sys.executable, "-S", "-c", "import os; os.abort()"], check=False)

    threading.Thread(target=crash, daemon=True).start()
    host.serve()
