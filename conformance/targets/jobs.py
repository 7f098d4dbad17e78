"""Jobs over REST: the wait until one is done, and the query that makes a table of a case's table.

Sources: https://cloud.google.com/bigquery/docs/reference/rest/v2/Job (states, errors, ``destinationTable``) and
https://cloud.google.com/bigquery/docs/writing-results (the table of a result, anonymous or named).
"""

from __future__ import annotations

import json
import threading
import time
from typing import Any, Final

from conformance.contain.text import safe
from conformance.targets.names import Names
from conformance.targets.restway import RestTables
from conformance.targets.seeds import Row, check_time
from conformance.targets.sql import ordered_statement, select_statement
from conformance.targets.targeterrors import CannotSeed

__all__ = ["FIRST_PAUSE", "LONGEST_PAUSE", "JobError", "finished", "query_table"]

FIRST_PAUSE: Final = 0.02
LONGEST_PAUSE: Final = 2.0
"""Seconds between questions whether a job is done, or whether its rows are seen."""

RESULT: Final = "_result"
"""The end of the name of the table that a query writes."""


class JobError(Exception):
    """A job failed, for the reason ``reason``."""

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(text)
        self.reason = reason


def finished(tables: RestTables, project: str, noun: str, job: Row, until: float) -> Row:
    """Ask for a job, which errors call ``noun``, until it is done, and return it then.

    Raises:
        JobError: it failed.
        CannotSeed: the answer is no job, or ``until`` on the monotonic clock has passed.
    """
    pause = FIRST_PAUSE
    while _part(job, "status").get("state") != "DONE":
        threading.Event().wait(max(0.0, min(pause, until - time.monotonic())))
        pause = min(2 * pause, LONGEST_PAUSE)
        check_time(until)
        named = _part(job, "jobReference")
        job_id, location = named.get("jobId"), named.get("location")
        if not isinstance(job_id, str) or not job_id:
            raise CannotSeed(f"expected the {noun} to have a jobId and a state")
        where = {"location": location} if isinstance(location, str) else {}
        job = tables.get(f"/bigquery/v2/projects/{project}/jobs/{job_id}", where, until=until, shown=0)
    if error := _part(job, "status").get("errorResult"):
        reason = error.get("reason") if isinstance(error, dict) else ""
        said = f"the {noun} failed: {safe(json.dumps(error, ensure_ascii=False), 500)}"
        raise JobError(said, reason if isinstance(reason, str) else "")
    return job


def query_table(tables: RestTables, names: Names, *, into: bool = False, ordered: bool = False, until: float) -> Names:
    """Select a whole table, into a table of its own or without a destination; returns the names of the result.

    Raises:
        CannotSeed: the server refuses the query, it fails, or the answer does not name its table.
    """
    statement = ordered_statement(names) if ordered else select_statement(names)
    query: dict[str, Any] = {"query": statement, "useLegacySql": False, "useQueryCache": False}
    if into:
        own = names.table + RESULT
        query["destinationTable"] = {"projectId": names.project, "datasetId": names.dataset, "tableId": own}
        query["writeDisposition"] = "WRITE_TRUNCATE"
    path = f"/bigquery/v2/projects/{names.project}/jobs"
    try:
        begun = tables.post(path, {"configuration": {"query": query}}, until=until)
        job = finished(tables, names.project, "query", begun, until)
    except JobError as error:
        raise CannotSeed(str(error)) from None
    tables.scan_of(_part(job, "statistics").get("totalBytesProcessed"))
    result = _part(_part(_part(job, "configuration"), "query"), "destinationTable")
    project, dataset, table = (result.get(key) for key in ("projectId", "datasetId", "tableId"))
    if not (isinstance(project, str) and isinstance(dataset, str) and isinstance(table, str) and table):
        raise CannotSeed("expected the finished query to name its destinationTable")
    named = _part(job, "jobReference")
    place = f"projects/{names.project}/locations/{named.get('location')}/jobs/{named.get('jobId')}"
    return Names(project, dataset, table, place if {"location", "jobId"} <= named.keys() else "")


def _part(job: Row, key: str) -> Row:
    part = job.get(key)
    return part if isinstance(part, dict) else {}
