"""Attacks on the suite's own process: signals at bad moments, closed streams, a clock that jumps."""

from __future__ import annotations

import functools
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tests.hostile import setups
from tests.hostile.attack import ATTACKS, Act, Expected, Part, register
from tests.hostile.setups import ROOT, Command

if TYPE_CHECKING:
    from tests.hostile.measure import Running

__all__: list[str] = []

ENDED: Final = Expected(status=(1, 130))
"""An interrupt ends a run with what it has; before there is anything, with a status of its own."""
AT_ONCE: Final = Expected(status=(1, 130, -2))
"""A second interrupt ends the command at once."""
KILLED: Final = Expected(status=(-9,))
FINE: Final = Expected(("pass",), status=(0,))

During = Callable[["Running"], None]


def _process(
    name: str, expected: Expected, *, life: str = "calm", more: tuple[str, ...] = (), **rest: Any
) -> Callable[[Act], Act]:
    """Register a function that disturbs a run against a server of that life, while it runs."""

    def registered(disturb: Act) -> Act:
        @functools.wraps(disturb)
        def arranged(place: Path, cookie: str) -> Command:
            command = setups.served(ATTACKS[name], place, cookie, life)
            command.words += more
            command.during = disturb
            return command

        register(name, Part.COMMAND, expected, **rest)(arranged)
        return disturb

    return registered


def _changed(name: str, expected: Expected, **rest: Any) -> Callable[[Act], Act]:
    """Register a function that changes the command of a run against a calm server."""

    def registered(change: Act) -> Act:
        @functools.wraps(change)
        def arranged(place: Path, cookie: str) -> Command:
            command = setups.served(ATTACKS[name], place, cookie, "calm")
            change(command, place)
            return command

        register(name, Part.COMMAND, expected, **rest)(arranged)
        return change

    return registered


# --- signals ------------------------------------------------------------------------------------------


@_process("process.interrupt-while-starting", ENDED, life="starting")
def interrupt_while_starting(running: Running) -> None:
    """Ctrl-C arrives during the start of a target that never becomes ready."""
    running.wait_for_event("starting")
    running.interrupt()


@_process("process.interrupt-in-the-middle", ENDED, life="busy")
def interrupt_in_the_middle(running: Running) -> None:
    """Ctrl-C arrives during a case that the target never ends."""
    running.wait_for_event("busy")
    running.interrupt()


@_process("process.interrupt-twice", AT_ONCE, life="busy")
def interrupt_twice(running: Running) -> None:
    """Ctrl-C arrives twice, as quickly as possible."""
    running.wait_for_event("busy")
    running.interrupt()
    running.wait_for(lambda: False, 0.2)
    running.interrupt()


@_process("process.interrupt-ten-times", AT_ONCE, life="starting")
def interrupt_ten_times(running: Running) -> None:
    """Ctrl-C arrives ten times in a row while a target starts."""
    running.wait_for_event("starting")
    for _ in range(10):
        if not running.ended:
            running.interrupt()
            running.wait_for(lambda: False, 0.05)


@_process("process.interrupt-at-import", Expected(status=(1, 130, -2)))
def interrupt_at_import(running: Running) -> None:
    """Ctrl-C arrives before the command has imported anything."""
    running.wait_for(lambda: False, 0.15)
    running.interrupt()


@_process("process.terminate-while-starting", Expected(status=(1, 130, -15)), life="starting")
def terminate_while_starting(running: Running) -> None:
    """SIGTERM arrives during the start of a target that never becomes ready."""
    running.wait_for_event("starting")
    running.signal(signal.SIGTERM)


@_process("process.terminate-in-the-middle", Expected(status=(1, 130, -15)), life="busy")
def terminate_in_the_middle(running: Running) -> None:
    """SIGTERM arrives during a case that the target never ends."""
    running.wait_for_event("busy")
    running.signal(signal.SIGTERM)


@_process("process.hangup", Expected(status=(1, 130, -1)), life="busy")
def hangup(running: Running) -> None:
    """The terminal closes: SIGHUP arrives during the run."""
    running.wait_for_event("busy")
    running.signal(signal.SIGHUP)


@_process("process.kill-while-starting", KILLED, life="starting")
def kill_while_starting(running: Running) -> None:
    """The suite is killed while a target is starting."""
    running.wait_for_event("starting")
    running.signal(signal.SIGKILL)


