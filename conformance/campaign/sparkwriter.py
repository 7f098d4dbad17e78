"""Spark itself as a writer: what it emits through its own Arrow paths, as a schema message and batch messages.

The rows of a drawn case are handed to Spark as an Arrow table, and taken back by each of :data:`PATHS`.
Spark has types of its own, so its messages are judged as any writer's are (profile ``ipc-message``) and not against the
columns of BigQuery; that the values came through is looked at beside.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any, Final

import pyarrow as pa

from conformance.contract.files import judge_bytes
from conformance.contract.values import identical
from conformance.contract.view import BatchBytes, SchemaBytes
from conformance.generate import draw_case, materialise
from conformance.records import BqType, Column, Verdict

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["PATHS", "Emitted", "judge_spark", "takes"]


@dataclasses.dataclass(frozen=True, slots=True)
class Emitted:
    """What one path made of one case: the verdicts on its messages, or the error in place of messages.

    ``kept`` says whether the rows that came are those that were handed in; None where Spark has other types for them.
    """

    path: str
    case_id: str
    verdicts: tuple[Verdict, ...] = ()
    error: str = ""
    kept: bool | None = None


_Messages = tuple[bytes, Sequence[bytes]]

_TYPES: Final = frozenset(BqType) - {BqType.BIGNUMERIC, BqType.TIME, BqType.INTERVAL}
"""Types whose Arrow form Spark 4.0 takes: it has no 256-bit decimal, no time of day, no mixed interval."""


def takes(columns: Sequence[Column]) -> bool:
    """Whether Spark has a type for each of the columns."""
    return all(column.type in _TYPES and takes(column.fields) for column in columns)


def judge_spark(session: SparkSession, *, cases: int, seed: int) -> Iterator[Emitted]:
    """Put ``cases`` drawn tables (of those that Spark has types for) through every path of the session's Spark."""
    found, index = 0, 0
    while found < cases:
        case = draw_case(seed, index, profile="arrow")
        index += 1
        if not takes(case.table.columns):
            continue
        found += 1
        table = materialise(case.table)
        for path, emit in PATHS.items():
            try:
                schema, batches = emit(session.createDataFrame(table))
            except Exception as error:  # noqa: BLE001  # whatever Spark raises is its answer
                said = " ".join(str(error).split())[:300]
                yield Emitted(path, case.id, error=f"{type(error).__name__}: {said}")
                continue
            verdicts = judge_bytes(schema, batches, profile="ipc-message")
            yield Emitted(path, case.id, tuple(verdicts), kept=_kept(table, schema, batches))


def _kept(table: pa.Table, schema: bytes, batches: Sequence[bytes]) -> bool | None:
    """Whether the messages hold the rows of ``table``, by the suite's own decoding."""
    declared = SchemaBytes(0, 0, schema, "serializer").message.schema
    decoded = [BatchBytes(0, 0, batch, declared).arrow() for batch in batches]
    if any(batch is None for batch in decoded):
        return False
    if not decoded:
        return bool(table.num_rows == 0)
    got = pa.Table.from_batches(decoded)
    if [field.type for field in got.schema] != [field.type for field in table.schema]:
        return None
    return identical(table, got.cast(table.schema))


def _bare(frame: DataFrame) -> _Messages:
    """``toArrowBatchRdd``: bare RecordBatch messages made by Arrow Java, under the schema that pyspark gives them."""
    batches = frame._jdf.toArrowBatchRdd().collect()  # noqa: SLF001  # Spark's own path
    return _schema(frame), [bytes(batch) for batch in batches]


def _stream(frame: DataFrame) -> _Messages:
    """What ``toArrow`` and ``toPandas`` decode: a whole Arrow stream that the driver's JVM writes to a socket."""
    from pyspark.errors.exceptions.captured import unwrap_spark_exception  # noqa: PLC0415  # a lab has no Spark
    from pyspark.util import _load_from_socket  # noqa: PLC0415  # as above

    port, secret, server = frame._jdf.collectAsArrowToPython()  # noqa: SLF001  # as above
    try:
        with _load_from_socket((port, secret), _Raw()) as data:  # type: ignore[arg-type]  # it only loads
            messages = _cut(data)
    finally:
        with unwrap_spark_exception():
            server.getResult()
    return messages


def _table(frame: DataFrame) -> _Messages:
    """``toArrow``: the table that a user gets, written by pyarrow; it shows values and no bytes of Spark's."""
    table = frame.toArrow()
    return bytes(table.schema.serialize()), [bytes(batch.serialize()) for batch in table.to_batches()]


def _mapped(frame: DataFrame) -> _Messages:
    """``mapInArrow``: the batches that a function in a Python worker gets, as pyarrow writes them there."""
    from pyspark.sql.types import BinaryType, StructField, StructType  # noqa: PLC0415  # as above

    def written(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        names = ["schema", "batch"]
        for batch in batches:
            data = [bytes(batch.schema.serialize())], [bytes(batch.serialize())]
            yield pa.RecordBatch.from_arrays([pa.array(one, pa.binary()) for one in data], names)

    fields = StructType([StructField("schema", BinaryType()), StructField("batch", BinaryType())])
    rows = frame.coalesce(1).mapInArrow(written, fields).collect()
    return (bytes(rows[0]["schema"]) if rows else _schema(frame)), [bytes(row["batch"]) for row in rows]


def _schema(frame: DataFrame) -> bytes:
    from pyspark.sql.pandas.types import to_arrow_schema  # noqa: PLC0415  # as above

    return bytes(to_arrow_schema(frame.schema, timezone="UTC").serialize())


class _Raw:
    """Takes what comes from a socket as it is."""

    def load_stream(self, stream: IO[bytes]) -> bytes:
        """Everything up to the end."""
        return stream.read()


def _cut(data: bytes) -> _Messages:
    """The schema message and the batches of a stream, in the order of the rows.

    Partitions are sent as they are done; behind the stream's end Spark says which place each batch has
    (``ArrowCollectSerializer`` in https://github.com/apache/spark/blob/master/python/pyspark/sql/pandas/serializers.py).
    """
    source = pa.BufferReader(data)
    messages: list[bytes] = []
    while (start := source.tell()) < len(data) and data[start : start + 8] != _END:
        pa.ipc.read_message(source)
        messages.append(data[start : source.tell()])
    schema, *batches = messages
    (count,) = struct.unpack_from(">i", data, start + len(_END))
    if count < 0:
        said = data[start + len(_END) + 8 :].decode(errors="replace")
        raise ValueError(f"Spark ends its stream with an error: {said}")
    order = struct.unpack_from(f">{count}i", data, start + len(_END) + 4)
    if sorted(order) != list(range(len(batches))):
        raise ValueError(f"expected the places of {len(batches)} batches behind the stream's end but got {order}")
    return schema, [batches[place] for place in order]


_END: Final = b"\xff\xff\xff\xff\x00\x00\x00\x00"

PATHS: Final[Mapping[str, Callable[[Any], _Messages]]] = MappingProxyType(
    {"toArrowBatchRdd": _bare, "collectAsArrowToPython": _stream, "toArrow": _table, "mapInArrow": _mapped}
)
"""The ways out of Spark, by the name of the function that takes them."""
