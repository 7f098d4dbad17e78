"""All readers and writers of IPC data: the modules for Python libraries, and the adapters for programs."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
import types
from collections.abc import Iterator, Mapping
from typing import Final, cast

from conformance.readers.ipc import libraries
from conformance.readers.ipc.adapters import shipped
from conformance.readers.ipc.implementation import IpcReaderInfo, IpcWriterInfo, LibraryModule

__all__ = ["IPC_READERS", "IPC_WRITERS"]


def _found() -> Iterator[tuple[IpcReaderInfo, IpcWriterInfo | None]]:
    for found in pkgutil.iter_modules(libraries.__path__, f"{libraries.__name__}."):
        module = cast(LibraryModule, importlib.import_module(found.name))
        writer = module.WRITER and dataclasses.replace(module.WRITER, module=found.name)
        yield dataclasses.replace(module.READER, module=found.name), writer
    for adapter in shipped().values():
        reader = IpcReaderInfo(adapter.name, adapter.title, adapter.language, adapter=adapter.here)
        yield reader, reader.as_writer()


_FOUND: Final = tuple(_found())

IPC_READERS: Final[Mapping[str, IpcReaderInfo]] = types.MappingProxyType({reader.name: reader for reader, _ in _FOUND})
"""Every reader that ships with the suite, by name."""

IPC_WRITERS: Final[Mapping[str, IpcWriterInfo]] = types.MappingProxyType(
    {writer.name: writer for _, writer in _FOUND if writer is not None}
)
"""Every writer that ships with the suite, by name."""
