"""A drift as text, JSON and HTML."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import pytest

from conformance.drift.comparing import VersionChange, VersionDifference
from conformance.drift.digests import CaseDigests
from conformance.drift.layouts import LabelledDifference
from conformance.drift.run import Drift, DriftPlan
from conformance.drift.userfiles import UserFiles
from conformance.drift.versions import DriftError
from conformance.report.driftpages import as_json, as_text, decision, groups, read_known, unknown, write_html
from tests.report.pages import ParsedPage, faults

PLACE = LabelledDifference("message 1, a: data", 10, 18, "1", "2", "anything goes, https://example.org/")


def difference(case: str, change: VersionChange, *, matters: bool, after: str = "read 3 rows") -> VersionDifference:
    """A difference from the first version to the second."""
    places = (PLACE,) if change is VersionChange.LAYOUT else ()
    return VersionDifference(case, "write nested", "1.0", "2.0", change, matters, "read 12 rows", after, (), places)


DIFFERENCES = (
    difference("a.000/stream", VersionChange.LAYOUT, matters=False),
    difference("a.001/stream", VersionChange.REFUSED, matters=True, after="OSError: short of 7 bytes"),
    difference("a.002/stream", VersionChange.REFUSED, matters=True, after="OSError: short of 9 bytes"),
)
DRIFT = Drift(
    plan=DriftPlan(seed=4),
    versions=("1.0", "2.0", "3.0"),
    recipes=5,
    writings=9,
    inputs={"streams": 7},
    counts={
        ("1.0", "2.0"): {"write nested": {VersionChange.EQUAL: 3, VersionChange.LAYOUT: 1, VersionChange.REFUSED: 2}},
        ("2.0", "3.0"): {"write nested": {VersionChange.EQUAL: 6}},
    },
    differences=DIFFERENCES,
    lacking={"1.0": {"pyarrow 1.0 has no list_view": 4}, "2.0": {}, "3.0": {}},
    spills={"1.0": ["u/stream", "u/file"], "2.0": ["u/stream", "u/file"], "3.0": ["u/stream", "u/file"]},
    broken={"1.0": {}, "2.0": {"flatbuf.root": ["b/stream"]}, "3.0": {}},
    misread={"1.0": [], "2.0": [], "3.0": []},
    digests={name: CaseDigests(4, {}) for name in ("1.0", "2.0", "3.0")},
    saved={},
)


def test_differences_that_are_alike_are_told_once() -> None:
    """Two refusals whose texts differ only in numbers are one group; differences that matter come first."""
    refused, layout = groups(DRIFT)

    assert refused.cases == ("a.001/stream", "a.002/stream")
    assert refused.title == "1.0 → 2.0  newly refused: 2 cases (write nested)"
    assert layout.cases == ("a.000/stream",)


def drift_of(*differences: VersionDifference) -> Drift:
    """A drift with these differences."""
    return dataclasses.replace(DRIFT, differences=differences)


def test_differences_in_bytes_are_alike_by_their_first_place() -> None:
    """Its label counts, without its numbers; neither what the versions read nor the other places do."""
    layout = difference("a.000/stream", VersionChange.LAYOUT, matters=False)
    elsewhere = (PLACE, dataclasses.replace(PLACE, label="message 1, b: data"))
    later = (dataclasses.replace(PLACE, label="message 7, a: data"),)
    alike = [
        layout,
        dataclasses.replace(layout, case="a.001/stream", before="read nothing"),
        dataclasses.replace(layout, case="a.002/stream", places=elsewhere),
        dataclasses.replace(layout, case="a.003/stream", places=later),
    ]
    other = dataclasses.replace(layout, case="b.000/stream", places=elsewhere[1:])

    assert [group.cases for group in groups(drift_of(*alike, other))] == [
        ("a.000/stream", "a.001/stream", "a.002/stream", "a.003/stream"),
        ("b.000/stream",),
    ]


@pytest.mark.parametrize(
    "field", [{"old": "2.0", "new": "3.0"}, {"change": VersionChange.HANG}, {"matters": False}, {"before": "x"}]
)
def test_differences_are_not_alike(field: dict[str, Any]) -> None:
    """Another step, another change, another weight, other words."""
    one = difference("a.001/stream", VersionChange.REFUSED, matters=True)

    assert len(groups(drift_of(one, dataclasses.replace(one, **field)))) == 2


def test_groups_come_by_weight_step_gravity_and_size() -> None:
    """What matters first, older steps first, then the gravest change, then the largest group."""
    crash = difference("crash", VersionChange.CRASH, matters=True)
    later = dataclasses.replace(crash, case="later", old="2.0", new="3.0")
    refused = difference("refused", VersionChange.REFUSED, matters=True)
    pair = [difference(name, VersionChange.REFUSED, matters=True, after="no") for name in ("pair", "two")]
    harmless = difference("harmless", VersionChange.CRASH, matters=False)

    found = groups(drift_of(harmless, later, refused, *pair, crash))

    assert [group.cases[0] for group in found] == ["crash", "pair", "refused", "later", "harmless"]


@pytest.mark.parametrize(
    ("kinds", "title"),
    [
        (["k0"], "1 case (k0)"),
        (["k0", "k0"], "2 cases (k0)"),
        (["k0", "k1", "k2"], "3 cases (k0, k1, k2)"),
        (["k0", "k1", "k2", "k3", "k4"], "5 cases (k0, k1, k2 and 2 more)"),
    ],
)
def test_a_group_names_up_to_three_classes(kinds: list[str], title: str) -> None:
    """The JSON has all of them."""
    one = difference("a.001/stream", VersionChange.REFUSED, matters=True)
    (group,) = groups(drift_of(*(dataclasses.replace(one, kind=kind) for kind in kinds)))

    assert group.title == f"1.0 → 2.0  newly refused: {title}"


def test_a_group_shows_up_to_three_rules_and_places() -> None:
    """Each place with its bytes in both versions, if it has any, and with what permits it."""
    places = tuple(LabelledDifference(f"place {number}", number, number + 2, "", "") for number in range(5))
    shown = (PLACE, dataclasses.replace(PLACE, label="gone", old="", permitted="", gone=True), *places)
    one = dataclasses.replace(
        difference("a.000/stream", VersionChange.LAYOUT, matters=True),
        before="x" * 160,
        after="y" * 161,
        rules=("r.0", "r.1", "r.2", "r.3"),
        places=shown,
    )

    text = as_text(drift_of(one))

    assert (
        f"""
  1.0 → 2.0  layout changed: 1 case (write nested)
    before  {"x" * 160}
    after   {"y" * 159}…
    breaks  r.0, r.1, r.2
    bytes   10..18  message 1, a: data
            1 → 2
            permitted: anything goes, https://example.org/
    bytes   10..18 of the older  gone
             → 2
    bytes   0..2  place 0
            and 4 more places
    replay  conformance drift --from 1.0 --to 2.0 --seed 4 --case a.000/stream
