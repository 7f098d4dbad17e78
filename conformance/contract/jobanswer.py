"""The Arrow messages and the names in the answer of a query, which is JSON.

Source: ``QueryResponse`` in the discovery document of the BigQuery API, https://bigquery.googleapis.com/discovery/v1/apis/bigquery/v2/rest.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, Final

__all__ = ["ARROW_FIELDS", "arrow_in", "destination_in", "name_in"]

_LINE_ENDS: Final = {ord("\r"): None, ord("\n"): None}
ARROW_FIELDS: Final = (("arrowSchema", "serializedSchema"), ("arrowRecordBatch", "serializedRecordBatch"))
"""Where an answer has its Arrow messages: the schema, and the rows of its page."""


def arrow_in(answer: Mapping[str, Any], field: tuple[str, str]) -> bytes | None:
    """The message at one of :data:`ARROW_FIELDS`; None if the answer has none there.

    Raises:
        ValueError: The text is not base64.
    """
    part = answer.get(field[0])
    text = part.get(field[1]) if isinstance(part, dict) else None
    # MIME's line ends are no part of the data, and readers pass over them.
    return base64.b64decode(text.translate(_LINE_ENDS), validate=True) if isinstance(text, str) else None


def destination_in(job: Mapping[str, Any]) -> tuple[str, ...]:
    """The project, dataset and id of the table that a job of jobs.get names for the rows of its query; none if one of
    the three is missing.
    """
    place: Any = job
    for part in ("configuration", "query", "destinationTable"):
        place = place.get(part) if isinstance(place, dict) else None
    keys = ("projectId", "datasetId", "tableId") if isinstance(place, dict) else ()
    names = tuple(name_in(place.get(key)) for key in keys)
    return names if all(names) else ()


def name_in(value: object) -> str:
    """A name in an answer; empty if it is none, or if no request can have it: a lone half of a pair of UTF-16."""
    name = value if isinstance(value, str) else ""
    return "" if any("\ud800" <= character <= "\udfff" for character in name) else name
