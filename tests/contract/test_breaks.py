"""Whom a broken clause breaks: sentences about software are measured, reported in public, or marked as read."""

from __future__ import annotations

import re
from typing import Final

import pytest

from conformance.contract.clause import CLAUSES, CLIENT_BASIS, load_chapters

load_chapters()

SOFTWARE: Final = re.compile(
    r"\b(ADBC|apache-arrow|arro3|Arrow C\+\+|arrow-rs|Beam|Dataflow|DuckDB|duckdb-bigquery|Flink|Go|google-cloud-\w+"
    r"|Java|JavaScript|nanoarrow|\.NET|Node|pandas|Polars|pyarrow|python-bigquery\w*|R|Rust|Spark|Trino)\b"
)

SENTENCE_END: Final = re.compile(r";|(?<=[a-z)`])\. ")


@pytest.mark.parametrize("clause", [one.id for one in CLAUSES.values() if SOFTWARE.search(one.breaks)])
def test_what_is_said_of_software_was_measured(clause: str) -> None:
    """Software is named with the version that was run, with the public report of it, or as known from its source. The
    basis of one sentence is none of another.
    """
    for sentence in SENTENCE_END.split(CLAUSES[clause].breaks):
        assert CLIENT_BASIS.search(sentence) or not SOFTWARE.search(sentence), sentence
