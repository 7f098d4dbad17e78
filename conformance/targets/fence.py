"""A REST client that writes to one dataset and to no other, whatever the code above it asks for.

Each request that is no GET is compared with the dataset before it is sent: its path, and what its body names. A
request that names another place is a defect of the suite, so that it raises :class:`OutsideDatasetError`, which no
caller catches.
"""

from __future__ import annotations

import json
import math
import re
import urllib.parse
from collections.abc import Mapping
from typing import Any, Final

from conformance.records import ROW_ID
from conformance.targets.rest import RestClient

__all__ = ["FencedClient", "OutsideDatasetError", "names_only"]

_PATH: Final = re.compile(
    r"/bigquery/v2/projects/(?P<project>[^/]+)/datasets(?:/(?P<dataset>[^/]+)(?P<tables>/tables(?:/[^/]+(?:/insertAll)?)?)?)?"
)

_ALTERS: Final = re.compile(
    r"[^`]+` (DROP COLUMN `[^`]+`(, DROP COLUMN `[^`]+`)*|RENAME COLUMN `[^`]+` TO `[^`]+`"
    r"|ALTER COLUMN `[^`]+` SET DATA TYPE [A-Z0-9]+(\([0-9]+(, [0-9]+)?\))?)"
)
"""What follows the dataset in a statement that drops, renames or widens columns of a table."""

_SELECTED: Final = re.compile(rf"[^`]+`( ORDER BY {ROW_ID} DESC)?")
"""What follows it in a query of a whole table."""


class OutsideDatasetError(AssertionError):
    """The suite was about to write outside the dataset of its run."""


class FencedClient(RestClient):
    """A :class:`RestClient` that writes to the dataset ``dataset`` of ``project`` alone.

    ``clock`` is the path at which the target's file says that its clock is set.
    """

    def __init__(self, base: str, *, project: str, dataset: str, clock: str = "", **more: Any) -> None:
        super().__init__(base, **more)
        self._project = project
        self._dataset = dataset
        self._clock = clock

    def post(
        self,
        path: str,
        body: Mapping[str, Any] | bytes,
        *,
        content_type: str = "application/json",
        until: float = math.inf,
    ) -> dict[str, Any]:
        """As the base class, inside the fence."""
        self._check("POST", path, body)
        return super().post(path, body, content_type=content_type, until=until)

    def patch(self, path: str, body: Mapping[str, Any], *, until: float = math.inf) -> dict[str, Any]:
        """As the base class, inside the fence."""
        self._check("PATCH", path, body)
        return super().patch(path, body, until=until)

    def delete(self, path: str) -> None:
        """As the base class, inside the fence."""
        self._check("DELETE", path, {})
        super().delete(path)

    def _check(self, method: str, path: str, body: Mapping[str, Any] | bytes) -> None:
        is_clock = method == "POST" and path == self._clock != ""
        if not is_clock and not names_only(self._project, self._dataset, method, path, body):
            raise OutsideDatasetError(
                f"expected to write to the dataset {self._project}.{self._dataset} alone, but was about to send"
                f" {method} {path}"
            )


def names_only(project: str, dataset: str, method: str, path: str, body: Mapping[str, Any] | bytes) -> bool:
    """True if a request that writes names this dataset and no other place."""
    place = urllib.parse.urlsplit(path).path
    jobs = {
        f"/upload/bigquery/v2/projects/{project}/jobs": _loads_into,
        f"/bigquery/v2/projects/{project}/queries": _changes_table,
        f"/bigquery/v2/projects/{project}/jobs": _selects_from,
    }
    if place in jobs:
        return jobs[place](project, dataset, body)
    match = _PATH.fullmatch(place)
    if match is None or match["project"] != project:
        return False
    if method == "POST" and match["dataset"] is None:
        return _named(body, "datasetReference") == (project, dataset)
    if method == "POST" and match["tables"] == "/tables" and _named(body, "tableReference") != (project, dataset):
        return False
    return match["dataset"] == dataset


def _named(body: Any, key: str) -> tuple[Any, Any]:
    reference = body.get(key) if isinstance(body, Mapping) else None
    return (reference.get("projectId"), reference.get("datasetId")) if isinstance(reference, dict) else (None, None)


def _loads_into(project: str, dataset: str, body: Mapping[str, Any] | bytes) -> bool:
    """Whether the job in the first part of an upload loads into the dataset."""
    if not isinstance(body, bytes):
        return False
    try:
        configuration = json.loads(body.split(b"\r\n\r\n", 1)[1].split(b"\r\n", 1)[0])["configuration"]
    except (IndexError, KeyError, TypeError, ValueError):
        return False
    return [*configuration] == ["load"] and _named(configuration["load"], "destinationTable") == (project, dataset)


def _changes_table(project: str, dataset: str, body: Mapping[str, Any] | bytes) -> bool:
    """Whether a query is one INSERT of literals into a table of the dataset, or alters columns of one; the suite writes
    no other statement.
    """
    statement = body.get("query") if isinstance(body, Mapping) else None
    if not isinstance(statement, str):
        return False
    start, _, rest = statement.partition(f"`{project}`.`{dataset}`.`")
    return start == "INSERT INTO " or (start == "ALTER TABLE " and _ALTERS.fullmatch(rest) is not None)


def _selects_from(project: str, dataset: str, body: Any) -> bool:
    """Whether a job selects one whole table of the dataset, into a table of the dataset or into none that it names."""
    configuration = body.get("configuration") if isinstance(body, Mapping) else None
    if not isinstance(configuration, Mapping) or [*configuration] != ["query"]:
        return False
    query = configuration["query"]
    statement = query.get("query")
    into = "destinationTable" not in query or _named(query, "destinationTable") == (project, dataset)
    start, _, table = statement.partition(f"`{project}`.`{dataset}`.`") if isinstance(statement, str) else ("", "", "")
    return into and start == "SELECT * FROM " and _SELECTED.fullmatch(table) is not None
