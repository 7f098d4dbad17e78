"""The JSON Schema of a case file, made from the records' annotations and docstrings.

``cases/case.schema.json`` holds it, for editors and other languages; ``conformance cases --schema`` prints it.
:mod:`conformance.generate.casefile` reads with the records themselves.
"""

from __future__ import annotations

import json
from typing import Any

from conformance._jsonschema import json_schema
from conformance.generate.casematrix import CaseMatrix
from conformance.records import Case

__all__ = ["case_schema", "render"]


def case_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a case or a matrix of cases; with a definition per record and closed
    set.

    The expanded cases of a matrix are checked when it is loaded: in a matrix a parameter may replace any value.
    """
    one, many = (json_schema(kind, title="A conformance case, or a matrix of them") for kind in (Case, CaseMatrix))
    definitions = dict(sorted((one.pop("$defs") | many.pop("$defs")).items()))
    kinds = {"if": {"required": ["matrix"]}, "then": {"$ref": many.pop("$ref")}, "else": {"$ref": one.pop("$ref")}}
    return one | kinds | {"$defs": definitions}


def render() -> str:
    """Return the text of the schema file."""
    return json.dumps(case_schema(), indent=2, ensure_ascii=False) + "\n"
