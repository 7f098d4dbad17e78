"""Seeding by a program of the target's owner: it gets each table on its standard input and makes it in the server.

The program may be any process that reaches the server, or the server itself: an in-process fake has no other door.
:mod:`.asking` sends the messages. A program that hangs, ends or breaks the protocol costs its case; the next case gets
a fresh one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from conformance.contain.errors import Lost, LostError, ProtocolError
from conformance.contain.text import safe
from conformance.generate.materialise import materialise
from conformance.records import Json, Table, to_json
from conformance.targets.kept import Kept
from conformance.targets.names import Names
from conformance.targets.questions import EXIT_SECONDS, AskedProgram, table_forms
from conformance.targets.seeds import Row, SeededTable, in_columns, naming_columns
from conformance.targets.spec import extra_seconds
from conformance.targets.targeterrors import CannotSeed, TableExists, TargetUnavailable

__all__ = ["ProgramWay"]

MAX_ANSWER: Final = 1 << 20
"""The largest answer in bytes: it is an "ok", or one sentence."""
VALUES: Final = 100
"""The largest number of JSON values in an answer."""
DROP_SECONDS: Final = 5.0


class ProgramWay:
    """Seeds by the program that ``start`` starts and greets; each table takes ``deadline`` seconds and more if large.

    Raises:
        TargetUnavailable: The program does not start.
    """

    own = True

    def __init__(self, start: Callable[[], AskedProgram], *, deadline: float) -> None:
        self._kept = Kept("seeding program", start)
        self._deadline = deadline

    def make(self, table: SeededTable, first: Sequence[Row], until: float) -> None:
        """Ask the program to make the table."""
        self._put("make", table, first, until)

    def append(self, table: SeededTable, more: Sequence[Row], until: float) -> None:
        """Ask the program to append rows."""
        self._put("append", table, more, until)

    def drop(self, names: Names) -> None:
        """Ask the program to remove a table."""
        try:
            self._ask({"op": "drop", **_place(names)}, DROP_SECONDS)
        except CannotSeed:
            return

    def close(self, *, grace: float) -> None:
        """End the program."""
        self._kept.discard(grace=grace)

    def _put(self, op: str, table: SeededTable, rows: Sequence[Row], until: float) -> None:
        with naming_columns(table.columns):
            wanted = self._running().welcome["input"]
            there = in_columns(table.columns, rows)
            made = materialise(Table(table.columns, rows=tuple(map(Json, there))))
            forms = table_forms(wanted, made.to_batches(), made.schema, there)
            columns = [to_json(column) for column in table.columns]
            question = {"op": op, **_place(table.names), "columns": columns, **forms}
            if op == "make":
                question["case"] = table.case
            seconds = min(self._deadline + extra_seconds(made.nbytes), until - time.monotonic())
            answer = self._ask(question, max(0.0, seconds))
            if answer["status"] == "ok":
                return
            said = safe(answer.get("message") or answer["status"])
            kind = TableExists if op == "make" and answer.get("code") == "ALREADY_EXISTS" else CannotSeed
            raise kind(f"the seeding program cannot {op} the table: {said}")

    def _running(self) -> AskedProgram:
        try:
            return self._kept.ready()
        except TargetUnavailable as error:
            raise CannotSeed(str(error), answered=False) from None

    def _ask(self, question: dict[str, Any], seconds: float) -> dict[str, Any]:
        running = self._running()
        try:
            return running.ask(
                question, ("done", "unsupported", "error"), seconds=seconds, limit=MAX_ANSWER, values=VALUES
            )
        except LostError as error:
            said = str(error)
            if error.how is Lost.CRASH and running.process.wait_for_exit(EXIT_SECONDS):
                said = f"{error}; {running.process.last_words()}"
        except ProtocolError as error:
            said = f"it broke the protocol: {error}"
        self._kept.discard(grace=0)
        raise CannotSeed(f"the seeding program: {said}", answered=False)


def _place(names: Names) -> dict[str, str]:
    return {"project": names.project, "dataset": names.dataset, "table": names.table}
