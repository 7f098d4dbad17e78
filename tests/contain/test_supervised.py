"""Whatever way the suite ends, and whatever a program does, nothing that it started survives.

The module is a little long because each way to end, and to escape the end, has a program of its own.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from conformance.contain import supervised, supervisor
from conformance.contain.command import run_command
from conformance.contain.errors import CannotStart
from conformance.contain.supervised import Group, Supervised, in_words, signal_name
from tests.interrupts import interrupts
from tests.patience import LONG, still_running

linux = pytest.mark.skipif(sys.platform != "linux", reason="descendants are found by the subreaper of Linux")

WAIT = "import signal; signal.pause()"
FAMILY = f"""
import os, signal, subprocess, sys
# The kernel ends it: a handler of Python's runs between two instructions, and not while it begins to pause.
signal.signal(signal.SIGINT, signal.SIG_DFL)
# A child in the group, one that left it, and one that forked twice and left it: all ignore SIGTERM.
for leave in (False, True):
    subprocess.Popen([sys.executable, "-c", "import signal; signal.signal(15, signal.SIG_IGN); signal.pause()"],
                     start_new_session=leave)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(15, signal.SIG_IGN)
        signal.pause()
    os._exit(0)
os.wait()
print("ready", flush=True)
{WAIT}
"""


class Family:
    """A program with three descendants, and all of their processes."""

    def __init__(self, code: str = FAMILY) -> None:
        self.process = Supervised([sys.executable, "-c", code], environment=os.environ, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        self.process.stdout.readline()
        self.members = psutil.Process(self.process.root).children(recursive=True)

    def survivors(self) -> list[psutil.Process]:
        """The processes that do not end."""
        return still_running(self.members)


@pytest.fixture
def family() -> Iterator[Family]:
    """A program whose descendants leave its group; whatever the test does, they are gone afterwards."""
    made = Family()
    try:
        yield made
    finally:
        made.process.end()
        for member in made.members:
            with contextlib.suppress(psutil.NoSuchProcess):
                member.kill()
        assert made.process.stdout is not None
        made.process.stdout.close()


@linux
def test_all_descendants_end(family: Family) -> None:
    """Descendants that left the process group are ended too."""
    family.process.end(grace=0.2)

    assert len(family.members) == 4
    assert family.survivors() == []


@linux
def test_descendants_end_with_the_program(family: Family) -> None:
    """A program that ends by itself leaves nothing behind, before anybody asks."""
    os.kill(family.process.pid, signal.SIGINT)

    assert family.process.wait(LONG)
    assert family.survivors() == []


@linux
def test_a_program_that_kills_its_supervisor_is_ended_with_all_of_its_descendants(family: Family) -> None:
    """Those that left the group are found by the mark in their environment, and the end is seen."""
    os.kill(family.process.root, signal.SIGKILL)

    assert family.process.wait(LONG)
    assert family.survivors() == []
    family.process.end()
    assert family.process.code == -signal.SIGKILL


@linux
def test_what_a_started_program_has_started_in_the_same_way_ends_with_it() -> None:
    """A shard of a run starts servers: they end with the shard, whose supervisor somebody kills."""
    inner = (
        "import sys; from conformance.contain.supervised import Supervised\n"
        f"kept = Supervised([sys.executable, '-c', {WAIT!r}], environment={{}})\n"
        f"print('ready', flush=True); {WAIT}"
    )
    made = Family(inner)
    os.kill(made.process.root, signal.SIGKILL)

    assert made.process.wait(LONG)
    assert len(made.members) == 3  # the program, its supervisor of the other, and that one
    assert made.survivors() == []
    made.process.end()
    assert made.process.stdout is not None
    made.process.stdout.close()


@linux
def test_a_stopped_supervisor_still_ends_everything(family: Family) -> None:
    """A program that stops its supervisor has gained nothing."""
    os.kill(family.process.root, signal.SIGSTOP)

    family.process.end()

    assert family.survivors() == []


@linux
def test_a_supervisor_that_is_stopped_at_once_starts_all_the_same() -> None:
    """The suite wakes it, however early it was stopped."""
    code = "import os, signal; os.kill(os.getppid(), signal.SIGSTOP); print('done')"
    process = Supervised([sys.executable, "-c", code], environment=os.environ)

    assert process.wait(LONG)
    process.end()
    assert process.code == 0


def test_a_forged_word_of_the_supervisor_is_no_harm() -> None:
    """A program of the same user can write into the supervisor's pipes; it harms itself alone."""
    code = (
        "import glob, os, sys\n"
        "sys.stdin.readline()\n"  # its start has been reported by then
        "for name in glob.glob(f'/proc/{os.getppid()}/fd/*'):\n"
        "    try: os.write(os.open(name, os.O_WRONLY | os.O_NONBLOCK), b'ended nonsense\\n')\n"
        "    except OSError: pass\n"
        "os.write(1, b'forged\\n')\n"  # in one piece, whatever the buffering
        "import signal; signal.pause()"
    )
    pipe = subprocess.PIPE
    process = Supervised([sys.executable, "-c", code], environment=os.environ, stdin=pipe, stdout=pipe)
    assert process.stdin is not None
    assert process.stdout is not None
    with process.stdin as told, process.stdout as said:
        told.write(b"\n")
        told.flush()
        said.readline()  # the word is written by then: the program says so, or has ended because it was believed

    process.end()

    assert not process.running


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("failed No such device", "No such device"),
        ("ended nonsense", "expected started or failed of its supervisor, got 'ended nonsense'"),
        ("started soon", "expected started or failed of its supervisor, got 'started soon'"),
        ("", "its supervisor ended"),
    ],
)
def test_a_word_before_the_start_is_named(line: str, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What came is said, and what was expected, unless the supervisor itself gives the reason."""
    code = f"import os, sys; os.write(int(sys.argv[2]), {line.encode()!r} + b'\\n' * {bool(line)})"
    monkeypatch.setattr(supervised, "_script", lambda: ("-c", code))

    with pytest.raises(CannotStart) as found:
        Supervised([sys.executable], environment=os.environ)

    assert str(found.value) == f"cannot start {sys.executable!r}: {reason}"


@linux
def test_many_open_files_are_no_harm() -> None:
    """Descriptors beyond what select() takes go to the supervisor as any other."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    files = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        process = Supervised([sys.executable, "-c", "raise SystemExit(3)"], environment=os.environ)
        process.wait(LONG)
        process.end()
    finally:
        for descriptor in files:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    assert process.code == 3


@linux
def test_where_nothing_can_be_opened_nothing_is_started_and_nothing_leaks() -> None:
    """If no pipe can be made, the error is one sentence, and no descriptor is left open."""
    files: list[int] = []
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    before = len(list(Path("/proc/self/fd").iterdir()))
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 256), hard))
    try:
        with contextlib.suppress(OSError):
            while True:
                files.append(os.open(os.devnull, os.O_RDONLY))
        for _ in range(3):
            os.close(files.pop())
        with pytest.raises(CannotStart, match="Too many open files"):
            Supervised([sys.executable, "-c", ""], environment=os.environ)
    finally:
        for descriptor in files:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_programs_of_a_group_end_at_one_word() -> None:
    """The word ends members that run, one that joins later, and no other program."""
    group = Group()
    with contextlib.ExitStack() as stack:

        def started(group: Group | None) -> Supervised:
            process = Supervised([sys.executable, "-c", WAIT], environment=os.environ, group=group)
            stack.callback(process.end)
            return process

        first, stranger = started(group), started(None)
        group.kill()
        late = started(group)

        assert first.wait(LONG)
        assert late.wait(LONG)
        assert [first.code, late.code, stranger.code] == [-9, -9, None]


