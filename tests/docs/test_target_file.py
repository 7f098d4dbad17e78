"""The page on the target file names every key that a target file may have, and no other."""

from __future__ import annotations

import dataclasses
import re
import typing
from collections.abc import Iterator

from conformance.targets.owntable import own_tables
from conformance.targets.spec import TargetSpec
from tests.fixtures import ROOT

PAGE = ROOT / "docs" / "target-file.md"
NO_KEYS = {"file", "seed.program.restarts"}
"""Where the file was read from; and what makes no sense for a program that is no server."""


OWN = "own"
"""The table that has the name of the kind of its targets."""


def keys(kind: type, before: str = "") -> Iterator[str]:
    """The keys of a table and of the tables in it, each with the names of its tables in front."""
    hints = typing.get_type_hints(kind)
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]  # every caller has a dataclass
        if field.name == OWN:
            for table in own_tables():
                yield from keys(table, f"{table.TAG}.")
            continue
        hint = hints[field.name]
        tables = [one for one in (hint, *typing.get_args(hint)) if dataclasses.is_dataclass(one)]
        if tables:
            yield from keys(typing.cast(type, tables[0]), f"{before}{field.name}.")
        else:
            yield f"{before}{field.name}"


def test_the_page_names_every_key() -> None:
    """In the first column of its table, so that a key can be looked up."""
    table = PAGE.read_text(encoding="utf-8").partition("\n## Every key\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]

    named = [key for row in rows for key in re.findall(r"`([\w.]+)`", row)]

    assert sorted(named) == sorted({*keys(TargetSpec)} - NO_KEYS)
