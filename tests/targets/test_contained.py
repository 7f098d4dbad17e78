"""A Python serializer costs its case and nothing else, whatever it does to the process that calls it."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.cli._group import cli
from conformance.records import Call, CallEnd, Exchange, ReadRows
from conformance.targets import Target, TargetError, TargetSpec, TargetUnavailable, load_target, open_target
from conformance.targets.contained import ContainedTarget
from tests.patience import LONG, patiently
from tests.targets.conftest import ROOT, case_of, table_of
from tests.targets.kept import kept_first_processes

CODE = """
import ctypes, json, os, sys

class Unspeakable(BaseException):
    def __str__(self):
        raise SystemExit(0)

calls = 0

def serialize_schema(schema):
    global calls
    calls += 1
    {schema}
    return schema.serialize().to_pybytes()

def serialize_batch(batch):
    if batch.column(0)[0].as_py() == {value}:
        {act}
    return batch.serialize().to_pybytes()
"""
ROWS = 4
HURT = 2
"""The value in the row that begins the second batch of the case that is hurt."""

Make = Callable[..., TargetSpec]


@pytest.fixture(scope="module", autouse=True)
def _kept() -> Iterator[None]:
    """The process that forks for each serializer is started once, and again after what breaks it."""
    with kept_first_processes():
        yield


@pytest.fixture
def serializer(tmp_path: Path) -> Make:
    """A target file for pyarrow's own functions, which do ``act`` at the batch that begins with ``value``."""

    def write(act: str, *, value: int = HURT, schema: str = "", before: str = "", more: str = "") -> TargetSpec:
        (tmp_path / "hurting.py").write_text(before + CODE.format(act=act, value=value, schema=schema))
        path = tmp_path / "target.toml"
        path.write_text(f'name = "x"\nkind = "serializer"\n[serializer]\nentry = "hurting"\npath = ["."]\n{more}')
        return load_target(path)

    return write


def drive(target: Target, rows: int = ROWS) -> Exchange:
    """Put a case of so many rows to the target."""
    return target.drive(case_of(rows=rows), table_of(case_of(rows=rows)))


def ends(exchange: Exchange) -> list[tuple[str, CallEnd]]:
    """Which calls were made, and how they ended."""
    return [(call.label, call.end) for call in exchange.calls]


WHOLE = [("schema", CallEnd.COMPLETE), ("batch/0", CallEnd.COMPLETE), ("batch/1", CallEnd.COMPLETE)]
HURT_LAST = [*WHOLE[:2], ("batch/1", CallEnd.CRASH)]


@pytest.mark.parametrize(("before", "status"), [("", "OK"), ("import pandas\n", "INTERNAL")], ids=["without", "with"])
def test_only_the_serializer_itself_imports_pandas(before: str, status: str, serializer: Make) -> None:
    """Making the table of a case imports no pandas, which would take most of the time of the start."""
    pytest.importorskip("pandas")

    with open_target(serializer("assert 'pandas' not in sys.modules", before=before)) as target:
        exchange = drive(target)

    assert [call.status for call in exchange.calls] == ["OK", "OK", status]


@pytest.mark.parametrize(
    ("act", "said"),
    [
        ("os._exit(0)", "its process ended in SerializeBatch: exit status 0"),
        ("os._exit(7)", "its process ended in SerializeBatch: exit status 7"),
        ("ctypes.string_at(0)", "its process ended in SerializeBatch: SIGSEGV"),
        ("os.write(2, b'::error::words\\n'); os.abort()", "SIGABRT; it last said: \\x3a:error::words"),
        ("os.closerange(0, 4096)", "its process ended in SerializeBatch: exit status 1"),
        ("json.dumps = lambda *_, **__: 'HOSTILE'", "the connection to its process broke: expected a JSON object"),
        ("json.dumps = lambda *_, **__: '{}'", "expected call or done from its process, got []"),
        (
            """json.dumps = lambda *_, **__: '{"call":{"step":0,"label":"","method":"","request":"","order":">"}}'""",
            "expected a call, got what is none: order: expected 1 requests and 1 responses but got '>'",
        ),
    ],
)
def test_what_ends_the_process_costs_its_case(serializer: Make, act: str, said: str) -> None:
    """The calls before it are kept, the words say how it ended, and the next case is put to a fresh process."""
    with open_target(serializer(act)) as target:
        before, hurt, after = drive(target, rows=2), drive(target), drive(target, rows=2)

    assert ends(hurt) == HURT_LAST
    assert said in hurt.calls[-1].details
    assert (ends(before), ends(after)) == (WHOLE, WHOLE)
    assert [call.responses for call in before.calls] == [call.responses for call in after.calls]


