"""Why a mutant fails clauses beside the intended one: what several mutants have in common."""

from __future__ import annotations

from typing import Final

__all__ = ["IN_AVRO", "IN_CHILDREN", "IN_EVERY_SESSION", "IN_PARTS", "IN_READS", "IN_RESULTS"]

IN_AVRO: Final = {"avro.*": "the fault shows in sessions in AVRO too"}
"""The clauses on AVRO, for which a service serves the same rows, offsets and counts."""

IN_RESULTS: Final = {"query-results.*": "the fault shows in the pages and streams of queries' jobs too"}
"""The clauses on query results, for which a service uses the same batches, and reads of streams."""

IN_READS: Final = {**IN_AVRO, **IN_RESULTS}
"""Both."""

IN_CHILDREN: Final = {"split.*": "the fault shows in the children of a split, which are read in parts too"}
"""The clauses on splits, whose children are read and resumed as other streams are."""

IN_PARTS: Final = {
    **IN_READS,
    "history.*": "the fault shows in sessions that are read in parts, resumed and split too",
    "rows.query-result-is-the-table": "the fault shows in sessions on the result of a query too",
    "rows.ordered-result-keeps-its-order": "the fault shows in sessions on the ordered result of a query too",
    "rows.partitions-are-the-table": "the fault shows in sessions on a partitioned table too",
    "snapshot.table-made-again-is-new": "the fault shows in a table that was made again too",
}
"""The clauses on features in combination, which fail with a fault of one feature."""

IN_EVERY_SESSION: Final = {
    **IN_PARTS,
    "abandon.later-read-is-whole": "the rows are wrong after abandoned reads too",
    "columns.*": "the rows are wrong in sessions around a change of columns too",
    "compression.*rows-are-the-same": "the rows are wrong in sessions with compression too",
    "offsets.*": "the rows are wrong in resumed reads too, which count on the end of the whole read",
    "projection.filter-may-use-other-columns": "the rows are wrong in filtered projections too",
    "responses.*-arrive": "the rows are wrong in large tables too",
    "restriction.*": "the rows are wrong in restricted sessions too",
    "snapshot.*": "the rows are wrong in sessions around an append too",
}
"""The clauses that fail if the rows of every session are wrong: each kind of session has its own clauses on rows."""
