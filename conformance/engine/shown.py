"""Which expected failures a narrowed run decides: those whose failure could only have shown on cases that ran.

The cases that can show a clause are those made for it, those on which the clause is judged when the reference
answers, and those on which it fails on a mutant (``golden/shown.json``, written by ``python -m publish.refresh``).
Being made for a clause is not enough to know: many defects break a clause on other cases than those. The file has
the clauses that few cases can show; for any other clause only a run of all cases decides.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from conformance.disk.files import data_file
from conformance.engine.expectations import glob_match
from conformance.engine.selection import NOT_OF_PROFILE, OTHER_SHARD, LeftOut
from conformance.targets.spec import ExpectedFailure

__all__ = ["FEW", "FILE", "decided", "shown_by", "skipped"]

FILE = "shown.json"
FEW = 20
"""The most cases of a clause in the file; a narrowed run seldom has more of one clause and not all others."""


@functools.cache
def shown_by() -> tuple[frozenset[str], Mapping[str, frozenset[str]]]:
    """The cases of the corpus, and for each clause that few of them can show, those cases."""
    data = json.loads(data_file("golden", FILE).read_text(encoding="utf-8"))
    return frozenset(data["cases"]), {clause: frozenset(cases) for clause, cases in data["shown"].items()}


def decided(
    expectations: Sequence[ExpectedFailure], clauses: Iterable[str], left_out: Collection[LeftOut]
) -> tuple[int, ...]:
    """The indices of the entries that a run of ``clauses`` decides although they cover something in ``left_out``.

    Each clause that an entry covers is chosen, and so is each case that the entry covers and that can show the
    clause. A case that is not of the suite's corpus may show anything. Cases of other shards do not count as left
    out.
    """
    missing = {one.id for one in left_out if one.kind == "case" and one.reason != OTHER_SHARD}
    unjudged = [*skipped(left_out, "clause")]
    if not expectations or not (missing or unjudged):
        return ()
    corpus, few = shown_by()
    chosen = tuple(clauses)

    def settles(entry: ExpectedFailure) -> bool:
        if any(glob_match(clause, entry.clause) for clause in unjudged):
            return False
        covered = [clause for clause in chosen if glob_match(clause, entry.clause)]
        return bool(covered) and all(_all_ran(entry, few.get(clause)) for clause in covered)

    def _all_ran(entry: ExpectedFailure, showing: frozenset[str] | None) -> bool:
        if showing is None:
            return False
        could = [case for case in showing if glob_match(case, entry.case)]
        strange = (case for case in missing - corpus if glob_match(case, entry.case))
        return bool(could) and missing.isdisjoint(could) and next(strange, None) is None

    return tuple(index for index, entry in enumerate(expectations) if settles(entry))


def skipped(left_out: Iterable[LeftOut], kind: str) -> Iterator[str]:
    """The ids of this kind that were left out, except clauses that no run of the profile has."""
    return (one.id for one in left_out if one.kind == kind and one.reason != NOT_OF_PROFILE)