@_process("process.kill-in-the-middle", KILLED, life="busy")
def kill_in_the_middle(running: Running) -> None:
    """The suite is killed during a case."""
    running.wait_for_event("busy")
    running.signal(signal.SIGKILL)


@_process("process.kill-with-readers", KILLED, life="busy", options=("--readers",))
def kill_with_readers(running: Running) -> None:
    """The suite is killed during a case, while readers wait for work."""
    running.wait_for_event("busy")
    running.signal(signal.SIGKILL)


@_process("process.kill-with-shards", KILLED, life="busy", more=("--parallel", "2"))
def kill_with_shards(running: Running) -> None:
    """The suite is killed while its shards work, each with its own target."""
    running.wait_for_event("busy")
    running.signal(signal.SIGKILL)


@_process("process.interrupt-with-shards", ENDED, life="busy", more=("--parallel", "2"))
def interrupt_with_shards(running: Running) -> None:
    """Ctrl-C arrives while shards work, each with its own target."""
    running.wait_for_event("busy")
    running.interrupt()


@_process("process.terminate-with-shards", Expected(status=(1, 130, -15)), life="busy", more=("--parallel", "2"))
def terminate_with_shards(running: Running) -> None:
    """SIGTERM arrives at the main process only, while its shards work."""
    running.wait_for_event("busy")
    running.signal(signal.SIGTERM)


@_process("process.stopped-and-continued", Expected(("pass", "hang")))
def stopped_and_continued(running: Running) -> None:
    """The suite is stopped for three seconds during the run, and continued."""
    running.wait_for(lambda: False, 1.0)
    running.signal(signal.SIGSTOP)
    running.wait_for(lambda: False, 3.0)
    running.signal(signal.SIGCONT)


# --- streams and surroundings -------------------------------------------------------------------------


def _through_shell(command: Command, script: str) -> None:
    command.wrap = ["/bin/sh", "-c", script, "sh"]


@_changed("process.closed-input", FINE)
def closed_input(command: Command, place: Path) -> None:
    """The suite's standard input is closed."""
    _through_shell(command, 'exec "$@" <&-')


@_changed("process.blocked-signals", FINE)
def blocked_signals(command: Command, place: Path) -> None:
    """The suite is started with every signal blocked, also that of a child's end."""
    code = "import os,signal,sys;signal.pthread_sigmask(0,signal.valid_signals());os.execv(sys.argv[1],sys.argv[1:])"
    command.wrap = [sys.executable, "-c", code]


@_changed("process.closed-output", Expected(status=(0,)))
def closed_output(command: Command, place: Path) -> None:
    """Nobody reads the suite's standard output any more, as behind ``| head``."""
    command.closes_stdout = True


@_changed("process.no-streams", Expected(status=(0, 1, 2)))
def no_streams(command: Command, place: Path) -> None:
    """All three standard streams are closed."""
    _through_shell(command, 'exec "$@" <&- >&- 2>&-')


@_changed("process.output-on-a-full-disk", Expected(status=(1, 2)))
def output_on_a_full_disk(command: Command, place: Path) -> None:
    """Standard output is on a full disk."""
    command.stdout = "/dev/full"


@_changed("process.thirty-open-files", Expected(status=(0, 1, 2)))
def thirty_open_files(command: Command, place: Path) -> None:
    """The suite may open thirty files."""
    _through_shell(command, 'ulimit -n 30; exec "$@"')


@_changed("process.no-locale", FINE)
def no_locale(command: Command, place: Path) -> None:
    """The suite runs in the locale C, with ASCII on every stream."""
    command.environment |= {
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONIOENCODING": "ascii:strict",
        "PYTHONCOERCECLOCALE": "0",
    }


_CLOCK: Final = """
import itertools, sys, time
if "conformance" in " ".join(sys.orig_argv):
    now, now_ns, count = time.time, time.time_ns, itertools.count()
    def jump():
        return (next(count) % 3 - 1) * 600
    def theirs():  # gRPC hands what it reads on to native code, whose clock a module cannot change
        return sys._getframe(2).f_globals.get("__name__", "").startswith("grpc")
    time.time = lambda: now() + (0 if theirs() else jump())
    time.time_ns = lambda: now_ns() + jump() * 10**9
"""


