"""A program that misbehaves costs the case and at most its deadline; the next case meets a fresh one."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from conformance.records import BqType, CallEnd, Case, Column, CreateSession, Exchange, ReadRows, Table
from conformance.targets import TargetSpec, TargetUnavailable, load_target, open_target
from tests.patience import LONG, patiently
from tests.targets.conftest import ROOT, Write, case_of, python_program, table_of

PRELUDE = """
import base64, json, os, sys, time
def reply(request, **answer):
    print(json.dumps({"id": request["id"], **answer}), flush=True)
def b64(data):
    return base64.b64encode(data).decode()
def honest(request):
    if request["op"] == "hello":
        reply(request, status="ok", protocol=1, name="fake", version="9", capabilities=["arrow"], input=INPUT)
    elif set(request["needs"]) - {"arrow"}:
        reply(request, status="unsupported")
    else:
        return False
    return True
INPUT = "rows"
"""

MAIN = """
for line in sys.stdin:
    request = json.loads(line)
    if not honest(request):
        answer(request)
"""

Programs = Callable[..., TargetSpec]


@pytest.fixture
def program(target_file: Write, tmp_path: Path) -> Programs:
    """A target whose program answers serialize requests by the given body of ``answer(request)``."""

    def write(body: str, *, prelude: str = "", main: str = MAIN, call: float = LONG) -> TargetSpec:
        indented = "\n".join("    " + line for line in body.splitlines())
        code = f"{PRELUDE}\n{prelude}\ndef answer(request):\n{indented}\n{main}"
        return target_file(
            f"""
            name = "fake"
            kind = "program"
            [start]
            command = {python_program(tmp_path / "program.py", code)}
            grace = 0.5
            [deadlines]
            start = {LONG}
            call = {call}
            [limits]
            message = 100000
            """
        )

    return write


def drive(spec: TargetSpec, *cases: Case) -> list[Exchange]:
    """Open the target, drive the cases, close it."""
    with open_target(spec) as target:
        return [target.drive(case, table_of(case)) for case in cases]


ECHO = 'reply(request, status="ok", schema=b64(b"schema"), batches=[b64(str(n).encode()) for n in request["batches"]])'


def test_a_table_becomes_messages(program: Programs) -> None:
    """One schema and one message per batch are recorded as the program sent them."""
    exchange = drive(program(ECHO), case_of(rows=5))[0]

    assert [(call.step, call.label, call.method, call.responses) for call in exchange.calls] == [
        (0, "schema", "SerializeSchema", (b"schema",)),
        (1, "batch/0", "SerializeBatch", (b"3",)),
        (1, "batch/1", "SerializeBatch", (b"2",)),
    ]


def test_the_hello_tells_version_and_capabilities(program: Programs) -> None:
    """The target declares what the program reports; a truthful program gets no remark."""
    with open_target(program(ECHO)) as target:
        assert (target.version, target.capabilities, target.remarks) == ("9", frozenset({"arrow"}), ())


@pytest.mark.parametrize(("wanted", "keys"), [("arrow", {"arrow"}), ("rows", {"rows"}), ("both", {"arrow", "rows"})])
def test_tables_are_handed_over_in_the_form_asked_for(program: Programs, wanted: str, keys: set[str]) -> None:
    """Rows, an Arrow stream, or both: as the hello says."""
    body = 'reply(request, status="error", message=" ".join(k for k in ("arrow", "rows") if k in request))'
    exchange = drive(program(body, prelude=f"INPUT = {wanted!r}"), case_of())[0]

    assert set(exchange.calls[0].details.split()) == keys


def test_rows_and_columns_are_those_of_the_case(program: Programs) -> None:
    """The program sees the BigQuery columns and the JSON rows."""
    body = 'reply(request, status="error", message=json.dumps([request["columns"], request["rows"], request["case"]]))'
    exchange = drive(program(body), case_of(rows=2))[0]

    assert exchange.calls[0].details == '[[{"name": "a", "type": "INT64"}], [{"a": 0}, {"a": 1}], "a-case"]'


@pytest.mark.parametrize(
    ("body", "status", "details"),
    [
        ('reply(request, status="unsupported", message="no")', "UNIMPLEMENTED", "no"),
        ('reply(request, status="error", message="boo")', "INTERNAL", "boo"),
        ('reply(request, status="error", message="boo", code="NOT_FOUND")', "NOT_FOUND", "boo"),
    ],
)
def test_a_refusal_is_a_status(program: Programs, body: str, status: str, details: str) -> None:
    """A program's refusal is recorded as the status that a server would send, and the next case is sent."""
    first, second = drive(program(body), case_of(), case_of())

    assert [(call.status, call.end, call.details) for call in first.calls] == [(status, CallEnd.COMPLETE, details)]
    assert second.calls[0].status == status