"""
        in text
    )
    assert "more places" not in as_text(drift_of(dataclasses.replace(one, places=shown[:3])))


def test_the_matrix_has_a_cell_for_each_step() -> None:
    """A cell counts each change by its sign, flags those that matter, and is an equals sign if nothing changed."""
    text = as_text(DRIFT)

    assert "write nested  !R2 L1     =\n" in text


def test_each_step_has_a_decision_of_its_own() -> None:
    """Who goes from one version to the next is not stopped by what an older step changed."""
    text = as_text(DRIFT)

    assert re.search(r"^each step +STOP +SAFE$", text, re.MULTILINE)


def test_a_difference_is_told_with_its_place_and_replay() -> None:
    """Labelled bytes, what permits them, and a command with the seed."""
    text = as_text(DRIFT)

    assert "bytes   10..18  message 1, a: data\n            1 → 2\n" in text
    assert "permitted: anything goes, https://example.org/" in text
    assert "replay  conformance drift --from 1.0 --to 2.0 --seed 4 --case a.001/stream" in text
    assert text.endswith("STOP: 2 newly refused")


def test_the_decision_is_the_first_line_and_the_last() -> None:
    """A build log is read from its end, a report from its beginning."""
    lines = as_text(DRIFT).splitlines()

    assert lines[0] == lines[-1] == "STOP: 2 newly refused"


@pytest.mark.parametrize(
    ("change", "fields", "expected"),
    [
        (VersionChange.CRASH, {"matters": True}, "STOP: 1 crash"),
        (VersionChange.LAYOUT, {}, "LOOK HERE: nothing that matters changed, but 1 layout changed"),
        (VersionChange.TYPE, {"kind": "reference files"}, "LOOK HERE: nothing that matters changed, but 1 read as"),
        (VersionChange.REFUSED, {"kind": "your files"}, "LOOK HERE: nothing that matters changed, but 1 newly refused"),
        (VersionChange.TYPE, {"kind": "mutants of files", "rules": ("r.0",)}, "SAFE"),
        (VersionChange.ERROR, {"kind": "hostile bytes"}, "SAFE"),
        (VersionChange.CURED, {}, "SAFE"),
    ],
)
def test_the_decision_follows_from_what_a_program_notices(
    change: VersionChange, fields: dict[str, Any], expected: str
) -> None:
    """What matters stops; a change of writings, of the user's own data or of a type in valid bytes is worth a look."""
    one = dataclasses.replace(difference("a.000/stream", change, matters=False), **fields)

    assert decision(drift_of(one)).startswith(expected)


