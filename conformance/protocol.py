"""The protocols that the suite judges, each found as a folder of :mod:`conformance.protocols`.

A protocol takes part in several layers of the suite: the contract, the engine, and so on. For each of them its folder
has one module with the name of that layer, or a folder of that name with a module ``plugin``, which defines ``PLUGIN``:
what the layer needs to know of the protocol. The type of a plugin belongs to its layer
(:class:`conformance.contract.plugin.ContractPlugin`), and the layers know protocols by this module alone: nothing
outside of its folder names a protocol in order to serve it.

A plugin is imported when it is first asked for: a command that judges one protocol loads nothing of the others. A
protocol need not take part in every layer: a layer does nothing with a protocol that has no module for it.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import pkgutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Annotated, ClassVar, Final, Protocol, TypeAlias, TypeVar, cast

from conformance._hints import OneOf

__all__ = [
    "DEFAULT_PROTOCOL",
    "NotInLayerError",
    "Plugin",
    "ProtocolName",
    "is_seeded",
    "merged",
    "module_of",
    "plugin",
    "plugins",
    "protocol_files",
    "protocol_names",
    "source_of",
    "takes_part",
    "title_of",
]

DEFAULT_PROTOCOL: Final = "storage-read"
"""The protocol of what names none: cases, logs and target files are older than the second protocol."""


class NotInLayerError(LookupError):
    """Something was asked of a protocol that it does not take part in; the message is one sentence for users."""


class Plugin(Protocol):
    """What one layer of the suite knows of a protocol; ``LAYER`` names its module in the folder of each protocol."""

    LAYER: ClassVar[str]


V = TypeVar("V")
PluginT = TypeVar("PluginT", bound=Plugin)


@functools.cache
def protocol_names() -> tuple[str, ...]:
    """The names of all protocols as cases and logs spell them, with hyphens: the default one, then the others."""
    package = importlib.import_module("conformance.protocols")
    names = (module.name for module in pkgutil.iter_modules(package.__path__) if module.ispkg)
    return tuple(sorted((name.replace("_", "-") for name in names), key=lambda name: (name != DEFAULT_PROTOCOL, name)))


ProtocolName: TypeAlias = Annotated[str, OneOf(protocol_names)]
"""The name of a protocol in a record; one that is no folder is refused where the record is read."""


def title_of(protocol: str) -> str:
    """The name of a protocol in a sentence: ``TITLE`` of its folder."""
    return str(_folder(protocol).TITLE)


def source_of(protocol: str) -> str:
    """The address of the public text that defines the calls of a protocol: ``SOURCE`` of its folder."""
    return str(_folder(protocol).SOURCE)


def is_seeded(protocol: str) -> bool:
    """True if servers of a protocol get tables as ``[seed]`` of a target file says: ``SEEDED`` of its folder."""
    return bool(getattr(_folder(protocol), "SEEDED", False))


def module_of(protocol: str, name: str) -> ModuleType:
    """A module of the folder of a protocol, by its dotted name there."""
    return importlib.import_module(f"conformance.protocols.{protocol.replace('-', '_')}.{name}")


def _folder(protocol: str) -> ModuleType:
    return importlib.import_module(f"conformance.protocols.{protocol.replace('-', '_')}")


def protocol_files(pattern: str) -> tuple[Path, ...]:
    """The files and folders that the protocols bring, by a glob in the folder of each: ``cases``, or ``*.toml``."""
    package = importlib.import_module("conformance.protocols")
    folders = [Path(place) / name.replace("-", "_") for name in protocol_names() for place in package.__path__]
    return tuple(path for folder in folders for path in sorted(folder.glob(pattern)))


def plugin(kind: type[PluginT], protocol: str) -> PluginT:
    """What ``protocol`` brings to the layer of that kind of plugin.

    Raises:
        ModuleNotFoundError: there is no such protocol.
        NotInLayerError: it takes no part in that layer.
        TypeError: its module defines something else as ``PLUGIN``.
    """
    return cast("PluginT", _loaded(kind, str(protocol)))  # a cached function forgets the type of what it returns


def plugins(kind: type[PluginT]) -> dict[str, PluginT]:
    """What each protocol that takes part in a layer brings to it, by the protocol's name."""
    return {name: plugin(kind, name) for name in protocol_names() if takes_part(kind, name)}


def merged(what: str, brought: Mapping[str, Iterable[tuple[str, V]]]) -> dict[str, V]:
    """What several protocols bring, each with its name, in their order; ``what`` is the word for one such thing.

    Raises:
        ValueError: two protocols bring things of one name; the same thing may come from both.
    """
    found: dict[str, V] = {}
    for protocol, named in brought.items():
        for name, value in named:
            if found.setdefault(name, value) is not value:
                raise ValueError(f"{protocol}: another protocol has a {what} called {name!r}")
    return found


@functools.cache
def takes_part(kind: type[Plugin], protocol: str) -> bool:
    """True if a protocol takes part in the layer of that kind of plugin.

    Raises:
        ModuleNotFoundError: there is no such protocol.
    """
    return bool(_module(kind, protocol))


def _module(kind: type[Plugin], protocol: str) -> str:
    """The import path of the module with the plugin; empty if there is none."""
    name = f"conformance.protocols.{protocol.replace('-', '_')}.{kind.LAYER}"
    spec = importlib.util.find_spec(name)
    if spec is None or spec.submodule_search_locations is None:
        return name if spec is not None else ""
    return f"{name}.plugin" if importlib.util.find_spec(f"{name}.plugin") is not None else ""


@functools.cache
def _loaded(kind: type[PluginT], protocol: str) -> PluginT:
    if not takes_part(kind, protocol):
        raise NotInLayerError(f"the protocol {protocol} takes no part in this: its folder has no module {kind.LAYER!r}")
    module = importlib.import_module(_module(kind, protocol))
    value = module.PLUGIN
    if not isinstance(value, kind):
        raise TypeError(f"{module.__name__}.PLUGIN is a {type(value).__name__}, expected a {kind.__name__}")
    return value