MISBEHAVIOURS = {
    "crash": (
        'sys.stderr.write("out of cheese"); sys.stderr.flush(); os._exit(4)',
        CallEnd.CRASH,
        "stdout ended; no byte of an answer was seen; the process exited with status 4; its last output: out of cheese",
    ),
    "half": (
        "sys.stdout.write('{\"id\": '); sys.stdout.flush(); os._exit(0)",
        CallEnd.CRASH,
        "stdout ended; 7 bytes of an incomplete line were seen; the process exited with status 0; it printed nothing",
    ),
    "flood": (
        'while True: sys.stdout.write("x" * 10000)',
        CallEnd.OVER_BUDGET,
        "a line of more than 100000 bytes came",
    ),
    "junk": (
        'print("debug: here", flush=True)',
        CallEnd.COMPLETE,
        "the program broke the protocol: expected a JSON object on one line but got b'debug: here' (Expecting value)",
    ),
    "wrong id": (
        'reply({"id": 77}, status="unsupported")',
        CallEnd.COMPLETE,
        "the program broke the protocol: expected the answer to request 3 but got the id 77",
    ),
    "no base64": (
        'reply(request, status="ok", schema="?", batches=[])',
        CallEnd.COMPLETE,
        "the program broke the protocol: expected base64 in schema but got '?'",
    ),
}


@pytest.mark.parametrize(("body", "end", "details"), MISBEHAVIOURS.values(), ids=MISBEHAVIOURS)
def test_a_misbehaviour_costs_one_case(program: Programs, body: str, end: CallEnd, details: str) -> None:
    """A program that breaks in one case is started again for the next, and the fault is recorded."""
    body = f'if request["case"] == "odd":\n    {body}\n    return\n{ECHO}'
    odd, even = drive(program(body), case_of(case_id="odd"), case_of(case_id="even"))

    assert [(call.end, call.details) for call in odd.calls] == [(end, details)]
    assert odd.calls[0].status == ("INTERNAL" if end is CallEnd.COMPLETE else "")
    assert [call.status for call in even.calls] == ["OK", "OK", "OK"]


def test_a_hang_costs_one_case_and_its_deadline(program: Programs) -> None:
    """The next case meets a fresh program, which has the same time."""
    body = f'if request["case"] == "odd":\n    time.sleep(1000)\n{ECHO}'

    odd, even = patiently(
        lambda seconds: drive(program(body, call=seconds), case_of(case_id="odd"), case_of(case_id="even")),
        lambda made: [call.status for call in made[1].calls] == ["OK", "OK", "OK"],
    )

    assert [call.end for call in odd.calls] == [CallEnd.DEADLINE]
    assert re.fullmatch(r"no answer within \S+ s; no byte of an answer was seen", odd.calls[0].details)
    assert [call.status for call in even.calls] == ["OK", "OK", "OK"]


TWICE = """
def twice(request, **answer):
    line = json.dumps({"id": request["id"], **answer})
    print(line, line, sep="\\n", flush=True)  # one write, so that both come together
"""


def test_two_answers_for_one_question_are_noticed(program: Programs) -> None:
    """A second answer belongs to no case: the program is started again, and a remark names the case before."""
    said: list[str] = []
    with open_target(program(ECHO.replace("reply(", "twice("), prelude=TWICE)) as target:
        for number in range(3):
            case = case_of(case_id=str(number))
            exchange = target.drive(case, table_of(case))
            said += [call.status for call in exchange.calls]
        remarks = target.remarks

    assert set(said) == {"OK"}
    assert [remark.partition(",")[0] for remark in remarks if "nothing had asked for" in remark] == [
        "after 0",
        "after 1",
    ]