def test_a_comparison_without_differences_says_how_much_it_was() -> None:
    """And if the time did not suffice, how far it came."""
    cut = dataclasses.replace(drift_of(), complete=False, left_out=3, plan=DriftPlan(seconds=60))

    assert decision(drift_of()).startswith("SAFE: ")
    assert decision(drift_of()).endswith(" in 9 writings and 7 readings")
    assert decision(cut).endswith(" in 9 writings and 7 readings, as far as 60 s reached")
    assert "3 writings and the last readings were left out after 60 s\n" in as_text(cut)


def test_files_that_were_not_compared_are_named() -> None:
    """Each with the reason."""
    plan = DriftPlan(files=UserFiles(("mine",), (), ("mine/a.csv: CSV, no Arrow data",)))

    assert "not compared: mine/a.csv: CSV, no Arrow data\n" in as_text(dataclasses.replace(DRIFT, plan=plan))


def test_a_replay_line_names_wheel_and_files() -> None:
    """As the user named them."""
    plan = DriftPlan(files=UserFiles(("my data",)))
    wheel = dataclasses.replace(DRIFT, plan=plan, asked={"2.0": "./new one.whl"})

    line = wheel.replay(DIFFERENCES[0])

    assert line == "conformance drift --from 1.0 --to './new one.whl' --files 'my data' --case a.000/stream"


def test_every_difference_can_be_told_alone() -> None:
    """On request each difference has its own replay line."""
    assert as_text(DRIFT, every=True).count("replay  ") == 3


def test_what_versions_have_in_common_is_told_once() -> None:
    """A fault of the versions themselves is one line with the versions that have it."""
    text = as_text(DRIFT)

    assert "  1.0: lacks list_view: not applicable\n" in text
    assert "  2.0: breaks flatbuf.root: b/stream\n" in text
    assert "  every version: writes memory from outside its buffers: u/stream and 1 more\n" in text
    assert text.count("Facts about single versions") == 1


@pytest.mark.parametrize(("versions", "where"), [(("1.0", "3.0"), "1.0, 3.0"), (("2.0", "3.0"), "2.0, 3.0")])
def test_a_fact_about_some_versions_names_them(versions: tuple[str, ...], where: str) -> None:
    """In the order in which they came out."""
    misread = {version: ["m/stream"] if version in versions else [] for version in DRIFT.versions}

    text = as_text(dataclasses.replace(DRIFT, misread=misread))

    assert f"  {where}: does not read back what it wrote: m/stream\n" in text


def test_an_earlier_report_excuses_what_it_knows(tmp_path: Path) -> None:
    """Differences that matter in an earlier report are known; others are not."""
    path = tmp_path / "drift.json"
    path.write_text(json.dumps(as_json(DRIFT)), encoding="utf-8")

    known = read_known(path)

    assert unknown(DRIFT, known) == []
    decided = "LOOK HERE: nothing that matters changed, but 1 layout changed, 2 more are known"
    assert decision(DRIFT, known) == decided
    assert unknown(DRIFT, frozenset()) == list(DIFFERENCES[1:])


def test_a_file_that_is_no_report_is_refused(tmp_path: Path) -> None:
    """Another JSON document excuses nothing."""
    path = tmp_path / "other.json"
    path.write_text("[]", encoding="utf-8")

    with pytest.raises(DriftError, match="expected a report of conformance drift --json"):
        read_known(path)


@pytest.mark.parametrize("change", [{"format": 2}, {"groups": 7}, {"groups": [{}]}])
def test_a_report_of_another_form_is_refused(change: dict[str, Any], tmp_path: Path) -> None:
    """Nothing is known from a report that cannot be read."""
    path = tmp_path / "drift.json"
    path.write_text(json.dumps(as_json(DRIFT) | change))

    with pytest.raises(DriftError, match=r"drift\.json: expected "):
        read_known(path)


def test_json_has_every_case() -> None:
    """Each group names all its cases, and the matrix its counts."""
    document = as_json(DRIFT)

    assert [group["cases"] for group in document["groups"]] == [["a.001/stream", "a.002/stream"], ["a.000/stream"]]
    assert document["matrix"][0]["counts"] == {"equal": 3, "layout changed": 1, "newly refused": 2}
    assert document["matters"] is True


def test_the_page_needs_nothing_else(tmp_path: Path) -> None:
    """The HTML page has the matrix, the groups and the replay lines, and loads nothing."""
    write_html(DRIFT, tmp_path / "drift.html")

    page = (tmp_path / "drift.html").read_text(encoding="utf-8")
    assert '<td class="bad">!R2 L1</td>' in page
    assert "--seed 4 --case a.001/stream" in page
    assert list(faults(ParsedPage(page))) == []