@linux
def test_a_fork_of_the_suite_keeps_nothing_alive() -> None:
    """A program ends with the process that started it, though a fork of that one lives on."""
    script = """
import os, signal
from tests.contain.test_supervised import Family
family = Family()
print(*[member.pid for member in family.members], flush=True)
input()  # until the test has seen them alive
if os.fork() == 0:
    signal.alarm(600)
    signal.pause()
os.kill(os.getpid(), signal.SIGKILL)
"""
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as suite:
        assert suite.stdin is not None
        assert suite.stdout is not None
        members = [psutil.Process(int(pid)) for pid in suite.stdout.readline().split()]
        suite.stdin.write(b"\n")
        suite.stdin.flush()
        survivors = still_running(members)
        os.killpg(suite.pid, signal.SIGKILL)

    assert len(members) == 4
    assert survivors == []


_WITHOUT = """
import os
del os.waitid
def spawn(*given, spawn=os.posix_spawn, setsid=False, **options):
    if setsid:
        raise NotImplementedError  # as in Python 3.14.6 of python-build-standalone
    return spawn(*given, **options)
os.posix_spawn = spawn
import ctypes
ctypes.CDLL = lambda *_: type("C", (), {"prctl": lambda *_: 0})()
Supervisor._children = lambda self: [self._leader] if self._code is None else []
"""


