"""Everything that a command wrote, read as its users read it: JUnit, JSON, HTML, log, standard output and error."""

from __future__ import annotations

import dataclasses
import functools
import html.parser
import json
import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree as ET

from jsonschema import Draft202012Validator

from tests.hostile.setups import Command

__all__ = ["Written", "read_written"]

_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029\ufffe\uffff]")
"""Characters from a target that must not reach a terminal; the suite's own lines have line feeds and tabs."""
_SPEAKS: Final = re.compile(r"^\s*::|^\s*##\[|##vso\[|##teamcity\[", re.MULTILINE)
"""Lines that a build service would run as commands."""
DOCUMENTED: Final = (0, 1, 2, 130)
BROKE: Final = 70
"""Exit statuses of ``docs/exit-codes.md``."""
REPORT_BYTES: Final = 16 << 20
"""A report of two cases is kilobytes; one that holds what a target sent is its size."""
_TRACEBACK: Final = re.compile(r"^Traceback \(most recent call last\)", re.MULTILINE)
_RANK: Final = ("error", "crash", "hang", "fail", "refused", "unexpected-pass", "untestable", "dependency-failed")


@dataclasses.dataclass(frozen=True, slots=True)
class Written:
    """The files that a command wrote; ``faults`` lists the invalid parts."""

    printed: str
    events: tuple[dict[str, Any], ...]
    faults: tuple[str, ...]

    def broken(self, case: str) -> Iterator[str]:
        """Where the suite itself broke on a case."""
        for event in self.events:
            if event.get("event") == "suite-broke" and _plain(event["case_id"]) == case:
                yield f"the suite broke: {event['traceback'][-400:]}"

    @property
    def last_words(self) -> str:
        """The end of what was printed."""
        return " ".join(self.printed.split())[-300:]

    def outcome_of(self, case: str = "") -> tuple[str, str]:
        """The outcomes of a case that are not fine, worst first, else ``pass``; and what is said of them.

        Without a case those of all cases together; both are empty where there is no verdict.
        """
        judged = [event for event in self.events if event.get("event") == "case-judged"]
        verdicts = [one for event in judged if case in ("", _plain(event["case_id"])) for one in event["verdicts"]]
        bad = [one for one in verdicts if one["outcome"] in _RANK]
        outcomes = sorted({one["outcome"] for one in bad}, key=_RANK.index)
        passed = any(one["outcome"] == "pass" for one in verdicts)
        return ", ".join(outcomes) or ("pass" if passed else ""), " | ".join(_said(bad))

    @property
    def unjudged(self) -> int:
        """How many of the cases that were chosen have no verdict."""
        chosen = {case for event in self.events if event.get("event") == "run-started" for case in event["cases"]}
        return len(chosen - {event["case_id"] for event in self.events if event.get("event") == "case-judged"})


def _said(verdicts: list[dict[str, Any]]) -> Iterator[str]:
    for verdict in verdicts:
        yield f"{verdict['clause']}: {verdict.get('reason', '')}"
        for finding in verdict.get("findings", ()):
            yield f"{finding.get('observed', '')} (required: {finding.get('required', '')})"


def read_written(command: Command, place: Path, status: int) -> Written:
    """Read and check everything that ``command`` left in ``place``."""
    out, err = (_text(place / name) for name in ("stdout.txt", "stderr.txt"))
    faults = [*_faults_of_print(out, "standard output"), *_faults_of_print(err, "standard error")]
    if status == BROKE:
        faults.append("the suite itself broke outside of any case")
    elif status >= 0 and status not in DOCUMENTED:
        faults.append(f"exit status {status} is not documented")
    sentences = [line for line in err.splitlines() if line.startswith("Error: ")]
    if status == 2 and "Usage:" not in err and not sentences:
        faults.append(f"status 2 needs a sentence on standard error, got {err[-300:]!r}")
    events: list[dict[str, Any]] = []
    if command.log is not None and command.log.exists():
        faults += _read_log(command.log, events)
    for kind, path in command.reports.items():
        if path.exists():
            if path.stat().st_size > REPORT_BYTES:
                faults.append(f"{path.name} has {path.stat().st_size >> 20} MiB")
            faults += [f"{path.name}: {fault}" for fault in _CHECKS[kind](path)]
        elif status in (0, 1) and any(event.get("event") == "run-ended" for event in events):
            faults.append(f"{path.name} was not written")
    return Written(out + err, tuple(events), tuple(faults))


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def _faults_of_print(text: str, where: str) -> Iterator[str]:
    if _TRACEBACK.search(text):
        yield f"a traceback on {where}: {text[-400:]!r}"
    if found := _CONTROL.search(text):
        around = text[max(0, found.start() - 60) : found.end() + 60]
        yield f"a control character {found.group()!r} on {where}: {around!r}"
    if found := _SPEAKS.search(text):
        yield f"a build's command on {where}: {text[found.start() : found.end() + 60]!r}"


def _read_log(path: Path, events: list[dict[str, Any]]) -> Iterator[str]:
    if path.stat().st_size > REPORT_BYTES:
        yield f"{path.name} has {path.stat().st_size >> 20} MiB"
    data = path.read_bytes()
    text = data.decode("utf-8", "replace")
    if text.encode() != data:
        yield f"{path.name} is no UTF-8"
    lines = text.split("\n")
    for number, line in enumerate(lines[:-1], 1):
        try:
            event = json.loads(line)
        except ValueError as error:
            yield f"{path.name}, line {number}: {error}"
            continue
        wrong = next(_validator("conformance.engine", "log.schema.json").iter_errors(event), None)
        if wrong is not None:
            yield f"{path.name}, line {number}: {wrong.message[:200]}"
        events.append(event)


def _check_json(path: Path) -> Iterator[str]:
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        yield str(error)
        return
    wrong = next(_validator("conformance.report", "report.schema.json").iter_errors(report), None)
    if wrong is not None:
        yield wrong.message[:200]


def _check_junit(path: Path) -> Iterator[str]:
    try:
        ET.parse(path)
    except ET.ParseError as error:
        yield str(error)


def _check_html(path: Path) -> Iterator[str]:
    reader = _Html(convert_charrefs=True)
    reader.feed(path.read_text(encoding="utf-8"))
    reader.close()
    if reader.foreign:
        yield f"expected no script or element from outside, got {reader.foreign[0]}"
    if "html" not in reader.ended:
        yield "the document does not end"


class _Html(html.parser.HTMLParser):
    """Notes which elements end, and those that a target could have put there."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        self.ended: set[str] = set()
        self.foreign: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("iframe", "object", "embed", "img") or any(name.startswith("on") for name, _ in attrs):
            self.foreign.append(f"<{tag}>")

    def handle_endtag(self, tag: str) -> None:
        self.ended.add(tag)


_CHECKS: Final = {"json": _check_json, "junit": _check_junit, "html": _check_html}


@functools.cache
def _validator(package: str, name: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads(resources.files(package).joinpath(name).read_text(encoding="utf-8")))


def _plain(case_id: str) -> str:
    """The id of a case without the form of its rows, which ``--data-format avro`` adds."""
    return case_id.removesuffix("@avro")
