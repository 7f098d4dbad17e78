"""Which started Pythons import nothing from the current directory: ``json.py`` in a folder from elsewhere is no module.

Python puts the current directory first in ``sys.path`` for ``-m`` and ``-c``
(https://docs.python.org/3/using/cmdline.html#cmdoption-P). The suite's own modules need nothing from there. What the
user names may.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Final

__all__ = ["SAFE_PATH", "import_environment"]

SAFE_PATH: Final[Mapping[str, str]] = {"PYTHONSAFEPATH": "1"}
"""The variable that has the effect of ``-P``; unlike the option, a Python before 3.11 ignores it."""

_WITH_VALUE: Final = frozenset({"-X", "-W", "--check-hash-based-pycs"})
"""Options of Python whose value is the next argument."""


def import_environment(
    command: Sequence[str], environment: Mapping[str, str], *, inline: bool = False
) -> Mapping[str, str]:
    """The variables for a command: with :data:`SAFE_PATH` if it is a Python that runs a module of the suite.

    ``inline`` is for commands that only report: their ``-c`` counts as the suite's own. A value that ``environment``
    has already stays, an empty one too.
    """
    what, name = _runs(command)
    own = what == "m" and name.partition(".")[0] == "conformance"
    return {**SAFE_PATH, **environment} if own or (inline and what == "c") else environment


def _runs(command: Sequence[str]) -> tuple[str, str]:
    """``m`` and a module, or ``c`` and a program; two empty texts for a script, and for another program than Python."""
    if not PurePath(command[0]).name.startswith(("python", "pypy")):
        return "", ""
    words = iter(command[1:])
    for word in words:
        if not word.startswith("-") or word == "-":
            break
        if word in _WITH_VALUE:
            next(words, "")
        elif not word.startswith(("--", "-X", "-W")):
            # The options of one letter may be written together, and the value directly after them: -um, -mNAME.
            at = min((index for letter in "mc" if (index := word.find(letter)) > 0), default=0)
            if at:
                return word[at], word[at + 1 :] or next(words, "")
    return "", ""
