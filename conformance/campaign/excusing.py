"""Expected failures in a campaign: known defects are counted but do not fail the campaign.

The rows of a campaign record what was observed. Expected failures are applied when the rows are summed up, from the
target file as it is then, so an entry added later needs no new campaign. The rules are those of
:mod:`conformance.engine.expectations`: a verdict is excused if an entry excuses each of its reason classes. An entry
that excuses nothing is reported if it can apply to drawn cases only; other entries may be needed by cases that a
campaign does not draw.
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from conformance.engine.expectations import glob_match
from conformance.records import Outcome
from conformance.targets.spec import ExpectedFailure

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["excused", "idle", "settled"]

_EXCUSABLE: Final = tuple(str(one) for one in (Outcome.FAIL, Outcome.CRASH, Outcome.HANG, Outcome.REFUSED))
"""Outcomes that an entry may excuse; an error of the suite cannot be an expected failure."""


def excused(verdicts: DataFrame, expectations: Sequence[ExpectedFailure]) -> DataFrame:
    """The rows of verdicts, with the outcome of those that are expected replaced by *expected failure*."""
    if not expectations:
        return verdicts
    from pyspark.sql import functions as sql  # noqa: PLC0415  # a sandbox imports no Spark

    def entry(one: ExpectedFailure, reason: Column) -> Column:
        clause, case = _is(sql.col("clause"), one.clause), _is(sql.col("case_id"), one.case)
        return clause & case & _is(reason, one.reason)

    def any_entry(reason: Column) -> Column:
        return functools.reduce(operator.or_, (entry(one, reason) for one in expectations))

    known = sql.col("outcome").isin(*_EXCUSABLE) & sql.forall("classes", any_entry)
    expected = sql.lit(str(Outcome.EXPECTED_FAIL))
    return verdicts.withColumn("outcome", sql.when(known, expected).otherwise(sql.col("outcome")))


def settled(judged: DataFrame, verdicts: DataFrame, weights: Sequence[Outcome]) -> DataFrame:
    """The rows of cases, with outcomes computed again from verdicts some of which are excused.

    ``weights`` are all outcomes, the heaviest last. A case with only expected failures is an expected failure.
    """
    from pyspark.sql import functions as sql  # noqa: PLC0415  # as above

    order = sql.array(*(sql.lit(str(outcome)) for outcome in weights))
    place = sql.array_position(order, sql.col("outcome"))
    heaviest = verdicts.groupBy("index").agg(sql.max(place).cast("int").alias("weight"))
    now = sql.when(sql.col("weight").isNull(), sql.col("outcome")).otherwise(sql.element_at(order, sql.col("weight")))
    return judged.join(heaviest, "index", "left").withColumn("outcome", now).drop("weight")


def _is(text: Column, glob: str) -> Column:
    """True if the glob matches the whole of a text; only ``*`` is special."""
    return text.rlike("(?s)^" + ".*".join(map(re.escape, glob.split("*"))) + r"\z")


def _described(glob: str) -> Callable[[Column], Column]:
    """The same as a function of one column, which is what Spark's functions take."""

    def described(text: Column) -> Column:
        return _is(text, glob)

    return described


def idle(
    judged: DataFrame, verdicts: DataFrame, expectations: Sequence[ExpectedFailure], corpus: Iterable[str]
) -> tuple[str, ...]:
    """A sentence for each entry that names only drawn cases of this campaign and excused none of their verdicts.

    ``verdicts`` are as they were before anything was excused; ``corpus`` are the ids of the cases that are not
    drawn.
    """
    from pyspark.sql import functions as sql  # noqa: PLC0415  # as above

    known = tuple(corpus)
    reported = []
    for one in expectations:
        if one.sometimes or any(glob_match(name, one.case) for name in known):
            continue
        meant = judged.where(_is(sql.col("case_id"), one.case))
        failed = verdicts.where(sql.col("outcome").isin(*_EXCUSABLE))
        used = failed.where(_is(sql.col("clause"), one.clause) & _is(sql.col("case_id"), one.case)).where(
            sql.exists("classes", _described(one.reason))
        )
        if meant.head(1) and not meant.where("stopped").head(1) and not used.head(1):
            reported.append(
                f"the expected failure of {one.clause!r} on {one.case!r} excuses nothing in this campaign;"
                " remove it or correct it"
            )
    return tuple(reported)
