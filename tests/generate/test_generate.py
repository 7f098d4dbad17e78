from __future__ import annotations

import subprocess
import sys

from conformance import generate


def test_public_names() -> None:
    """The package exports these names and no others."""
    assert generate.__all__ == [
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


def test_hypothesis_is_loaded_only_to_shrink() -> None:
    """Drawing and materialising cases does not import Hypothesis: it takes a while to load."""
    code = (
        "import sys; from conformance.generate import draw_case, materialise;"
        "materialise(draw_case(1, 1, profile='server').table); sys.exit('hypothesis' in sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", code], check=False)

    assert done.returncode == 0
