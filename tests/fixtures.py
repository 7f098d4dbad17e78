"""Files from outside the repository that some tests read where they are present.

``shared/fixtures`` next to the repository has bytes captured from the real service (published with the
Spark BigQuery connector and Apache Pekko connectors) and golden files of apache/arrow-testing.
They are not part of the repository; a test that wants one is skipped, with the reason, where they are absent.
"""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT.parent / "shared" / "fixtures"


def fixture(*parts: str) -> Path:
    """The path of a fixture file or folder; skips the calling test where it is absent."""
    path = FIXTURES.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{'/'.join(parts)} is not beside the repository (shared/fixtures holds the captured bytes)")
    return path


def real_bigquery(name: str) -> bytes:
    """The bytes of a file captured from the real service."""
    return fixture("real-bigquery", name).read_bytes()
