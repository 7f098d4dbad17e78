"""A small site for tests: a report for most boards, a reader with a hostile name, a few faults and clauses."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, Final

from publish.site.__main__ import make
from publish.site.published import Published
from tests.fixtures import ROOT

__all__ = ["CLAUSES", "EVIL", "SERVER", "small", "small_site"]

SERVER: Final = "bqemulator-1.4.0"
EVIL: Final = "<script>alert(1)</script>&\"'"
"""What a program under test may call itself."""
CLAUSES: Final = frozenset(
    {
        *("framing.schema-without-end-of-stream", "reader.survives", "case", "offsets.end-is-served"),
        "query-results.page-count-is-true",  # which no published report judges
    }
)


def small(root: Path) -> Published:
    """The published files of the small site, below ``root``."""
    reports = root / "reports"
    (reports / "readers").mkdir(parents=True)
    (root / "targets").mkdir()
    shutil.copy(ROOT / "reports" / f"{SERVER}.json", reports)
    shutil.copy(ROOT / "reports" / "drift.json", reports)
    shutil.copy(ROOT / "targets" / f"{SERVER}.toml", root / "targets")
    writes = "storage-write/write-local-bigquery-0.3.2.json"
    for name in ("flight/flight-sail-0.7.2.json", writes, "writers/nanoarrow.json"):
        (reports / name).parent.mkdir()
        shutil.copy(ROOT / "reports" / name, reports / name)
    reader = loaded("readers/arrow-rs.json")
    reader["run"]["target"] = f"{EVIL} 60.1.0"
    reader["deviations"][0]["text"] = EVIL
    (reports / "readers" / "evil.json").write_text(json.dumps(reader), encoding="utf-8")
    for name in ("clients.json", "query-clients.json", "flight-clients.json"):
        clients = loaded(name)
        clients["situations"] = clients["situations"][:6]
        clients["situations"][0]["what"] = EVIL
        clients["clients"][0]["title"] = EVIL
        (reports / name).write_text(json.dumps(clients), encoding="utf-8")
    return Published(root)


def loaded(name: str) -> dict[str, Any]:
    """A published JSON file."""
    read: dict[str, Any] = json.loads((ROOT / "reports" / name).read_text(encoding="utf-8"))
    return read


def small_site(folder: Path) -> Path:
    """The small site, made below ``folder``."""
    make(folder / "site", small(folder), docs=False, clauses=CLAUSES)
    return folder / "site"