@_changed("process.wall-clock-jumps", FINE)
def wall_clock_jumps(command: Command, place: Path) -> None:
    """The suite's wall clock jumps by ten minutes, back and forth, whenever it is read."""
    (place / "clock").mkdir()
    (place / "clock" / "sitecustomize.py").write_text(_CLOCK, encoding="utf-8")
    command.environment["PYTHONPATH"] = f"{place / 'clock'}{os.pathsep}{ROOT}"


@_changed("process.secrets-in-the-environment", FINE)
def secrets_in_the_environment(command: Command, place: Path) -> None:
    """The caller's environment has a token, which a started target must not see."""
    command.environment["HOSTILE_TOKEN"] = "secret"


def _other(name: str, expected: Expected, **rest: Any) -> Callable[[Act], Act]:
    """Register a function that makes a command of its own."""
    return register(name, Part.COMMAND, expected, **rest)


def _reading(disturb: During) -> Command:
    words = ["read", "--reader", "pyarrow", "--mangled", "100000", "--vectors", str(ROOT / "golden" / "ipc")]
    return Command(words, during=disturb)


def _wait_for_readers(running: Running) -> None:
    log = running.place / ".conformance"
    running.wait_for(lambda: any(file.stat().st_size > 20_000 for file in log.glob("read-*.jsonl")), 20)


@_other("process.interrupt-of-read", ENDED)
def interrupt_of_read(place: Path, cookie: str) -> Command:
    """Ctrl-C arrives while ``conformance read`` works on thousands of inputs."""

    def disturb(running: Running) -> None:
        _wait_for_readers(running)
        running.interrupt()

    return _reading(disturb)


@_other("process.kill-of-read", KILLED)
def kill_of_read(place: Path, cookie: str) -> Command:
    """``conformance read`` is killed while its readers work."""

    def disturb(running: Running) -> None:
        _wait_for_readers(running)
        running.signal(signal.SIGKILL)

    return _reading(disturb)


def _proving(disturb: During) -> Command:
    return Command(["prove"], during=disturb)


def _wait_for_children(running: Running) -> None:
    import psutil  # noqa: PLC0415  # not in the processes that attack

    def several() -> bool:
        try:
            return len(psutil.Process(running.pid).children(recursive=True)) >= 2
        except psutil.Error:
            return False

    running.wait_for(several, 30)
    running.wait_for(lambda: False, 1.0)


@_other("process.interrupt-of-prove", ENDED, deadline=20.0)
def interrupt_of_prove(place: Path, cookie: str) -> Command:
    """Ctrl-C arrives while ``conformance prove`` works in several processes."""

    def disturb(running: Running) -> None:
        _wait_for_children(running)
        running.interrupt()

    return _proving(disturb)


@_other("process.kill-of-prove", KILLED, deadline=20.0)
def kill_of_prove(place: Path, cookie: str) -> Command:
    """``conformance prove`` is killed while it works in several processes."""

    def disturb(running: Running) -> None:
        _wait_for_children(running)
        running.signal(signal.SIGKILL)

    return _proving(disturb)


@_other("process.interrupt-of-write", ENDED)
def interrupt_of_write(place: Path, cookie: str) -> Command:
    """Ctrl-C arrives while ``conformance write`` works."""

    def disturb(running: Running) -> None:
        log = running.place / ".conformance"
        running.wait_for(lambda: any(file.stat().st_size > 20_000 for file in log.glob("write-*.jsonl")), 20)
        running.interrupt()

    return Command(["write", "--writer", "pyarrow"], during=disturb)


@_other("process.version-command-hangs", ENDED)
def version_command_hangs(place: Path, cookie: str) -> Command:
    """Ctrl-C arrives while the target's ``version_command`` hangs, with a child in its own session."""
    note = f"touch {place}/events/asked; touch {place}/pids/$$"
    script = f"{note}; setsid sh -c 'touch {place}/pids/$$; sleep 100' & sleep 100"
    (place / "target.toml").write_text(
        f'name = "hostile"\nkind = "server"\nversion_command = ["/bin/sh", "-c", "{script}"]\n'
        f'[start]\ncommand = ["{sys.executable}", "-c", "", "{{grpc_port}}", "{{rest_port}}"]\n',
        encoding="utf-8",
    )

    def disturb(running: Running) -> None:
        running.wait_for_event("asked")
        running.interrupt()

    return Command(["run", "--target", "target.toml"], during=disturb)
