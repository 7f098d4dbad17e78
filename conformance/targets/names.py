"""The names of a case's table at its target."""

from __future__ import annotations

import dataclasses

__all__ = ["Names"]


@dataclasses.dataclass(frozen=True, slots=True)
class Names:
    """The position of a case's table; the resource names of a step are templates over these three names.

    ``job`` is the resource name of the query that made the table, if one did.
    """

    project: str
    dataset: str
    table: str
    job: str = ""

    def fill(self, template: str, **more: str) -> str:
        """``template`` with ``{project}``, ``{dataset}``, ``{table}`` and the names of ``more`` replaced."""
        for key, value in {"project": self.project, "dataset": self.dataset, "table": self.table, **more}.items():
            template = template.replace("{" + key + "}", value)
        return template

    @property
    def resource(self) -> str:
        """The table's resource name in the Storage API."""
        return f"projects/{self.project}/datasets/{self.dataset}/tables/{self.table}"
