"""The errors that prevent a target from being driven, as one small tree.

::

    TargetError            the TOML file, or something that it names, is wrong: the user has to change something
    ├── TargetUnavailable  the target cannot run here and now: no network, no Go, not prepared, does not start
    └── LeftBehind         something that the run made in the target could not be removed; nothing else is wrong
    CannotSeed             this case's table could not be put into the target: the case is untestable
    ├── TableExists        a table of that name was there, left by an earlier run: another name may do
    ├── NoAnswer           a request over REST that the case is about had no answer
    └── RowsMissing        fewer rows are seen than were put in: they may still come

None of them is raised because of a target's *answer*: faulty answers are recorded in the exchange.
"""

from __future__ import annotations

from conformance.contain.text import safe

__all__ = ["CannotSeed", "LeftBehind", "NoAnswer", "RowsMissing", "TableExists", "TargetError", "TargetUnavailable"]


class TargetError(Exception):
    """A target cannot be used as requested; the text is one sentence that says what to change.

    The text may quote the target's output or answer, so that it is made safe here.
    """

    def __init__(self, text: str) -> None:
        super().__init__(safe(text))


class TargetUnavailable(TargetError):  # noqa: N818  # describes a state rather than an error
    """A target is described correctly but cannot run here; the text is the reason, suitable for "skipped: …"."""


class LeftBehind(TargetError):  # noqa: N818  # as above
    """Something that the run made is still in the target; the text says what the user should do."""


class CannotSeed(Exception):  # noqa: N818  # names a property of the case, not an error of the suite
    """A case's table could not be put into the target; the text names the column and type if they are known.

    ``answered`` is True if the target refused; a target that did not answer is replaced before the next case.
    """

    def __init__(self, text: str, *, answered: bool = True) -> None:
        super().__init__(safe(text))
        self.answered = answered


class TableExists(CannotSeed):
    """The server has a table of this name already, or more rows in it than were inserted."""


class NoAnswer(CannotSeed):
    """A request over REST had no answer that could be read; the text says what came instead."""


class RowsMissing(CannotSeed):
    """The server shows fewer rows of a table than were inserted."""
