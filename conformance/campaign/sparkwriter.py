"""Spark itself as a writer: a schema message and batch messages from each of its Arrow paths.

The rows of a drawn case are passed to Spark as an Arrow table, and read back on each of
:data:`~conformance.campaign.sparkpaths.PATHS`, and through Spark Connect (:mod:`conformance.campaign.connected`) if
the session serves it. Spark has its own types, so its messages are judged like those of any writer (profile
``ipc-message``, the streams of Connect ``ipc-stream``) and not against the columns of BigQuery. A separate check
compares the values.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from conformance.campaign.connected import Connection
from conformance.campaign.resultbatches import judge_results, rows_of
from conformance.campaign.sparkpaths import PATHS, Messages
from conformance.contain.text import keep_safe
from conformance.contract.comparing.differences import differences
from conformance.contract.files import judge_bytes
from conformance.contract.view import BatchBytes, SchemaBytes
from conformance.generate import draw_case, materialise
from conformance.records import BqType, Column, Verdict

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["SETTINGS", "Emitted", "judge_spark", "takes"]


@dataclasses.dataclass(frozen=True, slots=True)
class Emitted:
    """The result of one path for one case: the verdicts on its messages, or the error instead of messages.

    ``kept`` is true if the returned rows equal the rows passed in; None if Spark has other types for them.
    """

    path: str
    case_id: str
    verdicts: tuple[Verdict, ...] = ()
    error: str = ""
    kept: bool | None = None

    def __post_init__(self) -> None:
        keep_safe(self, "error")


_Rows = Sequence[pa.RecordBatch] | None


@dataclasses.dataclass(frozen=True, slots=True)
class _Way:
    """One path out of Spark: functions that get its output, judge it, and decode its rows with the suite's own
    decoder.
    """

    emit: Callable[[DataFrame], Any]
    judge: Callable[[Any], list[Verdict]]
    rows: Callable[[Any], _Rows]


SETTINGS: Final[Mapping[str, str]] = MappingProxyType(
    {"spark.sql.session.timeZone": "UTC", "spark.sql.timestampType": "TIMESTAMP_NTZ"}
)
"""Settings with which Spark has types both for points in time and for times without a zone. By default it has a
single type for both and gives it the zone of the machine.
"""

_TYPES: Final = frozenset(BqType) - {BqType.BIGNUMERIC, BqType.TIME, BqType.INTERVAL}
"""Types whose Arrow form Spark 4.0 accepts: it has no 256-bit decimal, no time of day, no mixed interval."""


def takes(columns: Sequence[Column]) -> bool:
    """True if Spark has a type for each of the columns."""
    return all(column.type in _TYPES and takes(column.fields) for column in columns)


def judge_spark(
    session: SparkSession, *, cases: int, seed: int, connection: Connection | None = None
) -> Iterator[Emitted]:
    """Put ``cases`` drawn tables (of those that Spark has types for) through every path of the session's Spark.

    With a ``connection`` to the session's server, Spark Connect is a path too.
    """
    ways = _ways(connection)
    found, index = 0, 0
    while found < cases:
        case = draw_case(seed, index, profile="arrow")
        index += 1
        if not takes(case.table.columns):
            continue
        found += 1
        table = materialise(case.table)
        for path, way in ways.items():
            try:
                emitted = way.emit(session.createDataFrame(table))
            except Exception as error:  # noqa: BLE001  # any exception of Spark is its answer
                yield Emitted(path, case.id, error=f"{type(error).__name__}: {_shortened(str(error))}")
                continue
            verdicts = tuple(way.judge(emitted))
            try:
                yield Emitted(path, case.id, verdicts, kept=_kept(table, way.rows(emitted)))
            except ValueError as error:
                yield Emitted(path, case.id, verdicts, error=str(error))


def _ways(connection: Connection | None) -> dict[str, _Way]:
    ways = {path: _Way(emit, _judge_messages, _rows_of_messages) for path, emit in PATHS.items()}
    if connection is not None:
        ways["connect"] = _Way(connection.of_frame, judge_results, rows_of)
        ways["connect, local rows"] = _Way(connection.of_rows, judge_results, rows_of)
    return ways


def _judge_messages(messages: Messages) -> list[Verdict]:
    schema, batches = messages
    return judge_bytes(schema, batches, profile="ipc-message")


def _rows_of_messages(messages: Messages) -> _Rows:
    schema, batches = messages
    declared = SchemaBytes(0, 0, schema, "serializer").message.schema
    decoded = [BatchBytes(0, 0, batch, declared).arrow() for batch in batches]
    return None if any(batch is None for batch in decoded) else decoded


def _shortened(said: str) -> str:
    """An error in one line without its middle: the types at the beginning are long, and the reason is at the end."""
    line = " ".join(said.split())
    return line if len(line) <= 2 * _END_SHOWN else f"{line[:_END_SHOWN]} ... {line[-_END_SHOWN:]}"


_END_SHOWN: Final = 150


def _kept(table: pa.Table, rows: _Rows) -> bool | None:
    """True if the rows equal those of ``table``; None if all are there, but with other types."""
    if rows is None or sum(batch.num_rows for batch in rows) != table.num_rows:
        return False
    if not rows:
        return True
    got = pa.Table.from_batches(rows)
    if got.schema.types != table.schema.types:
        return None
    # Without a cast: below a NULL struct, a field that is not nullable may be NULL, and a cast refuses that.
    return not differences(table, pa.Table.from_arrays(got.columns, schema=table.schema))
