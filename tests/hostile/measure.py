"""Running the suite under attack as a user would, and looking at what it cost.

The command runs in a directory and a session of its own. While it runs, its memory is watched; when it has ended,
the processes that it left behind are looked for, by a variable that all of them inherit, by their directory, and by
the ids that the attack noted; then everything that it wrote is read.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import secrets
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import psutil

from tests.hostile import setups
from tests.hostile.attack import Attack, Part
from tests.hostile.setups import COOKIE, LATER, SIDE, Command
from tests.hostile.written import Written, read_written

__all__ = ["GRACE_SECONDS", "PEAK_BYTES", "Measured", "Running", "heed_interrupts", "measure"]

GRACE_SECONDS: Final = 5.0
"""The time that the suite may take beyond an attack's deadline."""
PEAK_BYTES: Final = 512 << 20
"""The memory that the suite may hold beyond a case's own data."""
PATIENCE_SECONDS: Final = 30.0
"""Beyond deadline and grace, before the command is killed: how much too late it is becomes visible."""
GUARD_BYTES: Final = 4 << 30
"""The memory that the suite's own process may hold before it is killed, to protect the machine."""
GONE_SECONDS: Final = 1.0
"""When nothing of a command may be left after its end."""
GONE_AFTER_KILL_SECONDS: Final = 3.0
"""The same where the suite was killed, and something else has to notice."""
TICK: Final = 0.02
EMPTY_TICKS: Final = 10
"""How often in a row nothing is found before there is nothing: a process may flee from one id to another."""


@dataclasses.dataclass(frozen=True, slots=True)
class Measured:
    """The result of one attack, in figures and in sentences about the limits that it missed.

    ``wrong`` lists events that should not have happened, or should have and did not; ``invalid`` lists those that were
    found in the suite's output. ``over`` are times and memory beyond their bars, which depend on the machine.
    ``peak`` is the most memory of the suite's own process, ``family_peak`` the same with its helpers, both in bytes.
    """

    attack: Attack
    status: int
    outcome: str
    seconds: float
    beyond: float
    peak: int
    family_peak: int
    orphans: tuple[str, ...]
    invalid: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    over: tuple[str, ...] = ()

    @property
    def faults(self) -> tuple[str, ...]:
        """Everything that is not as it should be."""
        return (*self.wrong, *self.invalid, *self.over)


class Running:
    """A command that runs, for what has to happen meanwhile."""

    def __init__(self, popen: subprocess.Popen[bytes], place: Path) -> None:
        self.pid = popen.pid
        self.place = place
        self.killed = False
        self._popen = popen

    @property
    def ended(self) -> bool:
        """Whether the command has ended."""
        return self._popen.poll() is not None

    def wait_for(self, happened: Callable[[], bool], seconds: float) -> bool:
        """Wait until something has happened, the command ends, or ``seconds`` are over; whether it happened."""
        until = time.monotonic() + seconds
        while not happened() and not self.ended and time.monotonic() < until:
            time.sleep(TICK)
        return happened()

    def wait_for_event(self, name: str, seconds: float = 20.0) -> bool:
        """Wait for an event that the attack notes."""
        return self.wait_for((self.place / "events" / name).exists, seconds)

    def interrupt(self) -> None:
        """Ctrl-C: the terminal signals the whole group."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGINT)

    def signal(self, number: signal.Signals) -> None:
        """Signal the command alone."""
        self.killed = self.killed or number is signal.SIGKILL
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)


def heed_interrupts() -> None:
    """Let commands be interrupted: a shell starts what runs in the background deaf to Ctrl-C, and all below it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def measure(attacks: Sequence[Attack], *, keep: Path | None = None) -> list[Measured]:
    """Run one command that meets all of ``attacks``, and say of each what became of it."""
    with tempfile.TemporaryDirectory(prefix="hostile-", ignore_cleanup_errors=True) as folder:
        place = (keep / attacks[0].id if keep is not None else Path(folder)).resolve()
        place.mkdir(parents=True, exist_ok=True)
        cookie = secrets.token_hex(16)
        command = setups.arrange(attacks, place, cookie)
        try:
            return _measured(attacks, command, place, cookie)
        finally:
            for pid in _left(place, cookie):
                _kill(pid)


def _measured(attacks: Sequence[Attack], command: Command, place: Path, cookie: str) -> list[Measured]:
    deadline = max(attack.deadline for attack in attacks) + sum(_alone(attack) for attack in attacks[1:])
    began = time.monotonic()
    popen = _start(command, place, cookie)
    running = Running(popen, place)
    watched = _Watched(popen.pid, began + deadline + GRACE_SECONDS + PATIENCE_SECONDS)
    if command.during is not None:
        threading.Thread(target=command.during, args=(running,), daemon=True).start()
    in_time = watched.until_end(popen)
    seconds = time.monotonic() - began
    if not in_time:
        _kill(popen.pid)
    status = popen.wait()
    patience = GONE_AFTER_KILL_SECONDS if running.killed else GONE_SECONDS
    orphans = tuple(_names(_await_none(place, cookie, patience)))
    written = read_written(command, place, status)
    forbidden = tuple(file.name for file in (place / "events").glob("forbidden.*"))
    beyond = max(0.0, seconds - deadline)
    statuses = _statuses(attacks)
    if in_time and status not in statuses:
        forbidden = (*forbidden, f"expected exit status {statuses}, got {status}: {written.last_words}")
    shared = Measured(
        attacks[0], status, "", seconds, beyond, watched.peak, watched.family, orphans, written.faults, forbidden
    )
    return [_judged(attack, shared, written, in_time=in_time) for attack in attacks]


