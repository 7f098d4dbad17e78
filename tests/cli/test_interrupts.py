"""Ctrl-C ends a command in order with what it has, a second one at once, and nothing of it outlives the command."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from conformance.cli import campaign, drift, golden, prove
from conformance.cli._group import SuiteBrokeError, _ending
from conformance.cli._interrupts import Interrupted, orderly, until_interrupted
from conformance.cli._many import Run, judge_all
from conformance.cli._progress import Progress, watch
from conformance.engine.events import CaseJudged, Event
from conformance.engine.log import LogWriter, read_log
from tests.cli.typed import conformance_, run
from tests.engine.samples import judged, passing, started
from tests.interrupts import interrupts
from tests.patience import LONG

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
START, CASE = started("a"), judged("one", passing("one", "a"))


@pytest.fixture(autouse=True)
def _heard() -> Iterator[None]:
    """Ctrl-C is heard here, also where the tests themselves run in the background and ignore it."""
    with interrupts(heard=True):
        yield


def interrupting(*events: Event, number: int = signal.SIGINT) -> Iterator[Event]:
    """The events of a run that is interrupted behind them."""
    yield from events
    signal.raise_signal(number)
    yield CASE


@pytest.mark.parametrize("number", [*SIGNALS, signal.SIGXCPU])
def test_what_was_judged_by_then_is_kept(number: int) -> None:
    """Ctrl-C and a request to terminate are the same here."""
    with orderly():
        found = until_interrupted(interrupting(START, CASE, number=number))

    assert found == ([START, CASE], True)


def test_a_run_that_ends_is_whole() -> None:
    """Without an interrupt every event comes through."""
    assert until_interrupted([START, CASE]) == ([START, CASE], False)


def test_before_a_verdict_there_is_nothing_to_report() -> None:
    """The status is 130, which no finding has."""
    with orderly(), pytest.raises(Interrupted) as raised:
        until_interrupted(interrupting(START))

    assert (raised.value.exit_code, str(raised.value)) == (130, "interrupted: nothing was judged")


def test_readers_that_are_judged_in_threads_end_in_order(tmp_path: Path) -> None:
    """Only the main thread hears Ctrl-C: a run keeps what was judged by then, and the next one does not begin."""
    stop = threading.Event()

    def interrupting() -> Iterator[Event]:
        yield from (START, CASE)
        os.kill(os.getpid(), signal.SIGINT)  # as a terminal does: to the process, and not to this thread
        assert stop.wait(LONG)
        yield CASE

    with LogWriter(tmp_path / "one") as one, LogWriter(tmp_path / "two") as two:
        runs = [Run("one", one, interrupting(), 2), Run("two", two, iter([START, CASE]), 1)]
        interrupted = judge_all(runs, 1, None, Progress(""), stop)

    assert interrupted
    assert [None if run.result is None else run.result.complete for run in runs] == [False, None]
    assert len(list(read_log(tmp_path / "one"))) == 2


def test_handlers_are_those_of_before_again() -> None:
    """Also after an interrupt, and also where the caller ignores SIGTERM, which ends a command all the same."""
    ignored = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        before = [signal.getsignal(number) for number in SIGNALS]
        for number in SIGNALS:
            with pytest.raises(KeyboardInterrupt), orderly():
                signal.raise_signal(number)

        assert [signal.getsignal(number) for number in SIGNALS] == before
    finally:
        signal.signal(signal.SIGTERM, ignored)


def test_another_signal_of_the_same_request_is_no_second_one() -> None:
    """A part of a run hears Ctrl-C from the terminal and SIGTERM from its parent."""
    with orderly():
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGHUP)

        assert [signal.getsignal(number) for number in SIGNALS] == [signal.SIG_DFL] * 3


def test_a_second_one_of_its_kind_kills() -> None:
    """A second Ctrl-C ends the command at once."""
    script = """
import signal
from conformance.cli._interrupts import orderly
with orderly():
    try:
        signal.raise_signal(signal.SIGINT)
    finally:
        signal.raise_signal(signal.SIGINT)
        print("still here")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


@pytest.mark.parametrize(("heard", "printed"), [(True, "interrupted\n"), (False, "went on\nterminated\n")])
def test_a_command_in_the_background_hears_sigterm_alone(printed: str, *, heard: bool) -> None:
    """A process that starts with SIGINT ignored leaves it ignored, as other tools do."""
    script = """
import signal
from conformance.cli._interrupts import orderly
said = "interrupted"
try:
    with orderly():
        signal.raise_signal(signal.SIGINT)
        print("went on")
        said = "terminated"
        signal.raise_signal(signal.SIGTERM)
except KeyboardInterrupt:
    print(said)
"""
    with interrupts(heard=heard):
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (0, printed, "")


def test_only_the_main_thread_hears_signals() -> None:
    """Elsewhere a command runs without."""
    ran: list[object] = []

    def work() -> None:
        with orderly():
            ran.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

    assert ran == [signal.getsignal(signal.SIGINT)]


