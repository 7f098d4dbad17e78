"""Load jobs of the reference: an upload of Parquet, in the two parts of one body, appended to a table that exists.

Source: https://cloud.google.com/bigquery/docs/reference/rest/v2/Job
"""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from conformance.reference.catalogue import Catalogue, MissingError, TableId, stored_schema

__all__ = ["Jobs"]


class Jobs:
    """The jobs of one server, by id. A job is answered as running, and is done when it is asked for."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._errors: list[str] = []

    def load(self, project: str, upload: bytes) -> dict[str, Any]:
        """Carry out the load job in ``upload``; raises ValueError if it has no job of two parts."""
        delimiter, _, rest = upload.partition(b"\r\n")
        parts = rest.removesuffix(b"\r\n" + delimiter + b"--\r\n").split(b"\r\n" + delimiter + b"\r\n", 1)
        if not delimiter.startswith(b"--") or len(parts) != 2:
            raise ValueError("expected a multipart upload of a job and its file")
        configuration, data = (part.partition(b"\r\n\r\n")[2] for part in parts)
        self._errors.append(self._load(json.loads(configuration)["configuration"]["load"], data))
        return self._job(project, len(self._errors), "RUNNING")

    def get(self, project: str, number: str) -> dict[str, Any]:
        """The job that :meth:`load` has given this number; raises MissingError."""
        if not number.isdecimal() or not 0 < int(number) <= len(self._errors):
            raise MissingError(f"Not found: Job {project}:{number}")
        job = self._job(project, int(number), "DONE")
        if message := self._errors[int(number) - 1]:
            job["status"]["errorResult"] = {"reason": "invalid", "message": message}
        return job

    def _load(self, load: dict[str, Any], data: bytes) -> str:
        """Append the rows; returns why that failed, empty if it did not."""
        import pyarrow.parquet as pq  # noqa: PLC0415  # few runs load anything

        place = load["destinationTable"]
        table = TableId(place["projectId"], place["datasetId"], place["tableId"])
        try:
            rows = pq.read_table(pa.BufferReader(data))
            self._catalogue.append(table, rows.cast(stored_schema(self._catalogue.snapshot(table).columns)))
        except (MissingError, ValueError, pa.ArrowException) as error:
            return str(error)
        return ""

    @staticmethod
    def _job(project: str, number: int, state: str) -> dict[str, Any]:
        reference = {"projectId": project, "jobId": str(number), "location": "us"}
        return {"kind": "bigquery#job", "jobReference": reference, "status": {"state": state}}
