"""What can go wrong between the suite and a process that it starts, as one small tree.

::

    CannotStart        the program could not be started: no such file, not executable
    LostError          no whole answer came, and in which way
    ProtocolError      a whole answer came, and it breaks the protocol

None of them is a traceback for a user: the package that asked makes an outcome of it.
"""

from __future__ import annotations

import enum

__all__ = ["CannotStart", "Lost", "LostError", "ProtocolError"]


class CannotStart(Exception):  # noqa: N818  # a state of affairs rather than an error
    """A program cannot be started; the text names it and says why."""


class Lost(enum.StrEnum):
    """In which way an answer did not come."""

    DEADLINE = "deadline"
    """Time was up."""
    OVER_BUDGET = "over-budget"
    """More came than is taken."""
    CRASH = "crash"
    """The pipe or the connection ended."""
    OUT_OF_TURN = "out-of-turn"
    """Something came before it was asked for."""


class LostError(Exception):
    """No whole answer came; ``how`` says in which way, the text how much had been seen."""

    def __init__(self, how: Lost, text: str) -> None:
        super().__init__(text)
        self.how = how


class ProtocolError(Exception):
    """A line is no answer; the text says what was expected and what came."""
