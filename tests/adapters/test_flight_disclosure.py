"""The programs that show the causes of harm of Flight do so, with the clients that are built here."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.adapters.faulty import SECONDS, Case, Faulty, cases, clients
from tests.studies import sample

MATRIX: Final = "flight_causes"
CASES: Final = sample(
    cases(MATRIX),
    ("last-missing-python", "metadata-alone-python"),
    env="adapters",
    name=lambda case: f"{case.fault}-{case.client}",
)
CLIENTS: Final = sample(clients(MATRIX), ("python",), env="adapters")


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Faulty:
    """The server, and the programs that are built for this module."""
    return Faulty(MATRIX, tmp_path_factory.mktemp)


@pytest.mark.timeout(2 * SECONDS)
@pytest.mark.parametrize("case", CASES)
def test_a_cause_is_shown(case: Case, faulty: Faulty, tmp_path: Path) -> None:
    """The program prints what the file of causes says."""
    faulty.check(case, tmp_path)


@pytest.mark.timeout(2 * SECONDS)
@pytest.mark.parametrize("client", CLIENTS)
def test_without_a_fault_a_client_reads_the_table(client: str, faulty: Faulty, tmp_path: Path) -> None:
    """Each client gives the four texts in order from a server without a fault."""
    faulty.check_reads(client, tmp_path)
