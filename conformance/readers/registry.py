"""All readers: the modules of the two packages of readers, found by listing the packages, and the client programs."""

from __future__ import annotations

import fnmatch
import functools
import importlib
import pkgutil
import types
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, Protocol, cast

from conformance.protocol import DEFAULT_PROTOCOL
from conformance.readers.info import Read, ReaderInfo

if TYPE_CHECKING:
    from conformance.readers.programs.clientspec import ClientProgram

__all__ = [
    "KNOWN",
    "MODULES",
    "READERS",
    "ReaderModule",
    "absent_clients",
    "client_programs",
    "client_readers",
    "matching_readers",
    "reader_module",
]


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
"""Every reader in Python that ships with the suite, by name: those that a run uses unless told otherwise."""


@functools.cache
def client_programs(protocol: str = DEFAULT_PROTOCOL) -> Mapping[str, ClientProgram]:
    """The clients of a protocol that ship with the suite, by name; most workers never need them."""
    from conformance.readers.programs.clientspec import shipped_programs  # noqa: PLC0415  # as the docstring says

    return shipped_programs(protocol)


def client_readers(protocol: str = DEFAULT_PROTOCOL) -> Mapping[str, ReaderInfo]:
    """The paths of all client programs of a protocol, by the reader's name."""
    return {info.name: info for program in client_programs(protocol).values() for info in program.paths.values()}


class _Known(Mapping[str, ReaderInfo]):
    """:data:`READERS` and :func:`client_readers` as one mapping, the latter read from their files when first needed."""

    def __getitem__(self, name: str) -> ReaderInfo:
        return READERS[name] if name in READERS else client_readers()[name]

    def __iter__(self) -> Iterator[str]:
        yield from READERS
        yield from client_readers()

    def __len__(self) -> int:
        return len(READERS) + len(client_readers())


KNOWN: Final[Mapping[str, ReaderInfo]] = _Known()
"""Every reader by name: those in Python, and the paths of the client programs."""


def matching_readers(globs: Iterable[str]) -> tuple[str, ...]:
    """The names of all readers that match one of the globs, in the order of the globs.

    Raises:
        ValueError: A glob matches no reader.
    """
    found: dict[str, None] = {}
    for glob in globs:
        names = fnmatch.filter(KNOWN, glob)
        if not names:
            raise ValueError(f"expected a reader that `conformance list readers` names with run, got {glob!r}")
        found |= dict.fromkeys(names)
    return tuple(found)


def absent_clients(names: Iterable[str]) -> dict[str, str]:
    """The programs behind these readers that are not built here, with the reason and the command that builds them."""
    from conformance.readers.ipc.implementation import Unavailable  # noqa: PLC0415  # as in client_programs

    missing = {}
    for program in {KNOWN[name].program for name in names} - {""}:
        try:
            client_programs()[program].command()
        except Unavailable as error:
            missing[program] = str(error)
    return dict(sorted(missing.items()))
