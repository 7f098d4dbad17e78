"""Join two campaigns case by case: newly failing, newly passing, changed bytes, changed values.

The comparison shows the effect of an upgrade. Two cases are the same if their ids are; cases of only one campaign
are counted.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from conformance.campaign.results import frame_of
from conformance.campaign.runfolders import RunFiles, Stage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["ChangeCount", "Comparison", "compare"]

EXAMPLES: Final = 5


@dataclasses.dataclass(frozen=True, slots=True)
class ChangeCount:
    """One kind of change: the number of cases, and the first of them."""

    cases: int
    first: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Comparison:
    """The differences of the second campaign from the first.

    ``failing`` and ``passing`` are by clause: cases that fail the clause only in the second campaign, or only in the
    first. ``bytes`` are cases whose Arrow messages differ, ``values`` those whose rows differ. ``read`` are cases
    for which the set of decoders that read them correctly differs. ``stopped`` are cases that either campaign did not
    ask to the end, which are not compared.
    """

    both: int
    only_first: int
    only_second: int
    failing: Mapping[str, ChangeCount]
    passing: Mapping[str, ChangeCount]
    bytes: ChangeCount
    values: ChangeCount
    read: ChangeCount
    stopped: int = 0

    @property
    def worse(self) -> bool:
        """True if anything fails in the second campaign that did not fail in the first."""
        return bool(self.failing)


_FAILS: Final = "('fail', 'error', 'crash', 'hang', 'refused', 'unexpected-pass')"


def compare(session: SparkSession, first: RunFiles, second: RunFiles) -> Comparison:
    """Compare two runs case by case; they may be in different directories and come from different machines."""
    for name, layout in (("a", first), ("b", second)):
        frame_of(session, layout, Stage.JUDGE).createOrReplaceTempView(f"judge_{name}")
        frame_of(session, layout, Stage.VERDICTS).createOrReplaceTempView(f"verdicts_{name}")
    session.sql(
        """
        SELECT a.case_id, a.index, a.bytes_digest IS DISTINCT FROM b.bytes_digest AS bytes,
               a.values_digest IS DISTINCT FROM b.values_digest AS `values`, a.read <> b.read AS read
        FROM judge_a a JOIN judge_b b USING (case_id)
        WHERE NOT coalesce(a.stopped, false) AND NOT coalesce(b.stopped, false)
        """
    ).createOrReplaceTempView("joined")
    counts = session.sql(
        """
        SELECT (SELECT count(*) FROM judge_a JOIN judge_b USING (case_id)) AS both,
               (SELECT count(*) FROM joined) AS compared,
               (SELECT count(*) FROM judge_a LEFT ANTI JOIN judge_b USING (case_id)) AS only_first,
               (SELECT count(*) FROM judge_b LEFT ANTI JOIN judge_a USING (case_id)) AS only_second
        """
    ).collect()[0]
    return Comparison(
        both=counts["both"],
        only_first=counts["only_first"],
        only_second=counts["only_second"],
        failing=_failing(session, "b", "a"),
        passing=_failing(session, "a", "b"),
        bytes=_flagged(session, "bytes"),
        values=_flagged(session, "values"),
        read=_flagged(session, "read"),
        stopped=counts["both"] - counts["compared"],
    )


def _flagged(session: SparkSession, flag: str) -> ChangeCount:
    found = session.table("joined").where(f"`{flag}`")
    return ChangeCount(found.count(), _first(found))


def _first(found: DataFrame) -> tuple[str, ...]:
    return tuple(row["case_id"] for row in found.orderBy("index").limit(EXAMPLES).collect())


def _failing(session: SparkSession, here: str, there: str) -> dict[str, ChangeCount]:
    """By clause: cases of both campaigns that fail it in ``here`` but not in ``there``."""
    query = f"""
        SELECT clause, count(*) AS cases, array_sort(collect_list(struct(index, case_id))) AS found
        FROM (SELECT DISTINCT h.clause, j.index, h.case_id FROM verdicts_{here} h JOIN joined j USING (case_id)
              LEFT ANTI JOIN (SELECT clause, case_id FROM verdicts_{there} WHERE outcome IN {_FAILS}) t
              ON h.clause = t.clause AND h.case_id = t.case_id WHERE h.outcome IN {_FAILS})
        GROUP BY clause ORDER BY clause
    """  # noqa: S608  # the names are constants of this module
    rows: list[Any] = (
        session.sql(query).selectExpr("clause", "cases", f"slice(found, 1, {EXAMPLES}) AS found").collect()
    )
    return {row["clause"]: ChangeCount(row["cases"], tuple(one["case_id"] for one in row["found"])) for row in rows}
