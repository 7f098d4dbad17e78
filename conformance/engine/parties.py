"""Which calls of a recording are of one login or of one session.

The proxy sees tokens and cookies and writes none of them. The label of a call has their numbers instead: each login and
each session of a recording has one.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

__all__ = ["Party", "party_label", "party_of"]

_LABEL: Final = re.compile(r"(?:login (\d{1,19}))? ?(?:session (\d{1,19}))?")


class Party(NamedTuple):
    """The number of the login whose token a call has or is given, and that of its session; 0 without one."""

    login: int = 0
    session: int = 0


def party_label(party: Party) -> str:
    """The party as the label of a recorded call.

    >>> party_label(Party(login=2, session=1))
    'login 2 session 1'
    """
    numbers = {"login": party.login, "session": party.session}
    return " ".join(f"{word} {number}" for word, number in numbers.items() if number)


def party_of(label: str) -> Party:
    """The party that the label of a recorded call names.

    >>> party_of("session 3")
    Party(login=0, session=3)
    """
    found = _LABEL.fullmatch(label)
    return Party() if found is None else Party(*(int(number or 0) for number in found.groups()))