class TestCommands:
    """The output and the files of each command."""

    def test_an_interrupted_run_is_reported_as_incomplete(self, user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The log breaks off where the run did, and reports are written."""

        def interrupted(events: Iterable[Event], shown: Progress, *, total: int) -> Iterator[Event]:
            for event in watch(events, shown, total=total):
                yield event
                if isinstance(event, CaseJudged):
                    signal.raise_signal(signal.SIGINT)

        monkeypatch.setattr("conformance.cli.run.watch", interrupted)

        result = run("--target", "honest.toml", "--cases", "3", "--json", "out.json")

        assert result.exit_code == 1
        assert "INCOMPLETE" in result.output
        assert '"complete": false' in (user / "out.json").read_text()
        assert len(list(read_log(user / ".conformance" / "honest.jsonl"))) == 2

    @pytest.mark.usefixtures("user")
    def test_a_run_that_has_judged_nothing_ends_in_130(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Also while its target is still starting."""
        monkeypatch.setattr("conformance.cli.run.open_session", lambda *_, **__: signal.raise_signal(signal.SIGINT))

        result = run("--target", "honest.toml")

        assert (result.exit_code, result.stderr) == (130, "interrupted: nothing was judged\n")

    def test_a_proof_says_what_was_tried(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A part of a proof proves nothing, and that is said."""

        def tried(*_: object, reported: object, **__: object) -> None:
            assert callable(reported)
            reported("one", 1, 9)
            reported("two", 2, 9)
            signal.raise_signal(signal.SIGINT)

        monkeypatch.setattr(prove, "prove", tried)

        result = conformance_("prove")

        assert result.exit_code == 130
        assert result.stderr == "interrupted: 2 of 9 trials made, last one and two; part of a proof proves nothing\n"

    def test_golden_says_which_set_is_whole(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """And how the rest is written."""
        made = {"a": lambda *_, **__: [], "b": lambda *_, **__: signal.raise_signal(signal.SIGINT)}
        monkeypatch.setattr(golden, "SETS", made)

        result = conformance_("golden", "--dir", str(tmp_path))

        assert result.exit_code == 130
        assert result.stderr.startswith("interrupted: a is written, b may be incomplete; ")

    def test_drift_says_what_is_kept(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Environments take a minute to make, and stay."""
        monkeypatch.setattr(drift, "find_version", lambda *_, **__: signal.raise_signal(signal.SIGINT))

        result = conformance_("drift", "24.0.0", "installed")

        assert (result.exit_code, result.stderr) == (
            130,
            "interrupted: nothing was compared; environments that were made are kept\n",
        )

    def test_a_campaign_says_what_is_committed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """And that the same command continues."""
        pytest.importorskip("pyspark")
        monkeypatch.setattr(campaign.sparksession, "check_java", lambda: None)
        monkeypatch.setattr("conformance.campaign.run.target_info", lambda *_, **__: {"version": "1"})
        monkeypatch.setattr(campaign.sparksession, "spark_session", lambda *_, **__: signal.raise_signal(signal.SIGINT))

        result = conformance_("campaign", "--cases", "10", "--out", str(tmp_path))

        assert result.exit_code == 130
        assert result.stderr.startswith(f"interrupted: 0 of 10 cases committed in {tmp_path}/runs/")
        assert result.stderr.endswith(", and the same command continues there\n")


_WHILE_IMPORTING = """
import signal, sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            signal.raise_signal(signal.SIGINT)

signal.signal(signal.SIGINT, signal.{handler})
sys.meta_path.insert(0, Interrupting())
from conformance.cli import main
main(["--help"])
"""


@pytest.mark.parametrize("module", ["click", "conformance.cli._begin"])
def test_an_interrupt_while_python_imports_shows_no_traceback(module: str) -> None:
    """Nothing has begun: one word, and status 130."""
    code = _WHILE_IMPORTING.format(module=module, handler="default_int_handler")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_an_interrupt_that_is_ignored_is_ignored_while_python_imports() -> None:
    """As a shell has it that starts a command in the background."""
    code = _WHILE_IMPORTING.format(module="click", handler="SIG_IGN")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", ["conformance", "conformance.reference", "conformance.protocols.flight.reference"])
def test_every_program_is_interruptible_before_its_imports(name: str) -> None:
    """What it begins with imports nothing else of the suite before that."""
    code = (
        "import runpy, signal, sys\n"
        "from conformance.contain import early\n"
        "early.interruptible.__enter__ = lambda self: sys.exit(print(*sorted(sys.modules)))\n"
        f"runpy.run_module({name!r}, run_name='__main__')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    imported = {one for one in done.stdout.split() if one.startswith(("conformance.", "click", "grpc", "pyarrow"))}
    begun = {"conformance.cli", "conformance.contain", "conformance.contain.early", "conformance.reference"}
    flight = {f"conformance.protocols{end}" for end in ("", ".flight", ".flight.reference")}
    assert imported <= begun | flight
    assert "conformance.contain.early" in imported


def test_processor_time_that_is_used_up_is_said_once() -> None:
    """The kernel says it each second, until the hard limit, and the command ends in order meanwhile."""
    with orderly():
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGXCPU)
        signal.raise_signal(signal.SIGXCPU)


def test_an_interrupt_that_python_turned_into_an_error_is_one() -> None:
    """While a class is made at an import, Python 3.11 makes a RuntimeError of an interrupt: that is no defect."""
    error = RuntimeError("Error calling __set_name__")
    error.__cause__ = KeyboardInterrupt()

    assert isinstance(_ending(error), Interrupted)
    assert isinstance(_ending(RuntimeError("other")), SuiteBrokeError)
