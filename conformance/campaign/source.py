"""The plan of a campaign as a Python Data Source: ranges of case indices, so many to a partition.

Random access by (seed, index) makes a plan nothing but arithmetic: no case is drawn before a task works on it, and
case *k* is the same on every partitioning.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple
from typing import Final

import pyarrow as pa
from pyarrow import RecordBatch
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from conformance.campaign.job import Range

__all__ = ["PLAN_DDL", "PLAN_FORMAT", "PlanSource", "options", "ranges"]

PLAN_FORMAT: Final = "conformance_plan"
"""The name that the source is registered under."""
PLAN_DDL: Final = "number bigint, first bigint, last bigint"

_SCHEMA: Final = pa.schema([("number", pa.int64()), ("first", pa.int64()), ("last", pa.int64())])


def ranges(first: int, last: int, *, size: int, number: int = 0) -> list[Range]:
    """Ranges of ``size`` cases from ``first`` to ``last`` (excluded), numbered from ``number``."""
    starts = range(first, last, size)
    return [Range(number + place, start, min(start + size, last)) for place, start in enumerate(starts)]


def options(spans: Sequence[Range], *, partitions: int) -> dict[str, str]:
    """The source's options: the ranges to work on, dealt out to at most so many partitions."""
    shares = [list(map(astuple, spans[place::partitions])) for place in range(min(partitions, len(spans)))]
    return {"shares": json.dumps(shares)}


class _Share(InputPartition):
    """The ranges of one partition."""

    def __init__(self, spans: Sequence[Sequence[int]]) -> None:
        super().__init__(spans)
        self.spans = [Range(*span) for span in spans]


class _PlanReader(DataSourceReader):
    """Yields the ranges of a partition, one batch each, so that a task works on one while it has the next."""

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
