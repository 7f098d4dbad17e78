"""What a clause, or what it is asked about, raised: the suite's own defect, as one line that finds the place.

Foreign bytes can lead a check where its author never was. That costs the clause, whose verdict is then an *error* with
this line as its reason, and no other clause of the case. An exception is remembered like a result
(:class:`remembered_property`): whatever many clauses need is made once, also where it cannot be made.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable
from typing import Any, Final, Generic, Self, TypeVar, overload

from conformance.contain.text import safe
from conformance.records import Outcome, Verdict

__all__ = ["ClauseRaised", "Raised", "attempt", "raise_or_give", "reason_of", "remembered_property", "sound"]

PACKAGE: Final = __name__.partition(".")[0]
MAX_TEXT: Final = 200
"""Characters of an exception's own text: which value broke the check, not all of it."""

S = TypeVar("S")
T = TypeVar("T")


def reason_of(error: Exception) -> str:
    """An exception as the reason of a verdict: its class, its text, and the innermost line of ours that it left.

    >>> reason_of(ValueError("no such thing"))
    'the suite raised ValueError: no such thing (a defect of the suite, please report)'
    """
    text = safe(_text(error), MAX_TEXT)
    said = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return f"the suite raised {said}{_place(error)} (a defect of the suite, please report)"


def _text(error: Exception) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001  # an exception that cannot say what it is
        return ""


def _place(error: Exception) -> str:
    found = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        module = str(frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] == PACKAGE:
            found = f" at {module}, line {line}"
    return found


class ClauseRaised(Exception):  # noqa: N818  # it tells of an error, and is raised for whoever cannot go on
    """A clause raised on bytes of the suite's own making, about which it has to be able to say something."""


def sound(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """The verdicts, for whoever makes the bytes and looks for failures alone.

    Raises:
        ClauseRaised: one of them is an error.
    """
    found = list(verdicts)
    for verdict in found:
        if verdict.outcome is Outcome.ERROR:
            raise ClauseRaised(f"{verdict.clause}: {verdict.reason}")
    return found


class Raised:
    """An exception that was remembered in place of a result; :meth:`again` raises it.

    Local variables of the frames that it left are let go of: they may hold all that did not fit into memory.
    """

    __slots__ = ("_error", "_traceback")

    def __init__(self, error: Exception) -> None:
        traceback.clear_frames(error.__traceback__)
        self._error = error
        self._traceback = error.__traceback__

    def again(self) -> Exception:
        """The exception, with the traceback that it had when it was raised first."""
        return self._error.with_traceback(self._traceback)


def attempt(function: Callable[[], T]) -> T | Raised:
    """What ``function`` returns, or what it raised."""
    try:
        return function()
    except Exception as error:  # noqa: BLE001  # whoever needs the result raises it
        return Raised(error)


def raise_or_give(found: T | Raised) -> T:
    """The result of an :func:`attempt`; raises what was raised there."""
    if isinstance(found, Raised):
        raise found.again()
    return found


class remembered_property(Generic[T]):  # noqa: N801  # a decorator, as functools.cached_property
    """A cached property that remembers an exception, too: many clauses ask, and each would make it fail again."""

    def __init__(self, function: Callable[[Any], T]) -> None:
        self._function = function
        self.__doc__ = function.__doc__

    def __set_name__(self, _owner: type[Any], name: str) -> None:
        """Learn the name under which the value is kept."""
        self._name = name
        self._raised = f"{name} raised"

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> T: ...

    def __get__(self, instance: object | None, owner: type[Any] | None = None) -> Self | T:
        """The value, made once; raises what making it raised."""
        if instance is None:
            return self
        known: dict[str, Any] = instance.__dict__
        if self._raised in known:
            raise known[self._raised].again()
        try:
            value = known[self._name] = self._function(instance)
        except Exception as error:
            known[self._raised] = Raised(error)
            raise
        return value
