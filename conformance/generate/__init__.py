"""Generation of cases: values from recipes, drawn cases, case files, and shrinking; nothing here knows a target."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Final

from conformance.generate.materialise import explicit, materialise, to_json_rows

if TYPE_CHECKING:
    from conformance.generate.casefile import CaseFileError, load_case, load_cases, load_file, save_case
    from conformance.generate.drawing import draw_case, generated_id
    from conformance.generate.scenariokinds import draw_scenario, scenario_id
    from conformance.generate.shrinking import shrink

__all__ = [
    "CaseFileError",
    "draw_case",
    "draw_scenario",
    "explicit",
    "generated_id",
    "load_case",
    "load_cases",
    "load_file",
    "materialise",
    "save_case",
    "scenario_id",
    "shrink",
    "to_json_rows",
]

_MODULES: Final = {
    "casefile": ("CaseFileError", "load_case", "load_cases", "load_file", "save_case"),
    "drawing": ("draw_case", "generated_id"),
    "scenariokinds": ("draw_scenario", "scenario_id"),
    "shrinking": ("shrink",),
}


def __getattr__(name: str) -> object:
    """Import what draws, reads or shrinks cases when it is first used: the reference makes tables of rows, and each
    of its processes would take twice as long to start.
    """
    for module, names in _MODULES.items():
        if name in names:
            return getattr(importlib.import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
