"""Recorded digests: written, read back, and compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.drift.digests import CaseDigests, check_digests, digests_of, read_digests, write_digests
from conformance.drift.versions import DriftError, VersionAnswer

WRITTEN = [
    VersionAnswer("a.000/stream", "written", data=b"bytes"),
    VersionAnswer("a.000/file", "refused", error="ArrowInvalid", text="no"),
    VersionAnswer("a.001/stream", "lacking", text="no list_view"),
]
VALUES = [VersionAnswer("a.000", "rows", digest="00ff"), VersionAnswer("a.001", "lacking")]


def test_digests_say_bytes_values_and_refusals() -> None:
    """Each case has its values, and each writing its bytes or why there are none."""
    found = digests_of(0, WRITTEN, VALUES)

    assert found.cases["a.000"] == {
        "values": "00ff",
        "stream": "277089d91c0b",
        "file": "ArrowInvalid: no",
    }
    assert found.cases["a.001"] == {"values": "lacking", "stream": "lacking"}


def test_what_was_recorded_is_read_again(tmp_path: Path) -> None:
    """A recorded file holds the digests, one case a line."""
    found = digests_of(3, WRITTEN, VALUES)

    write_digests(tmp_path, "24.0.0", found)

    assert read_digests(tmp_path, "24.0.0") == found
    assert len((tmp_path / "24.0.0.json").read_text().splitlines()) == 4


def test_a_later_version_has_the_cases_that_differ_from_the_one_before(tmp_path: Path) -> None:
    """Whichever is recorded first, and if the oldest is recorded again."""
    old = CaseDigests(0, {"a": {"values": "1"}, "b": {"values": "2"}})
    new = CaseDigests(0, {"a": {"values": "1"}, "b": {"values": "3"}, "c": {"values": "4"}})
    again = CaseDigests(0, {"a": {"values": "5"}, "b": {"values": "2"}})
    for version, digests in (("24.0.0", new), ("9.0.0", old), ("24.0.0", new), ("9.0.0", again)):
        write_digests(tmp_path, version, digests)

    assert (read_digests(tmp_path, "9.0.0"), read_digests(tmp_path, "24.0.0")) == (again, new)
    write_digests(tmp_path, "9.0.0", old)
    assert json.loads((tmp_path / "24.0.0.json").read_text())["cases"].keys() == {"b", "c"}


def test_a_version_without_some_cases_or_of_another_seed_stands_alone(tmp_path: Path) -> None:
    """The file of another version would add to it what it does not have."""
    write_digests(tmp_path, "9.0.0", CaseDigests(0, {"a": {"values": "1"}, "b": {"values": "2"}}))
    for other in (CaseDigests(0, {"a": {"values": "1"}}), CaseDigests(1, {"a": {"values": "1"}, "b": {"values": "2"}})):
        write_digests(tmp_path, "24.0.0", other)

        assert read_digests(tmp_path, "24.0.0") == other


@pytest.mark.parametrize("base", ["../9.0.0", "24.0.0", "25.0.0"])
def test_a_base_is_an_earlier_version_in_the_same_folder(base: str, tmp_path: Path) -> None:
    """A record from elsewhere leads to no other file, and to no loop."""
    (tmp_path / "24.0.0.json").write_text('{"format": 2, "seed": 0, "base": "BASE", "cases": {}}'.replace("BASE", base))

    with pytest.raises(DriftError, match="an earlier version as base"):
        read_digests(tmp_path, "24.0.0")


@pytest.mark.parametrize("format_", [1, 2])
def test_a_record_of_an_earlier_format_is_compared_by_the_digits_of_today(format_: int, tmp_path: Path) -> None:
    """It had 32 of each digest; a text in place of a digest is compared whole."""
    found = digests_of(0, WRITTEN, VALUES)
    old = {"values": "00ff", "stream": "277089d91c0bdf4f2e6862ba7e4a0760", "file": "ArrowInvalid: no"}
    cases = {"a.000": old, "a.001": dict(found.cases["a.001"])}
    (tmp_path / "24.0.0.json").write_text(json.dumps({"format": format_, "seed": 0, "cases": cases}))

    assert list(check_digests("24.0.0", read_digests(tmp_path, "24.0.0"), found)) == []


def test_every_difference_from_the_record_is_told() -> None:
    """A changed digest, a new case and a gone case are three complaints; none is one too many."""
    recorded = CaseDigests(0, {"a": {"values": "1", "stream": "2"}, "gone": {"values": "1"}})
    now = CaseDigests(0, {"a": {"values": "1", "stream": "3"}, "new": {"values": "1"}})

    assert list(check_digests("24.0.0", recorded, now)) == [
        "24.0.0: a/stream: expected 2, got 3",
        "24.0.0: new/values: expected nothing, got 1",
        "24.0.0: gone: recorded, and no longer tried",
    ]
    assert list(check_digests("24.0.0", now, now)) == []


def test_another_seed_is_one_complaint() -> None:
    """Digests of another seed are not compared one by one."""
    assert list(check_digests("24.0.0", CaseDigests(1, {}), CaseDigests(0, {"a": {}}))) == [
        "24.0.0: recorded with seed 1, run with seed 0"
    ]


def test_a_version_without_a_record_is_unusable(tmp_path: Path) -> None:
    """A missing or broken record names its file and what to do."""
    with pytest.raises(DriftError, match=r"24\.0\.0\.json: cannot read: .*; record it with"):
        read_digests(tmp_path, "24.0.0")
    (tmp_path / "24.0.0.json").write_text("{}")
    with pytest.raises(DriftError, match="expected recorded digests"):
        read_digests(tmp_path, "24.0.0")
