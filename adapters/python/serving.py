"""What every client in Python is beside its reads: lines in, lines out, and the answers of tables and errors.

Standard input has one JSON request per line, standard output one JSON answer per line; what a library prints goes to
standard error.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from conformance.wire import PlainTable, plain_table

Read = Callable[[Mapping[str, Any]], Iterable[pa.RecordBatch] | PlainTable]
"""Reads the table of a request; a batch without columns says that the client knows none."""


AGAIN = "CLIENT_REQUEST"
"""The variable with the request for which a program has started itself again."""


class NeedsEnvironment(Exception):  # noqa: N818  # the program starts itself again, and nobody sees it
    """A library takes these variables from the environment in which its process starts."""

    def __init__(self, wanted: Mapping[str, str]) -> None:
        super().__init__(wanted)
        self.wanted = wanted


def needs_environment(wanted: Mapping[str, str]) -> None:
    """Make sure that the process started with these variables."""
    if any(os.environ.get(name) != value for name, value in wanted.items()):
        raise NeedsEnvironment(wanted)


class Unsupported(Exception):  # noqa: N818  # it becomes an answer of this name
    """The path has no way to do what was asked."""


def batches_of(table: pa.Table) -> list[pa.RecordBatch]:
    """The batches; a table without rows has one that holds its columns."""
    return table.to_batches() or [pa.RecordBatch.from_pylist([], schema=table.schema)]


def whole(asked: Mapping[str, Any]) -> tuple[str, str, str]:
    """Project, dataset and table of a request for a whole table; raises :class:`Unsupported` for any other."""
    if asked["columns"] or asked["restriction"]:
        raise Unsupported("this path reads whole tables")
    project, dataset, table = asked["table"].split("/")[1::2]
    return project, dataset, table


def serve(about: Mapping[str, str], paths: Mapping[str, Read], class_of: Callable[[Exception], str]) -> None:
    """Answer requests until standard input ends.

    ``about`` are the members ``implementation``, ``title`` and ``version`` of hello; ``class_of`` names an error.
    """
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    hello = {"protocol": 1, "language": "Python", "reads": [], "writes": [], "paths": [*paths], **about}
    for line in _lines():
        asked = json.loads(line)
        try:
            made = {"status": "ok", **hello} if asked["op"] == "hello" else _answer(paths, class_of, asked)
        except NeedsEnvironment as error:
            os.dup2(answers.fileno(), 1)
            os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **error.wanted, AGAIN: line})  # noqa: S606  # itself
        answers.write(json.dumps({"id": asked["id"], **made}) + "\n")
        answers.flush()


def _lines() -> Iterator[str]:
    """The request for which this process was started again, and those that follow."""
    first = os.environ.pop(AGAIN, None)
    if first is not None:
        yield first
    # The suite sends a request when it has the answer to the last one, so nothing is in a buffer at a new start.
    while line := sys.stdin.readline():
        yield line


def _answer(
    paths: Mapping[str, Read], class_of: Callable[[Exception], str], asked: Mapping[str, Any]
) -> dict[str, Any]:
    try:
        made = paths[asked["path"]](asked)
        if isinstance(made, PlainTable):
            return {"status": "ok", **made.to_json()}
        found = [batch for batch in made if batch.num_columns]
        names = found[0].schema.names if found else []
        kinds = [str(kind) for kind in found[0].schema.types] if found else []
        # Inside, too: a batch that the client accepts may have values that Python does not, such as text in no UTF-8.
        table = plain_table([batch for batch in found if batch.num_rows])
    except NeedsEnvironment:
        raise
    except Unsupported as error:
        return {"status": "unsupported", "message": str(error)}
    except Exception as error:  # noqa: BLE001  # whatever it is, it is the client's answer
        return {"status": "error", "class": class_of(error), "message": str(error)[:2000]}
    columns = [list(column) for column in table.columns] or [[] for _ in names]
    return {"status": "ok", "names": names, "types": kinds, "rows": table.rows, "columns": columns}