def test_without_the_means_of_linux_the_group_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without subreaper, waitid and a new session, a child that holds the output open ends with its group."""
    source = Path(supervisor.__file__).read_text(encoding="utf-8")
    head, _, tail = source.partition('if __name__ == "__main__":')
    monkeypatch.setattr(supervised, "_script", lambda: ("-c", f'{head}{_WITHOUT}\nif __name__ == "__main__":{tail}'))
    process = Supervised(["/bin/sh", "-c", "sleep 60 & echo done"], environment={}, stdout=subprocess.PIPE)

    assert process.wait(LONG)
    assert process.stdout is not None
    with process.stdout as printed:
        assert printed.read() == b"done\n"
    process.end()
    assert process.code == 0


@linux
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_everything_ends_with_the_suite(ending: signal.Signals) -> None:
    """However the process ends that started the program, nothing is left."""
    script = """
import signal
from tests.contain.test_supervised import Family
family = Family()
print(*[member.pid for member in family.members], flush=True)
signal.pause()
"""
    with interrupts(heard=True):
        suite = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    with suite:
        assert suite.stdout is not None
        members = [psutil.Process(int(pid)) for pid in suite.stdout.readline().split()]

        suite.send_signal(ending)

        assert len(members) == 4
        assert still_running(members) == []


@pytest.mark.parametrize(("grace", "waits"), [(0.0, [5.0]), (2.0, [2.0, 5.0])])
def test_a_supervisor_that_ends_nothing_is_killed(
    grace: float, waits: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has five seconds after the program's grace; the program ends without it."""
    process = Supervised([sys.executable, "-c", WAIT], environment=os.environ)
    asked: list[float] = []

    def never(seconds: float) -> bool:
        asked.append(seconds)
        return False

    monkeypatch.setattr(process, "_ask", lambda _: None)
    monkeypatch.setattr(process, "wait", never)

    process.end(grace=grace)

    assert asked == waits
    assert (process.running, process.code) == (False, -signal.SIGKILL)
    assert not psutil.pid_exists(process.root)


@pytest.mark.parametrize(
    ("code", "expected", "words"),
    [
        ("raise SystemExit(3)", 3, "the process exited with status 3"),
        ("import os; os.abort()", -signal.SIGABRT, "the process was ended by SIGABRT"),
    ],
)
def test_the_exit_code_comes_back(code: str, expected: int, words: str) -> None:
    """The exit code is the program's own, counted as the standard library counts it."""
    process = Supervised([sys.executable, "-c", code], environment=os.environ)

    process.wait(LONG)
    process.end()

    assert (process.code, in_words(process.code)) == (expected, words)


def test_signals_have_names() -> None:
    """A number that is no signal of this system is shown as a number."""
    assert (signal_name(-11), signal_name(-200), signal_name(0)) == ("SIGSEGV", "signal 200", "")


@pytest.mark.parametrize(
    ("command", "environment", "said"),
    [
        (["/nowhere/serve"], {}, "cannot start '/nowhere/serve': no such program"),
        (["/etc/passwd"], {}, "cannot start '/etc/passwd': not executable"),
        (["nonesuch"], {"PATH": "/bin"}, "cannot start 'nonesuch': no such program"),
        ([sys.executable], {"a": "\0"}, f"cannot start {sys.executable!r}: embedded null byte"),
    ],
)
def test_what_cannot_be_started_is_one_sentence(command: list[str], environment: dict[str, str], said: str) -> None:
    """A program that cannot be started is named, with the reason."""
    with pytest.raises(CannotStart) as raised:
        Supervised(command, environment=environment)

    assert str(raised.value) == said


