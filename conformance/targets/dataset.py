"""The dataset of one run: made with an expiry and labels, and deleted by the run that made it.

Source: https://cloud.google.com/bigquery/docs/reference/rest/v2/datasets
"""

from __future__ import annotations

from typing import Any, Final

from conformance.targets.names import Names
from conformance.targets.rest import RestClient, RestError
from conformance.targets.service import Service
from conformance.targets.targeterrors import CannotSeed, LeftBehind

__all__ = ["OwnDataset"]

MADE_BY: Final = "made-by"
RUN: Final = "conformance-run"
"""Labels of the dataset: their names have lower-case letters, digits and dashes."""
_CONFLICT: Final = 409
_MISSING: Final = 404


class OwnDataset:
    """The dataset that has ``token`` in its name and among its labels; it is made with the first table.

    Its tables expire by themselves, so that a run that is killed leaves nothing that costs for long.
    """

    def __init__(self, client: RestClient, names: Names, token: str, service: Service) -> None:
        self._client = client
        self._names = names
        self._token = token
        self._service = service
        self._begun = False

    @property
    def body(self) -> dict[str, Any]:
        """What makes the dataset, beside its name."""
        body: dict[str, Any] = {
            "defaultTableExpirationMs": str(round(1000 * self._service.expiry)),
            "labels": {MADE_BY: "arrow-conformance", RUN: self._token},
        }
        return body | ({"location": self._service.location} if self._service.location else {})

    def begin(self) -> None:
        """Note that the request that makes it is about to be sent: an interrupt may hide its answer."""
        self._begun = True

    def refused(self, error: RestError) -> CannotSeed | None:
        """The error where the dataset could not be made; None if it is there because an earlier answer was lost."""
        if error.status == _CONFLICT and self._begun and self._is_ours():
            return None
        self._begun = error.status is None
        taken = ", and the run uses none that it did not make" if error.status == _CONFLICT else ""
        return CannotSeed(f"dataset {self._names.dataset!r}: {error}{taken}", answered=error.status is not None)

    def delete(self) -> None:
        """Delete the dataset with its tables if this run made it: its labels say so.

        Raises:
            LeftBehind: it may still be there.
        """
        if not self._begun:
            return
        try:
            if not self._is_ours():
                return
            self._client.delete(f"{self._path}?deleteContents=true")
        except RestError as error:
            if error.status == _MISSING:
                return
            hours = self._service.expiry / 3600
            raise LeftBehind(
                f"the dataset {self._names.project}.{self._names.dataset} could not be deleted ({error}): delete it"
                f" yourself; its tables expire {hours:g} h after they were made"
            ) from None
        self._begun = False

    @property
    def _path(self) -> str:
        return f"/bigquery/v2/projects/{self._names.project}/datasets/{self._names.dataset}"

    def _is_ours(self) -> bool:
        """Whether the labels of the dataset name this run; raises :class:`RestError`."""
        labels = self._client.get(self._path).get("labels")
        return isinstance(labels, dict) and labels.get(RUN) == self._token
