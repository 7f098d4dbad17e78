"""The programs that show the causes of harm of the Storage Read API do so, with the clients that are built here."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from adapters.building import cache_directory, find
from adapters.spec import shipped
from tests.adapters.faulty import SECONDS, Case, Faulty, cases, clients, go_built, run
from tests.fixtures import ROOT

pytestmark = pytest.mark.slow(env="adapters")

MATRIX: Final = "causes"
CASES: Final = cases(MATRIX)


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Faulty:
    """The server, and the programs that are built for this module."""
    return Faulty(MATRIX, tmp_path_factory.mktemp)


@pytest.mark.timeout(2 * SECONDS)
@pytest.mark.parametrize("case", CASES, ids=["-".join(case[:2]) for case in CASES])
def test_a_cause_is_shown(case: Case, faulty: Faulty, tmp_path: Path) -> None:
    """The program prints what the file of causes says."""
    faulty.check(case, tmp_path)


@pytest.mark.timeout(2 * SECONDS)
@pytest.mark.parametrize("client", clients(MATRIX))
def test_without_a_fault_a_client_reads_the_table(client: str, faulty: Faulty, tmp_path: Path) -> None:
    """Each client gives the four texts in order from a server without a fault."""
    faulty.check_reads(client, tmp_path)


@pytest.mark.timeout(2 * SECONDS)
def test_the_reader_of_arrow_go_has_no_limit(tmp_path: Path) -> None:
    """The program in the report prints what the report says."""
    spec = shipped("client.toml")["bigquery-go"]
    if find(spec) is None:
        pytest.skip("bigquery-go is not built: run python -m adapters bigquery-go")
    report = (ROOT / "docs" / "disclosure" / "arrow-go.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```go\n(.*?)```", report, re.DOTALL)

    done = run(go_built(program, cache_directory(spec), tmp_path), tmp_path, {})

    assert "NewMessageReader: arrow/ipc: message body length 1099511627776 exceeds limit 1048576" in done.stdout
    assert "fatal error: runtime: out of memory" in done.stderr
