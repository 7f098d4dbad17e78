"""JUnit XML with one test case per clause, for continuous integration systems that do not know the suite.

A clause that passed on every case that observed it is a success. An outcome that fails the run is a ``failure`` (an
``error`` if the suite itself broke). A clause that was not judged, or that fails as expected, is ``skipped`` with
its reason. The class name of a test case is the chapter of its clause; of clauses on readers, it is the question that
they answer. Seed, selection, level and source are properties, so that tables can be made from the file. All texts of
a result are valid in XML (:mod:`conformance.contain.text`).
"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

from conformance.contract.wholecase import EXPLAINED
from conformance.disk.files import write_whole
from conformance.engine.result import NOT_JUDGED, Deviation, Result
from conformance.records import Outcome
from conformance.report.summary import header, level_of, replay_command, section_of, section_place

__all__ = ["junit_xml", "write_junit"]


def write_junit(result: Result, path: Path) -> None:
    """Write the JUnit report to ``path``."""
    write_whole(path, junit_xml(result))


def junit_xml(result: Result) -> bytes:
    """The JUnit report, UTF-8 encoded."""
    root = ET.Element("testsuites", name="conformance")
    suite = ET.SubElement(root, "testsuite", name=result.start.target, time=f"{result.seconds:.3f}")
    _properties(suite, dict(header(result.start, result.remarks)) | {"select": " ".join(result.start.select)})
    counts = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
    for clause_id in sorted((*result.by_clause, *result.silent), key=lambda one: section_place(section_of(one))):
        kind = _test_case(suite, result, clause_id)
        counts["tests"] += 1
        if kind:
            counts[kind] += 1
    for problem in result.problems:
        if problem.fails_run:
            case = ET.SubElement(suite, "testcase", classname="expected-failures", name=f"entry {problem.index}")
            ET.SubElement(case, "failure", type=problem.kind, message=problem.text)
            counts["tests"] += 1
            counts["failures"] += 1
    for element in (suite, root):
        for name, count in counts.items():
            element.set(name, str(count))
    ET.indent(root)
    data: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return data


def _test_case(suite: ET.Element, result: Result, clause_id: str) -> str:
    case = ET.SubElement(suite, "testcase", classname=section_of(clause_id), name=clause_id)
    clause = EXPLAINED.get(clause_id)
    properties = {"clause": clause_id, "level": level_of(clause_id).value}
    _properties(case, properties | ({"source": clause.source, "evidence": clause.evidence_in_words} if clause else {}))
    if clause_id not in result.by_clause:
        ET.SubElement(case, "skipped", type="not-observed", message="no case of this run had anything to judge")
        return "skipped"
    outcome = result.worst[clause_id]
    if outcome is Outcome.PASS:
        return ""
    deviations = [item for item in result.deviations if clause_id in item.clauses and item.outcome is outcome]
    text = "\n\n".join(_text(result, item) for item in deviations)
    message = deviations[0].text if deviations else outcome.value
    if outcome in NOT_JUDGED or outcome is Outcome.EXPECTED_FAIL:
        ET.SubElement(case, "skipped", type=outcome.value, message=message).text = text
        return "skipped"
    tag, kind = ("error", "errors") if outcome is Outcome.ERROR else ("failure", "failures")
    ET.SubElement(case, tag, type=outcome.value, message=message).text = text
    return kind


def _text(result: Result, deviation: Deviation) -> str:
    required = f"required: {deviation.required}\n" if deviation.required else ""
    cases = ", ".join(deviation.cases[:5]) + (
        f" and {len(deviation.cases) - 5} more" if len(deviation.cases) > 5 else ""
    )
    often = f"occurs: {deviation.frequency}\n" if deviation.frequency else ""
    return f"{required}observed: {deviation.text}\n{often}cases: {cases}\nreplay: {replay_command(result, deviation)}"


def _properties(parent: ET.Element, values: dict[str, str]) -> None:
    properties = ET.SubElement(parent, "properties")
    for name, value in values.items():
        ET.SubElement(properties, "property", name=name, value=value)