def test_a_supervisor_that_started_nothing_is_reaped(monkeypatch: pytest.MonkeyPatch) -> None:
    """No process is left of a program that could not be started, a zombie neither."""
    begun: list[subprocess.Popen[bytes]] = []
    start = Supervised._supervisor

    def watched(*arguments: Any) -> subprocess.Popen[bytes]:
        begun.append(start(*arguments))
        return begun[0]

    monkeypatch.setattr(Supervised, "_supervisor", watched)

    with pytest.raises(CannotStart, match="embedded null byte"):
        Supervised([sys.executable], environment={"a": "\0"}, stdout=subprocess.PIPE)

    (popen,) = begun
    assert popen.returncode == 0
    assert popen.stdout is not None
    assert popen.stdout.closed


@linux
def test_a_program_has_default_signals_and_only_its_descriptors() -> None:
    """Neither the supervisor's ignored signals nor any descriptor of the suite reaches the program."""
    code = "grep SigIgn /proc/self/status; ls /proc/self/fd"
    process = Supervised(["/bin/sh", "-c", code], environment=os.environ, stdout=subprocess.PIPE)

    assert process.stdout is not None
    with process.stdout as printed:
        _, ignored, *descriptors = printed.read().split()
    assert int(ignored, 16) & 0x7FFFFFFF == 0  # those above belong to the C library
    assert descriptors == [b"0", b"1", b"2", b"3"]  # the last one is the listing's
    process.end()


@linux
def test_signals_that_are_blocked_where_the_suite_started_reach_the_program_and_its_supervisor() -> None:
    """A mask is inherited; without SIGCHLD a supervisor would never hear that its program has ended."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, signal.SIGTERM})
    try:
        done = run_command(["grep", "SigBlk", "/proc/self/status"], environment=os.environ, seconds=LONG)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    assert (done.code, int(done.stdout.split()[1], 16)) == (0, 0)


@pytest.mark.parametrize("closed", [(0,), (1, 2), (0, 1, 2)])
def test_every_closed_standard_stream_is_opened_and_nothing_else(closed: tuple[int, ...]) -> None:
    """The null device takes the numbers of the standard streams that are closed; no other number is taken."""
    script = f"""
import os
from conformance.contain.supervised import open_standard_streams
def state(number):
    try:
        return os.fstat(number).st_rdev == os.stat(os.devnull).st_rdev
    except OSError:
        return None
for number in (*{closed}, 3, 4):
    try:
        os.close(number)
    except OSError:
        pass
open_standard_streams()
expected = [number in {closed} for number in range(3)] + [None, None]
os._exit([state(number) for number in range(5)] != expected)
"""
    pipe = subprocess.PIPE

    done = subprocess.run([sys.executable, "-c", script], input=b"", stdout=pipe, stderr=pipe, check=False)

    assert done.returncode == 0


def run_without_standard_streams(function: Callable[[], None]) -> None:
    """Call ``function`` as a suite does that was started with closed standard streams."""
    for number in (0, 1, 2):
        os.close(number)
    function()


def test_closed_standard_streams_are_no_harm(tmp_path: os.PathLike[str]) -> None:
    """No pipe of the suite takes the number of a standard stream."""
    out = os.path.join(tmp_path, "out")  # noqa: PTH118  # handed to another process as text
    script = f"""
from conformance.contain.command import run_command
from conformance.contain.worker import Worker
from tests.contain.test_supervised import run_without_standard_streams
def work():
    made = run_command(["/bin/sh", "-c", "echo one; echo two >&2"], environment={{}}, seconds=240)
    worker = Worker("tests.contain.echoing")
    worker.channel.send({{"n": 1}}, seconds=240)
    answer = worker.channel.receive(seconds=240).header
    worker.close()
    open({out!r}, "w").write(repr((made.code, made.stdout, made.stderr, answer)))
run_without_standard_streams(work)
"""
    subprocess.run([sys.executable, "-c", script], check=True)

    with open(out) as file:  # noqa: PTH123  # as above
        assert file.read() == "(0, 'one', 'two', {'n': 1})"