def _statuses(attacks: Sequence[Attack]) -> tuple[int, ...]:
    """The exit statuses that are right for a command that meets ``attacks`` together: one failure fails it."""
    each = [attack.expected.statuses for attack in attacks]
    return next((one for one in each if 0 not in one), None) or max(each, key=len)


def _alone(attack: Attack) -> float:
    """The seconds that an attack adds to the deadline of a command that meets several."""
    return attack.deadline / 2


def _judged(attack: Attack, shared: Measured, written: Written, *, in_time: bool) -> Measured:
    expected = attack.expected
    vectors = attack.part is Part.ADAPTER  # whose cases are not named after attacks
    outcome, said = written.outcome_of("" if vectors else attack.id)
    wrong = [*shared.wrong]
    if not in_time:
        wrong.append("the command did not end, and was killed")
    if expected.outcomes and not set(expected.outcomes) & set(outcome.split(", ")):
        wanted = " or ".join(expected.outcomes)
        wrong.append(f"expected {wanted} for {attack.id}, got {outcome or 'no verdict'}: {said[:300]}")
    text = said if expected.outcomes else written.printed
    if expected.says and not re.search(expected.says, text, re.DOTALL | re.IGNORECASE):
        wrong.append(f"expected words like /{expected.says}/, got {text[-400:]!r}")
    if expected.outcomes and expected.later:
        wrong += _of_later(written, vectors=vectors)
    broken = [*written.broken(attack.id), *written.broken(LATER)]
    if shared.orphans:
        wrong.append(f"{len(shared.orphans)} left behind: {', '.join(shared.orphans[:3])}")
    over = []
    if shared.beyond > GRACE_SECONDS:
        over.append(f"over {shared.beyond:.1f} s after its deadline")
    if shared.peak - attack.own > PEAK_BYTES:
        over.append(f"the suite's own process held {shared.peak >> 20} MiB")
    shown = outcome if expected.outcomes and outcome else f"status {shared.status}"
    return dataclasses.replace(
        shared, attack=attack, outcome=shown, wrong=tuple(wrong), invalid=(*shared.invalid, *broken), over=tuple(over)
    )


def _of_later(written: Written, *, vectors: bool) -> Iterator[str]:
    """The faults in cases that nobody attacked."""
    if written.unjudged:
        yield f"{written.unjudged} cases have no verdict"
    after, why = written.outcome_of("" if vectors else LATER)
    if after != "pass" and not vectors:
        yield f"expected the case after it to pass, got {after or 'no verdict'}: {why[:300]}"


def _start(command: Command, place: Path, cookie: str) -> subprocess.Popen[bytes]:
    environment = setups.suite_environment(place, cookie) | command.environment
    with (place / "stderr.txt").open("wb") as err, Path(command.stdout or place / "stdout.txt").open("wb") as out:
        popen = subprocess.Popen(
            [*command.wrap, *command.program, *command.words],
            cwd=place,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if command.closes_stdout else out,
            stderr=err,
            start_new_session=True,
        )
    if popen.stdout is not None:
        popen.stdout.close()
    return popen


class _Watched:
    """The memory of a command's main process, and of the suite's processes together, as it runs."""

    def __init__(self, pid: int, until: float) -> None:
        self._pid = pid
        self._until = until
        self.peak = 0
        self.family = 0

    def until_end(self, popen: subprocess.Popen[bytes]) -> bool:
        """Watch until the command has ended; false where it does not end in time."""
        ticks = 0
        while popen.poll() is None:
            if time.monotonic() > self._until or self.peak > GUARD_BYTES:
                return False
            self.peak = max(self.peak, _high_water(self._pid))
            if ticks % 10 == 0:
                self.family = max(self.family, _family(self._pid))
            ticks += 1
            time.sleep(TICK)
        return True


def _high_water(pid: int) -> int:
    """The most memory that a process has used, in bytes; 0 if it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    found = re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) << 10 if found else 0


def _family(pid: int) -> int:
    """The memory of a process and of the suite's processes below it, without the attackers."""
    total = 0
    try:
        top = psutil.Process(pid)
        for process in (top, *top.children(recursive=True)):
            if f"{SIDE}=target".encode() not in _environment(process.pid):
                total += process.memory_info().rss
    except psutil.Error:
        pass
    return total


def _environment(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


def _await_none(place: Path, cookie: str, seconds: float) -> list[int]:
    """The processes that are left when ``seconds`` are over; none, once a while has passed without any."""
    until = time.monotonic() + seconds
    empty = 0
    while (left := list(_left(place, cookie))) or empty < EMPTY_TICKS:
        if left and time.monotonic() > until:
            break
        empty = 0 if left else empty + 1
        time.sleep(TICK)
    return left


def _left(place: Path, cookie: str) -> Iterator[int]:
    """Processes that live and belong to the attack: by the cookie, by their directory, by an id that was noted."""
    noted = {file.name for file in (place / "pids").glob("*")}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal() or int(entry.name) == os.getpid() or _is_dead(entry):
            continue
        ours = f"{COOKIE}={cookie}".encode() in _environment(int(entry.name))
        if ours or entry.name in noted or _is_below(entry, place):
            yield int(entry.name)


def _is_dead(entry: Path) -> bool:
    """Whether a process is gone, or waits for its parent only."""
    try:
        return (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[0] in "ZX"
    except (OSError, IndexError):
        return True


def _is_below(entry: Path, place: Path) -> bool:
    try:
        return (entry / "cwd").readlink().is_relative_to(place)
    except OSError:
        return False


def _names(pids: Sequence[int]) -> Iterator[str]:
    for pid in pids:
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        yield f"{pid} ({words.strip()[-80:]})"


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
