"""The chapters of the contract: one module each, found by being here."""

from __future__ import annotations

import functools
import importlib
import pkgutil


@functools.cache
def load_chapters() -> None:
    """Import every chapter module, in alphabetical order, so that the register is complete."""
    for module in sorted(info.name for info in pkgutil.iter_modules(__path__)):
        importlib.import_module(f"{__name__}.{module}")
