"""The targets for servers of the Storage Write API: complete files, and docs that name each failure."""

from __future__ import annotations

import json
import re

import pytest

from conformance.records import Level, Outcome
from conformance.targets import load_target
from conformance.targets.shipped import shipped_targets
from publish.emulators import WRITES
from tests.fixtures import ROOT


def test_every_server_of_others_is_published() -> None:
    """Each target file of the kind, but for that of the suite's own server."""
    shipped = {name for name in shipped_targets() if load_target(name).kind == "storage-write"}

    assert shipped - {"storage-write-reference"} == set(WRITES)


@pytest.mark.parametrize("name", WRITES)
def test_a_target_is_prepared_as_that_of_the_reads(name: str) -> None:
    """Both files are about one version of one server: they install and start the same."""
    writes, reads = load_target(name), load_target(name.removeprefix("write-"))

    assert (writes.environment, writes.start, writes.ready) == (reads.environment, reads.start, reads.ready)
    assert (writes.title, writes.version, writes.homepage) == (reads.title, reads.version, reads.homepage)


@pytest.mark.parametrize("name", WRITES)
def test_the_docs_name_what_a_server_fails(name: str) -> None:
    """The page has a row for each MUST clause that fails in the report, and for no other."""
    page = (ROOT / "docs" / "storage-write.md").read_text("utf-8")
    rows = re.findall(rf"^\| {re.escape(name)} \| MUST \| [^|]+ \| ([^|]+) \|", page, re.MULTILINE)
    report = json.loads((ROOT / "reports" / "storage-write" / f"{name}.json").read_text("utf-8"))
    failed = [
        one["id"] for one in report["clauses"] if Outcome(one["outcome"]).fails_run and one["level"] == Level.MUST
    ]

    assert sorted(clause for row in rows for clause in re.findall(r"`([^`]+)`", row)) == sorted(failed)
