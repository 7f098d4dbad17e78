"""All readers: the modules of the two packages of readers, found by listing the packages."""

from __future__ import annotations

import importlib
import pkgutil
import types
from collections.abc import Mapping
from typing import Final, Protocol, cast

from conformance.readers.info import Read, ReaderInfo

__all__ = ["MODULES", "READERS", "ReaderModule", "reader_module"]


class ReaderModule(Protocol):
    """A reader's module."""

    INFO: ReaderInfo

    def load(self) -> Read:
        """Import the library and return the function that reads; raises ImportError if the library is not installed."""


def reader_module(path: str) -> ReaderModule:
    """The reader module at an import path.

    Raises:
        TypeError: The module does not define a reader.
    """
    module = importlib.import_module(path)
    if not isinstance(getattr(module, "INFO", None), ReaderInfo) or not callable(getattr(module, "load", None)):
        raise TypeError(f"expected a reader in {path}: INFO, a ReaderInfo, and load(); see conformance.readers.info")
    return cast(ReaderModule, module)


def _modules() -> dict[str, str]:
    """Reader name to import path, for every reader that ships with the suite: decoders first, then clients."""
    found = {}
    for package in ("conformance.readers.decoders", "conformance.readers.clients"):
        for module in pkgutil.iter_modules(importlib.import_module(package).__path__, f"{package}."):
            if not module.name.rpartition(".")[2].startswith("_"):
                found[reader_module(module.name).INFO.name] = module.name
    return found


MODULES: Final[Mapping[str, str]] = types.MappingProxyType(_modules())
"""Reader name to the import path of its module."""

READERS: Final[Mapping[str, ReaderInfo]] = types.MappingProxyType(
    {name: reader_module(path).INFO for name, path in MODULES.items()}
)
"""Every reader that ships with the suite, by name."""
