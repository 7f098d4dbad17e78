"""The page on findings that one implementation alone has: it names those that the published reports show."""

from __future__ import annotations

import re
from typing import Final

import pytest

from publish.tables.ipc import DRIFT_FINDINGS, IPC_FINDINGS
from publish.tables.results import failing
from tests.fixtures import ROOT

PAGE: Final = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
SERVERS: Final = ("bqemulator-1.4.0", "local-bigquery-0.3.2", "bigquery-local-0.7.1", "bigquery-rs-0.9.0")
"""Servers that share no code; the other published versions of bqemulator are relatives of the first."""
SERIALIZERS: Final = ("pyarrow", "nanoarrow", "arro3", "arrow-go", "arrow-java")
"""Libraries that can write what BigQuery does, and deviate nowhere; polars cannot, and the page says why."""
_ROW: Final = re.compile(r"^\| (\S+) \| [^|]+ \| ([^|]+) \| [^|]+ \|$", re.MULTILINE)


def rows(table: str) -> list[tuple[str, str]]:
    """The implementation and one of its clauses, for every clause of every row of a table of the page."""
    (block,) = re.findall(rf"<!-- {table} -->\n(.*?)<!-- end -->", PAGE, re.DOTALL)
    return [(name, clause) for name, clauses in _ROW.findall(block) for clause in re.findall(r"`([^`]+)`", clauses)]


def judged(group: tuple[str, ...]) -> dict[str, set[str]]:
    """The clauses that each of a group fails."""
    return {name: set(failing(name)) for name in group}


def test_no_finding_is_left_out() -> None:
    """Every clause that one of the servers fails and no other is in a row of the table."""
    failed = judged(SERVERS)
    alone = {
        (name, clause)
        for name, clauses in failed.items()
        for clause in clauses.difference(*(failed[other] for other in failed if other != name))
    }

    assert sorted(alone - set(rows("servers"))) == []


def test_every_finding_is_in_its_report() -> None:
    """A row names one of the servers, and clauses that fail in its published report."""
    failed = judged(SERVERS)

    assert {name for name, _ in rows("servers")} <= set(SERVERS)
    assert [row for row in rows("servers") if row[1] not in failed[row[0]]] == []


def test_the_libraries_that_deviate_nowhere_do_not() -> None:
    """In their published reports."""
    assert {name: clauses for name, clauses in judged(SERIALIZERS).items() if clauses} == {}


def test_a_source_is_named_for_each() -> None:
    """A file with its lines, a file, or the bytes."""
    (*found,) = re.findall(r"^\| \S+ \| [^|]+ \| `[^|]+` \| ([^|]+) \|$", PAGE, re.MULTILINE)

    assert [text for text in found if "bytes" not in text and not re.search(r"`[\w/-]+\.(?:py|go|rs|js)`", text)] == []


TOLD: Final = (
    "README.md",
    *(f"docs/{name}.md" for name in ("results", "findings", "flight-servers", "flight-clients", "clients")),
)
"""The pages on what others' software does."""
_ENDS: Final = re.compile(
    r"\bends? the process|\bpanic|\bSIG[A-Z]{3,}|process crashes|\bcrash(?:es)? on\b|never (?:answered|finishes)"
    r"|\bfor ever\b|memory (?:from )?behind|bytes that nobody sent"
)
"""What a page says of a crash, a hang or a fault of memory."""


def unpublished(page: str) -> list[str]:
    """The rows, items and paragraphs on a crash, a hang or a fault of memory without a public address."""
    blocks = re.split(r"\n(?=\n|- |\| )", re.sub(r"```.*?```|!\[[^\]]*\]", "", page, flags=re.DOTALL))
    return [
        block.strip() for block in blocks if _ENDS.search(block) and "https://" not in block and "24.0.0" not in block
    ]


@pytest.mark.parametrize("name", TOLD)
def test_a_crash_has_a_public_address(name: str) -> None:
    """Or the page says that a report is ready, and nothing else; one that a newer version repairs may be told."""
    assert unpublished((ROOT / name).read_text(encoding="utf-8")) == []


def test_a_crash_without_an_address_is_found() -> None:
    """In a row, an item or a paragraph; an address in the next one does not count."""
    assert unpublished("- x 1.0 panics.\n- y: [thread](https://example.org)\n") == ["- x 1.0 panics."]
    assert unpublished("x 1.0 ends the process\n(https://example.org).\n") == []


def test_no_program_of_a_finding_crashes_a_current_release() -> None:
    """Such a program is in a report to maintainers."""
    latest = max(DRIFT_FINDINGS, key=lambda each: [int(part) for part in each.version.split(".")]).version

    assert [each.program for each in IPC_FINDINGS if each.ends] == []
    assert [each.program for each in DRIFT_FINDINGS if each.ends and each.version == latest] == []
