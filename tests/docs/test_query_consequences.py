"""The consequence matrix of query results: it is whole, and the guide says what was measured."""

from __future__ import annotations

from typing import Any, Final

from conformance.clients.consequences import Consequence
from conformance.engine.corpus import load_corpus
from conformance.engine.selection import all_clauses
from conformance.protocols.storage_read.clients.queries import query_mutated, query_varied
from conformance.protocols.storage_read.reference.mutants import MUTANTS
from conformance.protocols.storage_read.reference.servicevariations import SERVICE_VARIATIONS
from conformance.readers.ipc.adapters import QUERY_RESULTS
from conformance.readers.registry import client_readers
from publish.queryclients import row_of
from publish.tables import queryconsequences
from publish.tables.consequences import LEGAL, classes_of
from tests.fixtures import ROOT

REPORT: Final = queryconsequences.load()
PATHS: Final = [one["name"] for one in REPORT["clients"]]
GUIDE: Final = (ROOT / "docs" / "query-results.md").read_text(encoding="utf-8")


def bare(row: dict[str, Any]) -> dict[str, Any]:
    """A row without its cells."""
    return {name: value for name, value in row.items() if name != "cells"}


def by_id(row: dict[str, Any]) -> str:
    """The name of a situation."""
    return str(row["id"])


def test_rows_are_those_of_the_suite() -> None:
    """Each mutant and legal variation that a client sees has a row, with the digest of what it answers now."""
    cases = load_corpus()
    made = [*query_mutated(MUTANTS.values(), cases), *query_varied(SERVICE_VARIATIONS, cases)]
    now = [row_of(one) for one in made]

    assert sorted(map(bare, REPORT["situations"]), key=by_id) == sorted(now, key=by_id)


def test_every_path_is_measured_in_every_row() -> None:
    """No cell is missing, and no path of the suite."""
    assert list(client_readers(QUERY_RESULTS)) == PATHS
    assert [row["id"] for row in REPORT["situations"] if list(row["cells"]) != PATHS] == []


def test_the_guide_names_each_path_and_the_number_of_faults() -> None:
    """With the version that was measured."""
    assert [name for name in PATHS if f"`{name}`" not in GUIDE] == []
    legal = sum(row["group"] == LEGAL for row in REPORT["situations"])
    assert f"{len(REPORT['situations']) - legal} mutants of the reference and {legal} legal variations" in " ".join(
        GUIDE.split()
    )
    assert {one["version"] for one in REPORT["clients"]} == {"2.72.0", "2.76.0", "3.44.0", "3.46.2", "3.47.0"}


def test_the_guide_names_each_silent_loss() -> None:
    """A user of the client does not see them."""
    harmed = {
        row.get("clause", row["group"])
        for row in REPORT["situations"]
        if any(Consequence.LOSS in classes_of(cell) for cell in row["cells"].values())
    }

    assert [clause for clause in sorted(harmed - {LEGAL}) if f"`{clause}`" not in GUIDE] == []
    assert (LEGAL in harmed) == ("| **the rows of the page, no error** | 11 rows | 11 rows |" in GUIDE)


def test_a_sentence_about_a_client_names_no_source_in_place_of_a_measurement() -> None:
    """Where the matrix shows that the client is harmed, the clause says so of the version that was measured."""
    harmless = {Consequence.UNHARMED, Consequence.UNABLE}
    harmed = {
        row.get("clause", row["group"])
        for row in REPORT["situations"]
        if any(not set(classes_of(cell)) <= harmless for cell in row["cells"].values())
    }
    told = {name: all_clauses()[name].breaks for name in harmed - {LEGAL}}

    assert [name for name, breaks in told.items() if "3.47.0" in breaks and "from its source" in breaks] == []
