"""A program that seeds: what it answers becomes a table or a reason, and what it breaks costs one case."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.contain.child import Child
from conformance.records import BqType, Column
from conformance.targets import TargetUnavailable
from conformance.targets.programway import ProgramWay
from conformance.targets.questions import greeted
from conformance.targets.seeding import Seeder
from conformance.targets.targeterrors import CannotSeed
from tests.patience import LONG, patiently

COLUMNS = (Column("a", BqType.INT64), Column("b", BqType.STRING))
ROWS: list[dict[str, Any]] = [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]

PROGRAM = """
import json, os, sys, time
def reply(request, **answer):
    print(json.dumps({"id": request["id"], **answer}), flush=True)
BODY
for line in sys.stdin:
    request = json.loads(line)
    with open(sys.argv[1], "a") as asked:
        asked.write(line)
    if request["op"] == "hello":
        reply(request, status="ok", protocol=1, name="s", capabilities=[], input=globals().get("INPUT", "rows"))
    else:
        other(request)
"""
OK = 'def other(request): reply(request, status="ok")'


class Seeding:
    """A seeder by one program, and the requests that the program got."""

    def __init__(self, folder: Path, body: str, *, token: str, deadline: float = LONG) -> None:
        (folder / "program.py").write_text(PROGRAM.replace("BODY", body))
        self._log = folder / "asked"
        self._log.unlink(missing_ok=True)
        command = [sys.executable, str(folder / "program.py"), str(self._log)]
        self.way = ProgramWay(
            lambda: greeted(Child(command, environment={}, piped=True), "the program", seconds=LONG), deadline=deadline
        )
        self.seeder = Seeder([self.way], project="p", dataset="d", listed=None, token=token)

    @property
    def asked(self) -> list[dict[str, Any]]:
        """The requests, without the greetings."""
        requests = map(json.loads, self._log.read_text().splitlines())
        return [request for request in requests if request["op"] != "hello"]

    def refused(self) -> CannotSeed:
        """Why a table cannot be made."""
        with pytest.raises(CannotSeed) as raised:
            self.seeder.seed("case", COLUMNS, ROWS, withheld=0)
        return raised.value


@pytest.fixture
def seeding(tmp_path: Path) -> Iterator[Any]:
    """Seed by a program whose ``other(request)`` is in the given body."""
    made: list[Seeding] = []

    def start(body: str, *, token: str = "", deadline: float = LONG) -> Seeding:
        made.append(Seeding(tmp_path, body, token=token, deadline=deadline))
        return made[-1]

    yield start
    for one in made:
        one.seeder.close(grace=0)


def test_a_program_gets_the_table_the_rows_and_the_removal(seeding: Any) -> None:
    """The first rows come with the table, the others later; a server that goes on is left as it was."""
    one = seeding(OK, token="run")

    table = one.seeder.seed("case", COLUMNS, ROWS, withheld=1)
    table.append(1)
    one.seeder.release(table)

    place = {"project": "p", "dataset": "d", "table": table.names.table}
    columns = [{"name": "a", "type": "INT64"}, {"name": "b", "type": "STRING"}]
    assert one.asked == [
        {"op": "make", "id": 2, **place, "columns": columns, "rows": ROWS[:1], "case": "case"},
        {"op": "append", "id": 3, **place, "columns": columns, "rows": ROWS[1:]},
        {"op": "drop", "id": 4, **place},
    ]


@pytest.mark.parametrize(("wanted", "keys"), [("arrow", {"arrow"}), ("rows", {"rows"}), ("both", {"arrow", "rows"})])
def test_rows_come_in_the_form_that_the_hello_asks_for(seeding: Any, wanted: str, keys: set[str]) -> None:
    """Arrow for a program that has it at hand, JSON for every other."""
    one = seeding(f'INPUT = "{wanted}"\n{OK}')

    one.seeder.seed("case", COLUMNS, ROWS, withheld=0)

    assert {"arrow", "rows"} & one.asked[0].keys() == keys


def test_a_program_gets_no_value_of_a_column_that_comes_later(seeding: Any) -> None:
    """The rows of a case have what a change of columns adds."""
    made = seeding(OK)

    made.seeder.seed("case", COLUMNS[:1], ROWS, withheld=0)

    assert [request["rows"] for request in made.asked] == [[{"a": 1}, {"a": 2}]]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ('status="unsupported"', "the seeding program cannot make the table: unsupported"),
        ('status="unsupported", message="no RANGE here"', "the seeding program cannot make the table: no RANGE here"),
        ('status="error", message="full"', "the seeding program cannot make the table: full"),
    ],
)
def test_a_refusal_names_the_columns(seeding: Any, answer: str, said: str) -> None:
    """What a program cannot carry is untestable by name, and costs no restart."""
    one = seeding(f"def other(request): reply(request, {answer})")

    error = one.refused()

    assert (str(error), error.answered) == (f"{said} (columns: a INT64, b STRING)", True)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("def other(request): sys.exit(3)", "stdout ended; no byte of an answer was seen"),
        ('def other(request): print("done", flush=True)', "it broke the protocol: expected a JSON object on one line"),
        ('def other(request): reply(request, status="ok", rows=2)', "it broke the protocol: expected done"),
    ],
)
def test_a_broken_program_costs_one_case(seeding: Any, body: str, said: str) -> None:
    """The next table gets a program of its own: the ids of its requests begin again."""
    one = seeding(body)

    first, second = one.refused(), one.refused()

    assert said in str(first)
    assert not first.answered
    assert said in str(second)
    assert [request["id"] for request in one.asked] == [2, 2]


def test_a_program_that_hangs_costs_one_case_and_its_deadline(seeding: Any) -> None:
    """The next table gets a program of its own."""

    def within(seconds: float) -> tuple[CannotSeed, list[int]]:
        one = seeding("def other(request): time.sleep(60)", deadline=seconds)
        one.refused()
        return one.refused(), [request["id"] for request in one.asked]

    error, asked = patiently(within, lambda made: len(made[1]) == 2)

    assert re.search(r"no answer within \S+ s", str(error))
    assert not error.answered
    assert asked == [2, 2]


def test_a_program_that_hangs_costs_one_case(seeding: Any) -> None:
    """And its deadline."""

    def within(seconds: float) -> tuple[CannotSeed, list[int]]:
        one = seeding("def other(request): time.sleep(60)", deadline=seconds)
        return one.refused(), [request["id"] for request in one.asked]

    error, asked = patiently(within, lambda made: bool(made[1]), seconds=0.5)

    assert re.search(r"no answer within \S+ s", str(error))
    assert not error.answered
    assert asked == [2]


def test_a_name_that_is_taken_is_replaced(seeding: Any) -> None:
    """A program says with a code that the table exists; then the names of this run are fresh."""
    one = seeding("""
def other(request):
    if len(request["table"]) > 30:
        reply(request, status="ok")
    else:
        reply(request, status="error", code="ALREADY_EXISTS", message="it exists")
""")

    table = one.seeder.seed("case", COLUMNS, ROWS, withheld=0)

    assert [request["table"] for request in one.asked][1] == table.names.table
    assert len(one.asked) == 2


def test_a_program_without_a_hello_is_unavailable(tmp_path: Path) -> None:
    """A file that names the wrong program ends the run in one sentence, before any case."""
    command = [sys.executable, "-c", "print('usage: seed FILE')"]

    with pytest.raises(TargetUnavailable, match="the program did not answer hello"):
        ProgramWay(
            lambda: greeted(Child(command, environment={}, piped=True), "the program", seconds=LONG), deadline=LONG
        )
