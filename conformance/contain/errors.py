"""The exceptions between the suite and a process that it starts, as one small tree.

::

    CannotStart        the program could not be started: no such file, not executable
    LostError          no complete answer arrived; ``how`` gives the reason
    ProtocolError      a complete answer arrived, but it breaks the protocol

A user sees none of them as a traceback: the package that asked turns them into outcomes.
"""

from __future__ import annotations

import enum

__all__ = ["CannotStart", "Lost", "LostError", "ProtocolError"]


class CannotStart(Exception):  # noqa: N818  # describes a state rather than an error
    """A program cannot be started; the text names the program and the reason."""


class Lost(enum.StrEnum):
    """The reason why no complete answer arrived."""

    DEADLINE = "deadline"
    """The deadline has passed."""
    OVER_BUDGET = "over-budget"
    """The answer exceeds the size limit."""
    CRASH = "crash"
    """The pipe or the connection ended."""
    OUT_OF_TURN = "out-of-turn"
    """Bytes arrived before they were requested."""


class LostError(Exception):
    """No complete answer arrived; ``how`` is the reason, and the text says how much had arrived."""

    def __init__(self, how: Lost, text: str) -> None:
        super().__init__(text)
        self.how = how


class ProtocolError(Exception):
    """A line is not an answer; the text gives the expectation and the observation."""
