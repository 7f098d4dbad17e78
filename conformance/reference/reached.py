"""Which attributes of a reference's service a case uses: a service that differs in none of them answers alike.

A deviation is a subclass that replaces attributes, and everything else that an answer depends on (clock, names, tables)
is the same for a server in this process. An attribute counts as used where it is looked up on the service; one of
``entries``, the methods that calls are given to, where it is called.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

__all__ = ["Recorder", "differences"]

S = TypeVar("S")

BOOKKEEPING: Final = frozenset(
    {
        *("__doc__", "__module__", "__annotations__", "__parameters__", "__orig_bases__"),
        *("__abstractmethods__", "_abc_impl"),  # of every class below an abstract one
        "__slotnames__",  # of a class whose instances were copied
        *("__firstlineno__", "__static_attributes__"),  # since Python 3.13
        *("__annotate__", "__annotate_func__", "__annotations_cache__"),  # since Python 3.14
    }
)
"""What each class has of its own, and no answer depends on."""


def differences(service: type, reference: type) -> frozenset[str] | None:
    """The names of the attributes in which a subclass of a reference differs from it; None if that does not tell
    everything: it has other base classes as well, or is made or compared in another way.
    """
    if service.__mro__[-len(reference.__mro__) :] != reference.__mro__:
        return None
    found = {
        name
        for name in {*dir(service), *dir(reference)} - BOOKKEEPING
        if inspect.getattr_static(service, name, None) is not inspect.getattr_static(reference, name, None)
    }
    own = {"__dict__", "__weakref__"}
    found -= own
    return None if any(name.startswith("__") for name in found) else frozenset(found)


class Recorder:
    """Makes services that note which of their attributes are used, in ``used``."""

    def __init__(self, entries: frozenset[str]) -> None:
        self.used: set[str] = set()
        self._entries: Final = entries

    def recording(self, service: type[S]) -> type[S]:
        """The class of a service that notes what is used of it."""
        recorder = self

        class Recording(service):  # type: ignore[misc, valid-type]  # the base is a variable
            def __getattribute__(self, name: str) -> Any:
                value = super().__getattribute__(name)
                if name in recorder._entries:
                    return recorder._noting(name, value)
                recorder.used.add(name)
                return value

        return Recording

    def _noting(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*arguments: Any) -> Any:
            self.used.add(name)
            return method(*arguments)

        return noted

    @contextlib.contextmanager
    def afresh(self) -> Iterator[set[str]]:
        """Note into an empty set inside."""
        self.used.clear()
        yield self.used
