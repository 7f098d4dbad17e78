"""Exceptions raised by a clause or by the code that makes its subjects: defects of the suite, as one line with the
place.

Foreign bytes can lead a check to a case that its author did not foresee. That costs only this clause: its verdict is
*error* with this line as the reason, and all other clauses of the case are judged. An exception is cached like a
result (:class:`remembered_property`): a value that many clauses need is computed once, even if computing it raises.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable
from typing import Any, Final, Generic, Self, TypeVar, overload

from conformance.contain.text import safe
from conformance.records import Outcome, Verdict

__all__ = [
    "ClauseRaised",
    "JudgingEnded",
    "Raised",
    "attempt",
    "raise_or_give",
    "reason_of",
    "remembered_property",
    "sound",
]

PACKAGE: Final = __name__.partition(".")[0]
MAX_TEXT: Final = 200
"""The most characters kept of an exception's own text: enough to show the value that broke the check."""

S = TypeVar("S")
T = TypeVar("T")


def reason_of(error: Exception) -> str:
    """Return the reason of a verdict for an exception: its class, its text, and the innermost line of the suite it
    passed.

    >>> reason_of(ValueError("no such thing"))
    'the suite raised ValueError: no such thing (a defect of the suite, please report)'
    """
    text = safe(_text(error), MAX_TEXT)
    said = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return f"the suite raised {said}{_place(error)} (a defect of the suite, please report)"


def _text(error: Exception) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001  # __str__ of a foreign exception class may raise
        return ""


def _place(error: Exception) -> str:
    found = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        module = str(frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] == PACKAGE:
            found = f" at {module}, line {line}"
    return found


class ClauseRaised(Exception):  # noqa: N818  # it reports an error verdict; the clause raised the error itself
    """A clause raised on bytes that the suite made itself, on which every clause has to give a verdict."""


class JudgingEnded(Exception):  # noqa: N818  # no error: the deadline of the case has passed, or the run ends
    """Work on a view ends here, for the reason in its text (:attr:`conformance.contract.view.View.given_up`)."""


def sound(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Return the verdicts, for callers that made the bytes themselves and look only for failures.

    Raises:
        ClauseRaised: a verdict is an error.
    """
    found = list(verdicts)
    for verdict in found:
        if verdict.outcome is Outcome.ERROR:
            raise ClauseRaised(f"{verdict.clause}: {verdict.reason}")
    return found


class Raised:
    """An exception that was cached in place of a result; :meth:`again` returns it to be raised.

    The local variables of its frames are released: they may hold the large values that did not fit into memory.
    """

    __slots__ = ("_error", "_traceback")

    def __init__(self, error: Exception) -> None:
        traceback.clear_frames(error.__traceback__)
        self._error = error
        self._traceback = error.__traceback__

    def again(self) -> Exception:
        """Return the exception with the traceback of its first raise."""
        return self._error.with_traceback(self._traceback)


def attempt(function: Callable[[], T]) -> T | Raised:
    """Return the result of ``function``, or the exception that it raised as :class:`Raised`."""
    try:
        return function()
    except Exception as error:  # noqa: BLE001  # raise_or_give raises it in each caller that needs the result
        return Raised(error)


def raise_or_give(found: T | Raised) -> T:
    """Return the result of an :func:`attempt`, or raise the exception that was caught there."""
    if isinstance(found, Raised):
        raise found.again()
    return found


class remembered_property(Generic[T]):  # noqa: N801  # a decorator, as functools.cached_property
    """A cached property that caches an exception too: many clauses read it, and each would repeat the failing work."""

    def __init__(self, function: Callable[[Any], T]) -> None:
        self._function = function
        self.__doc__ = function.__doc__

    def __set_name__(self, _owner: type[Any], name: str) -> None:
        """Store the attribute name under which the value is kept."""
        self._name = name
        self._raised = f"{name} raised"

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> T: ...

    def __get__(self, instance: object | None, owner: type[Any] | None = None) -> Self | T:
        """Return the value, computed once; raise the exception that computing it raised."""
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
