"""Runs, reports, logs and statements in files, and edits of them, for the tests of statements."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from conformance.engine.log import read_log
from conformance.engine.merge import merge
from conformance.engine.result import fold
from conformance.report.disagreements import Material, stated
from conformance.report.document import write_json
from conformance.report.reading import read_report
from conformance.report.statementnumbers import file_digest
from conformance.report.statementpage import html, markdown
from tests.cli.typed import SERIALIZER, TARGET, conformance_

Json: TypeAlias = dict[str, Any]
Edit: TypeAlias = Callable[["Files"], None]

SELECT = ("--select", "types.int64*", "--select", "types.bool")
KNOWN = '\n[[expected_failures]]\nclause = "{clause}"\nreason = "{reason}"\nnote = "the end marker is ours"\n'


def write_targets(folder: Path) -> None:
    """A target without a fault, one with a fault, and one whose owner expects a part of that."""
    (folder / "user_serializer.py").write_text(SERIALIZER)
    for name in ("Honest", "Liar"):
        text = TARGET.format(name=name).replace(f'"{name}"', f'"{name.lower()}"', 1)
        (folder / f"{name.lower()}.toml").write_text(text)
    judge(folder, "--target", str(folder / "liar.toml"), *SELECT, name="probe")
    first = json.loads((folder / "probe.json").read_text())["deviations"][0]
    entry = KNOWN.format(clause=first["clauses"][0], reason=first["reason"])
    (folder / "known.toml").write_text((folder / "liar.toml").read_text().replace('"liar"', '"known"', 1) + entry)


def judge(folder: Path, *options: str, name: str = "run", readers: bool = False) -> None:
    """A run, its report and its log."""
    files = ("--json", str(folder / f"{name}.json"), "--log", str(folder / f"{name}.jsonl"))
    done = conformance_("run", *options, *files, "--readers" if readers else "--no-readers")
    assert done.exit_code in (0, 1), done.output


@dataclasses.dataclass
class Files:
    """A statement with what it rests on, as JSON that a test edits; ``kind`` is the form of the page."""

    statement: Json
    report: Json
    log: list[Json]
    kind: str = "md"
    page: str = ""
    """The text of the page if it is not that of the statement."""

    @property
    def start(self) -> Json:
        """The first event."""
        return self.log[0]

    @property
    def cases(self) -> list[Json]:
        """The events of the cases."""
        return [event for event in self.log if event["event"] == "case-judged"]

    def copy(self) -> Files:
        """The same, to be edited."""
        return copy.deepcopy(self)


def load(folder: Path, name: str = "run") -> Files:
    """The files of a run, with the statement that the suite makes of them."""
    report, log = folder / f"{name}.json", folder / f"{name}.jsonl"
    statement = folder / f"{name}.md"
    done = conformance_("statement", str(report), "--log", str(log), "--markdown", str(statement))
    assert done.exit_code == 0, done.output
    text = statement.read_text(encoding="utf-8")
    block = text.partition("```json\n")[2].rpartition("\n```")[0]
    return Files(
        json.loads(block), json.loads(report.read_text()), [json.loads(line) for line in log.read_text().splitlines()]
    )


def lines_of(events: list[Json]) -> list[str]:
    """The lines of a log."""
    return [json.dumps(event, ensure_ascii=False, separators=(",", ":")) + "\n" for event in events]


def sealed(events: list[Json]) -> list[str]:
    """The lines of a log whose digest was made again: the work of somebody who knows the format."""
    lines = lines_of(events)
    if events[-1]["event"] == "run-ended":
        last = {**events[-1], "digest": hashlib.sha256("".join(lines[:-1]).encode()).hexdigest()}
        lines[-1] = lines_of([last])[0]
    return lines


def write_remade(files: Files, folder: Path) -> None:
    """The log with its digest, and the report and the statement that the suite's own functions make of it."""
    log, report = folder / "run.jsonl", folder / "run.json"
    log.write_text("".join(sealed(files.log)), encoding="utf-8")
    events = tuple(read_log(log))
    write_json(fold(merge([events])), report)
    material = Material(read_report(report), file_digest(report), (events,), (file_digest(log),))
    page = markdown(stated(material)) if files.kind == "md" else html(stated(material))
    (folder / f"statement.{files.kind}").write_text(page, encoding="utf-8")


def write_edited(files: Files, folder: Path) -> None:
    """The three files as they are, the statement as its JSON form unless there is a page."""
    (folder / "run.jsonl").write_text("".join(lines_of(files.log)), encoding="utf-8")
    (folder / "run.json").write_text(json.dumps(files.report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (folder / "statement.md").write_text(files.page or json.dumps(files.statement), encoding="utf-8")


def verified(folder: Path, *options: str, statement: str = "statement.md") -> tuple[int, str]:
    """Status and output of ``conformance verify``."""
    given = ("--report", str(folder / "run.json"), "--log", str(folder / "run.jsonl"))
    done = conformance_("verify", str(folder / statement), *given, *options)
    return done.exit_code, done.output
