"""The JSON Schema of a case file, made from the records' annotations and docstrings.

``python -m conformance.generate.caseschema [--check] [FILE]`` writes ``cases/case.schema.json`` (or ``FILE``); with
``--check`` it writes nothing and exits with status 1 if the file is out of date. The schema serves editors and other
languages; :mod:`conformance.generate.casefile` reads with the records themselves.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from conformance._jsonschema import json_schema
from conformance.generate.casematrix import Matrix
from conformance.records import Case

__all__ = ["case_schema", "main", "render"]

DEFAULT_FILE: Final = Path("cases") / "case.schema.json"


def case_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a case or a matrix of cases; with a definition per record and closed
    set.

    The expanded cases of a matrix are checked when it is loaded: in a matrix a parameter may replace any value.
    """
    one, many = (json_schema(kind, title="A conformance case, or a matrix of them") for kind in (Case, Matrix))
    definitions = dict(sorted((one.pop("$defs") | many.pop("$defs")).items()))
    kinds = {"if": {"required": ["matrix"]}, "then": {"$ref": many.pop("$ref")}, "else": {"$ref": one.pop("$ref")}}
    return one | kinds | {"$defs": definitions}


def render() -> str:
    """Return the text of the schema file."""
    return json.dumps(case_schema(), indent=2, ensure_ascii=False) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check the schema file; return the exit status."""
    parser = argparse.ArgumentParser(description="Write the JSON Schema of case files.")
    parser.add_argument("file", nargs="?", type=Path, default=DEFAULT_FILE, help="default: %(default)s")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the file is out of date")
    options = parser.parse_args(arguments)
    if not options.check:
        options.file.write_text(render(), encoding="utf-8")
        return 0
    if options.file.is_file() and options.file.read_text(encoding="utf-8") == render():
        return 0
    sys.stderr.write(f"{options.file} is out of date; run: python -m conformance.generate.caseschema {options.file}\n")
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
