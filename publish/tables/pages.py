"""The part ``tables`` of :mod:`publish.refresh`: every page with generated tables, the README among them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from publish.generated import ROOT
from publish.tables import (
    avro,
    causes,
    clauses,
    combinations,
    consequences,
    defects,
    flightconsequences,
    flightservers,
    gaps,
    losses,
    probes,
    queryconsequences,
    readme,
    results,
    surface,
    testing,
    untrusted,
    writeservers,
)

TABLES: Final = (
    avro,
    causes,
    clauses,
    combinations,
    consequences,
    defects,
    flightconsequences,
    flightservers,
    gaps,
    losses,
    probes,
    queryconsequences,
    readme,
    results,
    surface,
    testing,
    untrusted,
    writeservers,
)


def render() -> dict[Path, str]:
    """Each page, its text by hand included; a source distribution has no reports to maintainers."""
    pages = {(ROOT / "docs" / table.NAME).resolve(): table for table in TABLES}
    return {page: table.text() for page, table in pages.items() if table is not causes or page.exists()}