CARELESS = """
def honest(request):
    if request["op"] != "hello":
        return False
    reply(request, status="ok", protocol=1, name="fake", capabilities=[], input="rows")
    return True
"""


def test_a_program_that_serves_what_does_not_exist_earns_a_remark(program: Programs) -> None:
    """The probe with a made-up capability shows programs that do not look at what is needed."""
    with open_target(program(ECHO, prelude=CARELESS)) as target:
        remarks = target.remarks

    assert len(remarks) == 1
    assert "it should answer unsupported but answered ok" in remarks[0]


def test_a_program_that_breaks_on_the_probe_earns_a_remark(program: Programs) -> None:
    """A probe that ends in an error is a remark, and the program is started again."""
    body = f'if request["case"] == "probe":\n    os._exit(1)\n{ECHO}'
    with open_target(program(body, prelude=CARELESS)) as target:
        exchange = target.drive(case_of(), table_of(case_of()))

        assert "it should answer unsupported, but: stdout ended" in target.remarks[0]
    assert exchange.calls[0].status == "OK"


HELLOS = {
    # Each takes the question first: else the message depends on which of the two comes first, that or the question.
    "dead": (
        "sys.stdin.readline(); sys.exit('cannot load')",
        "stdout ended; no byte of an answer was seen; the process exited with status 1; its last output: cannot load",
    ),
    "chatty": (
        "sys.stdin.readline(); print('hi', flush=True); sys.stdin.read()",
        "expected a JSON object on one line but got b'hi' (Expecting value); the process is still running; it printed",
    ),
    "newer": (
        (
            "sys.stdin.readline(); reply({'id': 1}, status='ok', protocol=2, name='x', capabilities=[], input='rows')\n"
            "sys.stdin.read()"
        ),
        "expected welcome as protocol.schema.json has it, but in ['protocol']: 1 was expected; the process is still",
    ),
}


@pytest.mark.parametrize(("main", "message"), HELLOS.values(), ids=HELLOS)
def test_a_program_without_a_hello_is_unavailable(program: Programs, main: str, message: str) -> None:
    """A program that sends no hello is not driven, and the reason is one message."""
    with pytest.raises(TargetUnavailable) as raised, open_target(program("pass", main=main)):
        pytest.fail("opened")

    assert str(raised.value).startswith(f"fake did not answer hello: {message}")


def test_a_case_with_requests_is_untestable(program: Programs) -> None:
    """A serializer takes no requests; a case that is all about one is not put to it."""
    case = case_of(CreateSession(selected_fields=("a",)), ReadRows())

    assert drive(program(ECHO), case)[0].untestable.startswith("a serializer takes no requests")


def test_the_example_adapter_serializes_like_pyarrow() -> None:
    """The example of the guide is a working target: its messages are those of the library inside."""
    spec = load_target(ROOT / "docs" / "examples" / "adapter.toml")
    columns = (Column("a", BqType.INT64), Column("b", BqType.STRING))
    table = pa.table({"a": pa.array([1, None, 3]), "b": pa.array(["x", "y", None])})
    rows = ({"a": 1, "b": "x"}, {"b": "y"}, {"a": 3})
    case = Case("c", "t", Table(columns, rows=rows))  # type: ignore[arg-type]

    with open_target(spec) as target:
        exchange = target.drive(case, table)
        remarks = target.remarks

    schema, *batches = [call.responses[0] for call in exchange.calls]
    read = [pa.ipc.read_record_batch(batch, pa.ipc.read_schema(pa.py_buffer(schema))) for batch in batches]
    assert remarks == ()
    assert len(read) == 2
    assert pa.Table.from_batches(read).equals(table)


def test_the_example_adapter_is_short() -> None:
    """The example stays what it claims to be: about 50 lines without a line of ours in it."""
    text = (ROOT / "docs" / "examples" / "adapter.py").read_text()

    assert len([line for line in text.splitlines() if line.strip()]) <= 55
    assert "import conformance" not in text
