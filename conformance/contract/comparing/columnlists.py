"""How columns differ from those wanted, in words: the difference comes first, and lists of names are in brackets.

A class of failure (:func:`conformance.engine.outcomes.shape`) leaves out what brackets and braces hold. So one fault is
one class, whatever the columns of the tables are on which it shows.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

__all__ = ["MAX_LISTED", "names_differ", "names_listed"]

MAX_LISTED: Final = 100
"""The most names in a finding: longer lists help nobody, and each of very many findings would contain all names."""


def names_listed(names: Iterable[str]) -> str:
    """Return names as a list for people, cut after the first :data:`MAX_LISTED`."""
    some = list(itertools.islice(names, MAX_LISTED + 1))
    return str(some) if len(some) <= MAX_LISTED else f"{str(some[:MAX_LISTED])[:-1]}, …]"


def names_differ(wanted: Sequence[str], came: Sequence[str]) -> str:
    """Return what tells the names that came from those wanted; "" if they are the same in the same order.

    Missing and additional names say more than the order, which is named only if nothing else differs.

    >>> names_differ(["a", "b"], ["b", "a"]), names_differ(["a", "b"], ["b", "c"])
    ('in another order', "without ['a'] and with ['c']")
    """
    missing, more = Counter(wanted) - Counter(came), Counter(came) - Counter(wanted)
    if not missing and not more:
        return "in another order" if list(wanted) != list(came) else ""
    without = [f"without {names_listed(missing.elements())}"] if missing else []
    added = [f"with {names_listed(more.elements())}"] if more else []
    return " and ".join(without + added)