@pytest.mark.parametrize(
    ("act", "details"),
    [
        ("sys.exit(0)", "SystemExit: 0"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt:"),
        ("raise Unspeakable", "Unspeakable, whose text raised SystemExit"),
        ("bytearray(1 << 40)", "MemoryError:"),
    ],
)
def test_what_it_raises_is_its_answer(serializer: Make, act: str, details: str) -> None:
    """Exceptions that end a process elsewhere, too."""
    with open_target(serializer(act)) as target:
        call = drive(target).calls[-1]

    assert (call.label, call.status, call.details) == ("batch/1", "INTERNAL", details)


def test_what_it_prints_stays_in_its_process(serializer: Make, capfd: pytest.CaptureFixture[str]) -> None:
    """Neither the terminal nor the messages see it."""
    with open_target(serializer("print('HOSTILE', flush=True); os.write(1, b'HOSTILE')")) as target:
        exchange = drive(target)

    assert ends(exchange) == WHOLE
    assert "HOSTILE" not in "".join(capfd.readouterr())


def test_a_function_that_does_not_return_costs_its_deadline(serializer: Make) -> None:
    """Also in native code that holds the interpreter's lock."""

    def within(seconds: float) -> tuple[Exchange, Exchange]:
        spec = serializer("ctypes.PyDLL(None).sleep(1000)", more=f"[deadlines]\ncall = {seconds}")
        with open_target(spec) as target:
            return drive(target), drive(target, rows=2)

    hurt, after = patiently(within, lambda made: ends(made[0])[:2] == WHOLE[:2] and ends(made[1]) == WHOLE)

    assert ends(hurt) == [*WHOLE[:2], ("batch/1", CallEnd.DEADLINE)]
    assert re.fullmatch(r"SerializeBatch did not return within \S+ s", hurt.calls[-1].details)
    assert ends(after) == WHOLE


def test_a_case_that_an_earlier_one_hurt_is_tried_again(serializer: Make) -> None:
    """The third call for a schema in one process ends it: that is not the fault of the case which makes it."""
    with open_target(serializer("pass", schema="if calls == 3: os._exit(1)")) as target:
        exchanges = [drive(target) for _ in range(5)]

    assert [ends(exchange) for exchange in exchanges] == [WHOLE] * 5


def test_cases_share_a_process(serializer: Make) -> None:
    """As long as none of them ends it."""
    with open_target(serializer("pass", schema="return b'%d' % os.getpid()")) as target:
        answers = {drive(target).calls[0].responses for _ in range(3)}

    assert len(answers) == 1


def test_a_process_that_ended_between_two_cases_is_replaced(serializer: Make) -> None:
    """Nobody is blamed for it."""
    with open_target(serializer("pass")) as target:
        drive(target)
        assert isinstance(target, ContainedTarget)
        assert target._worker is not None
        target._worker.kill()
        assert target._worker.wait(LONG)  # the kill is asynchronous: another test could get the process before its end

        exchange = drive(target)

    assert ends(exchange) == WHOLE


@pytest.mark.parametrize(
    ("before", "kind", "said"),
    [
        ("import os; os._exit(0)", TargetUnavailable, "x cannot be imported: its process ended in its import: exit"),
        ("import os; os.abort()", TargetUnavailable, "x cannot be imported: its process ended in its import: SIGABRT"),
        ("import time; time.sleep(1000)", TargetUnavailable, "x cannot be imported: its import did not return within"),
        ("raise SystemExit(3)", TargetError, "target.serializer.entry: cannot import 'hurting': SystemExit: 3"),
        ("import absent", TargetError, "target.serializer.entry: cannot import 'hurting': No module named 'absent'"),
    ],
)
def test_a_serializer_that_cannot_be_imported_is_one_sentence(
    serializer: Make, before: str, kind: type[TargetError], said: str
) -> None:
    """Whatever its import does to the process."""
    seconds = 1.0 if "sleep" in before else LONG
    spec = serializer("pass", before=before, more=f"[deadlines]\nstart = {seconds}")

    with pytest.raises(kind) as raised, open_target(spec):
        pytest.fail("opened")
    assert said in str(raised.value)


def test_a_case_without_a_plain_read_is_not_put_to_it(serializer: Make) -> None:
    """As with every serializer."""
    case = case_of(ReadRows(take=1))
    with open_target(serializer("pass")) as target:
        exchange = target.drive(case, table_of(case))

    assert (exchange.calls, exchange.untestable[:12]) == ((), "a serializer")


def test_calls_are_those_of_this_process() -> None:
    """Slices arrive as slices: the messages are the same bytes."""
    spec = load_target(ROOT / "targets" / "pyarrow.toml")

    def bare(call: Call) -> tuple[object, ...]:
        return call.step, call.label, call.method, call.responses, call.status, call.end

    with open_target(spec) as there, open_target(spec, alone=True) as here:
        exchanges = drive(there, rows=9), drive(here, rows=9)

    contained, alone = ([bare(call) for call in exchange.calls] for exchange in exchanges)
    assert contained == alone
    assert len(alone) == 3


def test_a_crash_leaves_log_and_report_whole(serializer: Make, tmp_path: Path) -> None:
    """The run goes on to its end, and says which case the serializer ended."""
    serializer("print('HOSTILE', flush=True); os.kill(os.getpid(), 11)", value=0)
    words = ["--select", "types.int64", "--select", "types.bool", "--no-readers"]
    files = ["--json", str(tmp_path / "out.json"), "--log", str(tmp_path / "log.jsonl")]

    result = CliRunner().invoke(cli, ["run", "--target", str(tmp_path / "target.toml"), *words, *files])

    assert result.exit_code == 1, result.output
    assert "HOSTILE" not in result.output.replace("it last said: HOSTILE", "")
    assert signal.Signals.SIGSEGV.name in (tmp_path / "out.json").read_text()
    assert all(json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines())
