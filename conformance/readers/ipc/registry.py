"""Which readers and writers of IPC data there are: the modules of Python libraries, and the adapters of programs."""

from __future__ import annotations

import importlib
import pkgutil
import types
from collections.abc import Mapping
from typing import Final, cast

from conformance.readers.ipc import libraries
from conformance.readers.ipc.adapters import shipped
from conformance.readers.ipc.info import IpcReaderInfo, IpcWriterInfo, LibraryModule

__all__ = ["IPC_READERS", "IPC_WRITERS"]


def _modules() -> list[LibraryModule]:
    found = pkgutil.iter_modules(libraries.__path__, f"{libraries.__name__}.")
    return [cast(LibraryModule, importlib.import_module(module.name)) for module in found]


def _readers() -> dict[str, IpcReaderInfo]:
    found = [module.READER for module in _modules()]
    found += [
        IpcReaderInfo(adapter.name, adapter.title, adapter.language, adapter=adapter.here)
        for adapter in shipped().values()
    ]
    return {info.name: info for info in found}


def _writers() -> dict[str, IpcWriterInfo]:
    found = [module.WRITER for module in _modules() if module.WRITER is not None]
    found += [
        IpcWriterInfo(adapter.name, adapter.title, adapter.language, adapter=adapter.here)
        for adapter in shipped().values()
    ]
    return {info.name: info for info in found}


IPC_READERS: Final[Mapping[str, IpcReaderInfo]] = types.MappingProxyType(_readers())
"""Every reader that ships with the suite, by name."""

IPC_WRITERS: Final[Mapping[str, IpcWriterInfo]] = types.MappingProxyType(_writers())
"""Every writer that ships with the suite, by name."""
