"""What a run adds to a target file: the project that the user names, and the name of the run's own dataset."""

from __future__ import annotations

import dataclasses
import os

from conformance.targets.service import PROJECT_PATTERN
from conformance.targets.spec import TargetSpec
from conformance.targets.targeterrors import TargetError

__all__ = ["with_dataset", "with_project"]


def with_project(spec: TargetSpec, given: str | None = None) -> TargetSpec:
    """``spec`` with the project that the user gave, or else with that of the variable that the file names.

    Raises:
        TargetError: the file leaves the project to the user, who gave none; or it is no project.
    """
    project, where = given, "--project"
    if project is None and spec.project_variable:
        project, where = os.environ.get(spec.project_variable, "").strip(), f"${spec.project_variable}"
        if not project:
            raise TargetError(
                f"{spec.file}: expected the project that holds the tables and is billed, got none: give --project ID,"
                f" or set the environment variable {spec.project_variable}"
            )
    if project is None:
        return spec
    if not PROJECT_PATTERN.fullmatch(project):
        raise TargetError(f"{where}: expected a project of letters, digits, '.', '_', ':' and '-', got {project!r}")
    return dataclasses.replace(spec, project=project, project_variable="")


def with_dataset(spec: TargetSpec, token: str) -> TargetSpec:
    """``spec`` with a dataset of the run's own, which has the random ``token`` in its name, if it has a [service]."""
    if spec.service is None:
        return spec
    seed = dataclasses.replace(spec.seed, dataset=f"{spec.seed.dataset}_{token}")
    return dataclasses.replace(spec, seed=seed)
