"""JUnit XML with one test for each case, for continuous integration systems that do not know the suite.

A case on which no clause fails the run is a success. A case with an outcome that fails the run is a ``failure`` (an
``error`` if the suite itself broke), with what each failing clause required and observed. A case of which nothing was
judged, or whose failures are all expected, is ``skipped`` with its reason. Entries of the expected failures that fail
the run, and a run that was cut short, are tests of their own. Seed and selection are properties of the suite. All
texts of a result are valid in XML (:mod:`conformance.contain.text`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

from conformance.contain.text import many
from conformance.contract.clause import is_binding
from conformance.contract.wholecase import required_of
from conformance.disk.files import write_whole
from conformance.engine.events import CaseJudged
from conformance.engine.result import RANK, Result
from conformance.records import Outcome, Verdict
from conformance.report.summary import header, level_of, replay_command

__all__ = ["junit_xml", "write_junit"]

MOST_FINDINGS: Final = 20
"""Findings in the text of one test: a system that shows this file shows a page of text, and the report has the rest."""

Frequencies = Mapping[tuple[str, str], str]
"""How often a failure occurred in a run that repeats its cases, in words, by clause and case."""


def write_junit(result: Result, path: Path) -> None:
    """Write the JUnit report to ``path``."""
    write_whole(path, junit_xml(result))


def junit_xml(result: Result) -> bytes:
    """The JUnit report, UTF-8 encoded."""
    root = ET.Element("testsuites", name="conformance")
    suite = ET.SubElement(root, "testsuite", name=result.start.target, time=f"{result.seconds:.3f}")
    properties = ET.SubElement(suite, "properties")
    for name, value in (dict(header(result.start, result.remarks)) | {"select": " ".join(result.start.select)}).items():
        ET.SubElement(properties, "property", name=name, value=value)
    tags = Counter([*_cases(suite, result), *_of_the_run(suite, result)])
    counts = {"tests": tags.total(), "failures": tags["failure"], "errors": tags["error"], "skipped": tags["skipped"]}
    for element in (suite, root):
        for name, count in counts.items():
            element.set(name, str(count))
    ET.indent(root)
    data: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return data


def _cases(suite: ET.Element, result: Result) -> Iterator[str]:
    """Add a test for each case, in the order of the run, and give the tag of its result; a success has none."""
    verdicts: dict[str, list[Verdict]] = {case.case_id: [] for case in result.cases}
    for verdict in result.verdicts:
        verdicts[verdict.case_id].append(verdict)
    often = {
        (clause, case_id): item.frequency
        for item in result.deviations
        if item.frequency
        for clause in item.clauses
        for case_id in item.cases
    }
    for case in result.cases:
        group = case.case_id.rpartition(".")[0] or case.case_id
        test = ET.SubElement(suite, "testcase", classname=group, name=case.case_id, time=f"{case.seconds:.3f}")
        yield _judged(test, result, case, verdicts[case.case_id], often)


def _judged(test: ET.Element, result: Result, case: CaseJudged, verdicts: Sequence[Verdict], often: Frequencies) -> str:
    worst = min((verdict.outcome for verdict in verdicts), key=RANK.index, default=None)
    if worst is None:
        return _add(test, "skipped", "not-observed", "this case shows nothing of the chosen clauses")
    if worst is Outcome.PASS:
        return ""
    shown = [one for one in verdicts if (one.outcome.fails_run if worst.fails_run else one.outcome is worst)]
    shown.sort(key=lambda one: (_is_optional(one), RANK.index(one.outcome)))
    entries = list(dict.fromkeys(entry for verdict in shown for entry in _entries(verdict, often)))
    if (more := len(entries) - MOST_FINDINGS) > 0:
        entries[MOST_FINDINGS:] = [f"and {many(more, 'more finding')}"]
    first = shown[0]
    others = f" (and {many(len(shown) - 1, 'more clause')})" if len(shown) > 1 else ""
    message = f"{first.clause}: {first.findings[0].observed if first.findings else first.reason}{others}"
    text = "\n\n".join([*entries, f"replay: {replay_command(result, case)}"])
    if not worst.fails_run:
        return _add(test, "skipped", worst.value, message, text)
    if all(map(_is_optional, shown)):
        return _add(test, "skipped", "optional", message, text)
    return _add(test, "error" if worst is Outcome.ERROR else "failure", worst.value, message, text)


def _is_optional(verdict: Verdict) -> bool:
    """True for the failure of a MAY clause, which fails no run."""
    return verdict.outcome is Outcome.FAIL and not is_binding(verdict.clause)


def _entries(verdict: Verdict, often: Frequencies) -> Iterator[str]:
    """What a verdict required and observed: a paragraph for each finding, or one for an outcome without findings."""
    head = f"{verdict.clause} ({level_of(verdict.clause)}): {verdict.outcome}"
    occurs = often.get((verdict.clause, verdict.case_id), "")
    found = [(one.required, one.observed) for one in verdict.findings] or [
        (required_of(verdict.outcome), verdict.reason)
    ]
    for required, observed in found:
        lines = {"required": required, "observed": observed, "occurs": occurs}
        yield "\n".join([head, *(f"{name}: {text}" for name, text in lines.items() if text)])


def _of_the_run(suite: ET.Element, result: Result) -> Iterator[str]:
    """Add a test for each reason of the run as a whole to be red, and give its tag."""
    for problem in result.problems:
        if problem.fails_run:
            test = ET.SubElement(suite, "testcase", classname="expected-failures", name=f"entry {problem.index}")
            yield _add(test, "failure", problem.kind, problem.text)
    if result.judged_nothing:
        test = ET.SubElement(suite, "testcase", classname="run", name="judged")
        yield _add(test, "failure", "nothing-judged", "nothing was judged in this run")
    if result.served_nothing:
        test = ET.SubElement(suite, "testcase", classname="run", name="served")
        yield _add(test, "failure", "nothing-served", "the server answered each call with a refusal or nothing")
    if not result.complete:
        test = ET.SubElement(suite, "testcase", classname="run", name="complete")
        yield _add(test, "error", "incomplete", result.set_up or "the run was cut short")


def _add(test: ET.Element, tag: str, kind: str, message: str, text: str = "") -> str:
    ET.SubElement(test, tag, type=kind, message=message).text = text or None
    return tag
