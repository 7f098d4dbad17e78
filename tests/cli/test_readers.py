"""``conformance run`` with the real clients."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.typed import conformance_


def test_a_client_reads_what_a_session_selects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``list_rows`` has no restriction and no path: its session is another, and the bytes are those of the case."""
    monkeypatch.chdir(tmp_path)

    result = conformance_(
        "run", "--select", "projection.deep-path", "--select", "restriction.and-or", "--reader", "bigquery.list-rows"
    )

    assert result.exit_code == 0, result.output
    assert "PASSED" in result.output
