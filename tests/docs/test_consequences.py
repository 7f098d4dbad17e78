"""The consequence matrix: it is whole, and what clauses and findings say about clients is what was measured."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any, Final

import pytest

from conformance.clients.consequences import Consequence
from conformance.engine.selection import all_clauses
from conformance.protocols.storage_read.clients.situations import faulty
from conformance.protocols.storage_read.reference.mutants import MUTANTS
from conformance.readers.registry import client_readers
from publish.tables import consequences
from publish.tables.results import FINDINGS
from tests.fixtures import ROOT

REPORT: Final = consequences.load()
NAMED: Final = {
    "bigquery-go": re.compile(r"\bGo\b(?! sample)|cloud\.google\.com/go"),
    "bigquery-java": re.compile(r"\bJava\b"),
    "bigquery-node": re.compile(r"\bNode\b"),
    "bigquery-python": re.compile(r"google-cloud-bigquery(?!storage)|python-bigquery|Python clients"),
    "bigquery-rust": re.compile(r"\bRust\b"),
}
"""How sentences name the clients of the matrix."""
HARMLESS: Final = {Consequence.UNHARMED, Consequence.UNABLE}
ROWS: Final[dict[str, dict[str, Any]]] = {row["clause"]: row for row in REPORT["situations"] if "clause" in row}
SENTENCES: Final = [
    *((clause.id, clause.breaks) for clause in all_clauses().values() if clause.id in ROWS),
    *((clause, finding.what) for finding in FINDINGS for clause in finding.clauses[:1] if clause in ROWS),
]


def about_clients() -> list[tuple[str, str, str]]:
    """The parts of sentences that name a client of the matrix: the clause, the part, and the client."""
    measured = {name.partition(".")[0] for name in versions()}
    return [
        (clause, part.strip(), client)
        for clause, sentence in SENTENCES
        for part in re.split(r"[;.] ", re.sub(r"https://\S+", "", sentence))
        for client, names in NAMED.items()
        if client in measured and names.search(part)
    ]


def versions() -> dict[str, str]:
    """The version of each path."""
    return {one["name"]: one["version"] for one in REPORT["clients"]}


@pytest.mark.parametrize(("clause", "part", "client"), about_clients())
def test_a_sentence_about_a_client_is_backed_by_a_run(clause: str, part: str, client: str) -> None:
    """The matrix shows that the client is harmed; the sentence names the version, and no source in place of it."""
    cells = {name: cell for name, cell in ROWS[clause]["cells"].items() if name.startswith(f"{client}.")}
    harmed = [name for name, cell in cells.items() if not set(consequences.classes_of(cell)) <= HARMLESS]

    assert harmed, f"no path of {client} is harmed: {part}"
    assert any(versions()[name] in part for name in cells), f"no measured version of {client}: {part}"
    assert not re.search(r"from (its|their) source", part)


def test_each_cell_was_measured_in_every_round() -> None:
    """A cell of unequal rounds has all of them, and each cell names the suite that measured it."""
    found = [cell for row in REPORT["situations"] for cell in row["cells"].values()]
    unequal = [cell["classes"] for cell in found if "classes" in cell]

    assert all(len(classes) == REPORT["rounds"] and len(set(classes)) > 1 for classes in unequal)
    assert (REPORT["unequal"], REPORT["cells"]) == (len(unequal), len(found))
    assert all(REPORT["suites"][cell["suite"]]["commit"] for cell in found)


def test_what_is_not_measured_is_said() -> None:
    """A path without a cell has the mark for it in that row, and the page counts these cells."""
    page = (ROOT / "docs" / consequences.NAME).read_text(encoding="utf-8")
    missing = [name for row in REPORT["situations"] for name in versions() if name not in row["cells"]]
    marks = [mark for line in page.splitlines() if line.startswith("| `") for mark in line.split(" | ")[1:]]

    assert f"; {len(missing)} cells are not measured." in page
    assert [mark.strip(" |") for mark in marks].count(consequences.UNMEASURED) == len(missing)


def test_the_matrix_has_the_size_of_its_promise() -> None:
    """At least sixty faults, and every path of the suite is measured or said to be absent."""
    assert len(REPORT["situations"]) >= 60
    assert {*versions(), *REPORT["absent"]} <= set(client_readers())


def test_situations_are_those_of_the_suite() -> None:
    """Each row is a plan or a mutant that is there, with the clause that it kills first, one for each clause."""
    plans = {one.id for one in faulty()}
    mutants = [row for row in REPORT["situations"] if "clause" in row]

    assert {row["id"] for row in REPORT["situations"]} - plans == {row["id"] for row in mutants}
    assert [row["id"] for row in mutants if MUTANTS[row["id"].removeprefix("mutant.")].kills[0] != row["clause"]] == []
    assert len({row["clause"] for row in mutants}) == len(mutants)


def test_the_page_has_every_row() -> None:
    """The table of each group names each of its faults, with a mark for each path."""
    page = (ROOT / "docs" / consequences.NAME).read_text(encoding="utf-8")

    for row in REPORT["situations"]:
        name = row.get("clause", row["id"].removeprefix(f"{row['group']}."))
        (line,) = [each for each in page.splitlines() if each.startswith(f"| `{name}`: ")]
        assert line.count(" | ") >= len(versions())


def test_no_text_of_a_client_is_published() -> None:
    """Faults of a release that are not public are shown by class alone."""
    assert {key for row in REPORT["situations"] for cell in row["cells"].values() for key in cell} <= {
        "class",
        "classes",
        "suite",
    }


FAULTY: Final = ROOT / "docs" / "examples" / "faulty"


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("none", "['a', 'bb', 'ccc', 'dddd']"),
        ("offset-ignored", "['a', 'bb', 'a', 'bb', 'ccc', 'dddd']"),
        ("refused", "403 as the fault says"),
    ],
)
def test_a_class_is_reproduced(fault: str, said: str) -> None:
    """The Python client's rows are those of the guide's table."""
    pytest.importorskip("google.cloud.bigquery_storage_v1")
    command = [sys.executable, "server.py", fault, sys.executable, "client.py"]

    done = subprocess.run(command, cwd=FAULTY, capture_output=True, text=True, check=False)

    assert said in done.stdout + done.stderr
    assert bool(done.returncode) == (fault == "refused")
