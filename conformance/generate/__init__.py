"""Generation of cases: values from recipes, drawn cases, case files, and shrinking; nothing here knows a target."""

from conformance.generate.casefile import CaseFileError, load_case, load_cases, load_file, save_case
from conformance.generate.drawing import draw_case, generated_id
from conformance.generate.materialise import explicit, materialise, to_json_rows
from conformance.generate.scenarios import draw_scenario, scenario_id
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
