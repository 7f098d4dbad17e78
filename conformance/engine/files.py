"""Where the files that ship with the suite are."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import conformance

__all__ = ["data_file"]

_PACKAGE: Final = Path(conformance.__file__).parent


def data_file(*parts: str) -> Path:
    """A file or folder that ships with the suite: inside an installed package, beside it in a working copy."""
    installed = _PACKAGE.joinpath("_data", *parts)
    return installed if installed.exists() else _PACKAGE.parent.joinpath(*parts)
