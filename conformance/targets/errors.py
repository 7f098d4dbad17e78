"""Everything that can keep a target from being driven, as one small tree.

::

    TargetError            the TOML file, or what it asks for, is wrong: the user has to change something
    └── TargetUnavailable  the target cannot run here and now: no network, no Go, not prepared, does not start
    CannotSeed             this case's table could not be put into the target: the case is untestable

None of them is raised for what a target *answers*: misbehaviour ends up in the exchange.
"""

from __future__ import annotations

from conformance.contain.text import safe

__all__ = ["CannotSeed", "TargetError", "TargetUnavailable"]


class TargetError(Exception):
    """A target cannot be used as asked; the text is one sentence that says what to change.

    It may quote what the target printed or answered, so it is made safe here.
    """

    def __init__(self, text: str) -> None:
        super().__init__(safe(text))


class TargetUnavailable(TargetError):  # noqa: N818  # a state of affairs rather than an error
    """A target is described rightly and cannot run here; the text is the reason, fit for "skipped: …"."""


class CannotSeed(Exception):  # noqa: N818  # named for what it says of the case; it is no error of ours
    """A case's table could not be put into the target; the text names the column and type where that is known.

    ``answered`` tells a refusal from silence: a target that did not answer is not to be trusted with the next case.
    """

    def __init__(self, text: str, *, answered: bool = True) -> None:
        super().__init__(safe(text))
        self.answered = answered
