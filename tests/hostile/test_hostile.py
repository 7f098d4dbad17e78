"""A part of the hostile set: outcomes, orphans and reports, but no times.

``python -m tests.hostile`` runs the whole set and measures it.
"""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeGuard

import pytest

from tests.hostile import setups
from tests.hostile.attack import ATTACKS, Part, attacks, slug
from tests.hostile.measure import Measured, heed_interrupts, measure
from tests.studies import sample

TRIED: Final = (
    "grpc.hang-in-stream",
    "grpc.endless-empty-responses",
    "grpc.segfault-in-stream",
    "grpc.session-is-garbage",
    "grpc.million-streams",
    "wire.garbage",
    "wire.rst-stream",
    "rest.dripping-headers",
    "rest.endless-body",
    "rest.slow-redirects",
    "rest.redirects-elsewhere",
    "rest.chunk-of-2-to-the-70",
    "rest.html",
    "rest.deep-json",
    "rest.rows-of-odd-shapes",
    "life.leaves-a-daemon",
    "life.dies-with-hostile-words",
    "serializer.segfaults",
    "serializer.exits",
    "serializer.patches-the-library",
    "program.half-a-line",
    "program.odd-values",
    "program.exits-quietly",
    "program.hostile-words",
    "reader.segfaults",
    "bytes.deep-types",
    "bytes.metadata-of-2-gib",
    "text.status-for-terminals",
    "text.status-for-builds",
    "text.status-is-no-utf8",
    "text.column-names",
    "text.metadata",
    "text.rest-lone-surrogates",
    "process.interrupt-while-starting",
    "process.kill-in-the-middle",
    "process.closed-output",
    "process.no-locale",
    "process.secrets-in-the-environment",
    "small.case-of-many-items",
    "disk.log-on-a-full-disk",
    "disk.home-of-an-earlier-run",
    "disk.deadline-nan",
    "disk.format-width",
)
"""Attacks of every kind, each quick where it is met well; ``tox -e studies`` tries all of them."""
QUICK: Final = ("grpc.session-is-garbage", "text.status-for-terminals", "bytes.deep-types", "disk.deadline-nan")
"""Those in the quick set: on a server by its answer and by its words, on a decoder, on the command."""
TABLE_NAME: Final = 40
"""The characters of a case's name that the suite puts into the name of its table."""
BESIDE: Final = 2
"""Commands at one time: most of them wait for a deadline."""


def _asks(item: pytest.Item) -> TypeGuard[pytest.Function]:
    """Whether a test of this run is about one attack."""
    return isinstance(item, pytest.Function) and "met" in item.fixturenames


@pytest.fixture(scope="module")
def met(request: pytest.FixtureRequest) -> dict[str, Measured]:
    """Every attack of this run, those together that can share a command."""
    heed_interrupts()
    attacks()
    asked = [str(item.callspec.params["name"]) for item in request.session.items if _asks(item)]
    with ThreadPoolExecutor(BESIDE) as pool:
        groups = pool.map(measure, setups.groups([ATTACKS[name] for name in asked]))
        return {one.attack.id: one for group in groups for one in group}


@pytest.mark.parametrize("name", sample(TRIED, QUICK, env="studies"))
def test_an_attack_costs_its_case_and_nothing_else(name: str, met: dict[str, Measured]) -> None:
    """The attacked case has the right outcome, the next one passes, nothing is left behind, every report is valid."""
    one = met[name]

    assert (one.wrong, one.invalid) == ((), ())


def test_every_kind_is_among_the_quick_ones() -> None:
    """But campaigns, which need Spark."""
    kinds = Counter(attack.kind for attack in attacks().values() if not attack.slow)

    assert set(kinds) <= {name.partition(".")[0] for name in TRIED}


def test_the_name_of_a_case_fits_into_that_of_its_table() -> None:
    """By which a server finds the attack: of a longer one it would serve the table, and nobody would be attacked."""
    parts = (Part.SESSION, Part.ROWS, Part.WIRE, Part.REST)
    long = [one.id for one in attacks().values() if one.part in parts and len(slug(f"{one.id}@avro")) > TABLE_NAME]

    assert long == []
