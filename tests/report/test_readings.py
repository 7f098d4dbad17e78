"""A reader is shown by what it made of inputs, legal and malformed."""

from __future__ import annotations

from conformance.report.reading import read_report
from conformance.report.readings import readings
from tests.fixtures import ROOT


def test_every_reading_is_in_one_part() -> None:
    """What is read right, gives an error, or wrong rows, or ends the reader is all that there is."""
    paths = sorted((ROOT / "reports" / "readers").glob("*.json"))
    for path in paths:
        legal, malformed = readings(read_report(path))
        every = int(legal.words.split(" of ")[1].split(" ")[0].replace(",", ""))

        assert sum(count for _, count in legal.parts) == every, path
        assert [kind for kind, _ in legal.parts] == ["pass", "blank", "fail"]
        assert [kind for kind, _ in malformed.parts] == ["pass", "expected", "fail"]
    assert len(paths) > 5


def test_crashes_hangs_and_wrong_rows_are_counted() -> None:
    """In the words, with the number of inputs."""
    legal, malformed = readings(read_report(ROOT / "reports" / "readers" / "arro3.json"))

    assert legal.words == "6,116 of 6,554 read right · 39 with wrong rows · 20 crashes · 379 errors"
    assert legal.parts == (("pass", 6116), ("blank", 379), ("fail", 59))
    assert malformed.words == (
        "262 crashes, 43 hangs in 2,738 · 56 accepted that are to be refused · 1 with wrong rows"
    )


def test_a_report_on_a_server_has_none() -> None:
    """It judges what is sent."""
    assert readings(read_report(ROOT / "reports" / "reference.json")) == ()
