"""The plan of a campaign as a Spark Python data source: ranges of case indices, divided into partitions.

A case follows from (seed, index) alone, so a plan is only arithmetic: no case is drawn before its task runs, and
case *k* is the same in every partitioning.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple
from typing import Final

import pyarrow as pa
from pyarrow import RecordBatch
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from conformance.campaign.campaignjob import Range

__all__ = ["PLAN_DDL", "PLAN_FORMAT", "PlanSource", "options", "ranges", "shares"]

PLAN_FORMAT: Final = "conformance_plan"
"""The name under which the source is registered."""
PLAN_DDL: Final = "number bigint, first bigint, last bigint"

MOST: Final = 8
"""The most ranges per task. Spark ends the worker that reads its plan after it has been idle for a minute, and the
worker's sandbox ends with it.
"""

_SCHEMA: Final = pa.schema([("number", pa.int64()), ("first", pa.int64()), ("last", pa.int64())])


def ranges(first: int, last: int, *, size: int, number: int = 0) -> list[Range]:
    """Ranges of ``size`` cases from ``first`` to ``last`` (excluded), numbered from ``number``."""
    starts = range(first, last, size)
    return [Range(number + place, start, min(start + size, last)) for place, start in enumerate(starts)]


def shares(spans: Sequence[Range], *, slots: int) -> list[Sequence[Range]]:
    """The ranges of each task, for ``slots`` tasks that run at a time.

    A task costs Spark a fraction of a second, and its ranges run one after another. The first tasks get many ranges
    and the last ones a single range, so that no core waits long for another (guided self-scheduling,
    Polychronopoulos and Kuck, https://doi.org/10.1109/TC.1987.5009495).
    """
    dealt: list[Sequence[Range]] = []
    place = 0
    while place < len(spans):
        count = min(MOST, max(1, (len(spans) - place) // (2 * slots)))
        dealt.append(spans[place : place + count])
        place += count
    return dealt


def options(dealt: Sequence[Sequence[Range]]) -> dict[str, str]:
    """The options of the source: the ranges of each partition."""
    return {"shares": json.dumps([list(map(astuple, share)) for share in dealt])}


class _Share(InputPartition):
    """The ranges of one partition."""

    def __init__(self, spans: Sequence[Sequence[int]]) -> None:
        super().__init__(spans)
        self.spans = [Range(*span) for span in spans]


class _PlanReader(DataSourceReader):
    """Yields the ranges of a partition, one batch each."""

    def __init__(self, shares: Sequence[Sequence[Sequence[int]]]) -> None:
        self._shares = shares

    def partitions(self) -> Sequence[InputPartition]:
        """One partition per share."""
        return [_Share(share) for share in self._shares]

    def read(self, partition: InputPartition) -> Iterator[RecordBatch]:
        """The rows of one share."""
        assert isinstance(partition, _Share)
        for span in partition.spans:
            yield pa.RecordBatch.from_pylist([dict(zip(_SCHEMA.names, astuple(span), strict=True))], schema=_SCHEMA)


class PlanSource(DataSource):
    """``spark.read.format("conformance_plan")``, with the options that :func:`options` makes."""

    @classmethod
    def name(cls) -> str:
        """The format's name."""
        return PLAN_FORMAT

    def schema(self) -> str:
        """Number, first and last case index (excluded) of a range."""
        return PLAN_DDL

    def reader(self, schema: object) -> DataSourceReader:  # noqa: ARG002  # pyspark's signature
        """A reader over the shares in the options."""
        held: Mapping[str, str] = self.options
        return _PlanReader(json.loads(held["shares"]))
