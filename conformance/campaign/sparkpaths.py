"""The paths on which Arrow messages leave a Spark session; each gives a schema message and batch messages."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any, Final

import pyarrow as pa

from conformance.reference.message import END_OF_STREAM

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["PATHS", "Messages"]

Messages = tuple[bytes, Sequence[bytes]]


def _bare(frame: DataFrame) -> Messages:
    """``toArrowBatchRdd``: bare RecordBatch messages made by Arrow Java, with the schema that pyspark assigns to
    them.
    """
    batches = frame._jdf.toArrowBatchRdd().collect()  # noqa: SLF001  # Spark's own path
    return _schema(frame), [bytes(batch) for batch in batches]


def _stream(frame: DataFrame) -> Messages:
    """The input of ``toArrow`` and ``toPandas``: a complete Arrow stream that the driver's JVM writes to a socket."""
    from pyspark.errors.exceptions.captured import unwrap_spark_exception  # noqa: PLC0415  # a sandbox imports no Spark
    from pyspark.util import _load_from_socket  # noqa: PLC0415  # as above

    port, secret, server = frame._jdf.collectAsArrowToPython()  # noqa: SLF001  # as above
    try:
        with _load_from_socket((port, secret), _Raw()) as data:  # type: ignore[arg-type]  # only load_stream is called
            messages = _cut(data)
    finally:
        with unwrap_spark_exception():
            server.getResult()
    return messages


def _table(frame: DataFrame) -> Messages:
    """``toArrow``: the table that a user gets, written by pyarrow; it shows the values, but no bytes written by
    Spark.
    """
    table = frame.toArrow()
    return bytes(table.schema.serialize()), [bytes(batch.serialize()) for batch in table.to_batches()]


def _mapped(frame: DataFrame) -> Messages:
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
    """A Spark serializer that returns the bytes from a socket unchanged."""

    def load_stream(self, stream: IO[bytes]) -> bytes:
        """All bytes up to the end of the stream."""
        return stream.read()


def _cut(data: bytes) -> Messages:
    """The schema message and the batches of a stream, in the order of the rows.

    Partitions are sent in the order in which they finish; after the stream's end, Spark sends the position of each
    batch
    (``ArrowCollectSerializer`` in
    https://github.com/apache/spark/blob/master/python/pyspark/sql/pandas/serializers.py).
    """
    source = pa.BufferReader(data)
    messages: list[bytes] = []
    while (start := source.tell()) < len(data) and data[start : start + 8] != END_OF_STREAM:
        pa.ipc.read_message(source)
        messages.append(data[start : source.tell()])
    schema, *batches = messages
    (count,) = struct.unpack_from(">i", data, start + len(END_OF_STREAM))
    if count < 0:
        said = data[start + len(END_OF_STREAM) + 8 :].decode(errors="replace")
        raise ValueError(f"Spark ends its stream with an error: {said}")
    order = struct.unpack_from(f">{count}i", data, start + len(END_OF_STREAM) + 4)
    if sorted(order) != list(range(len(batches))):
        raise ValueError(f"expected the positions of {len(batches)} batches after the stream's end but got {order}")
    return schema, [batches[place] for place in order]


PATHS: Final[Mapping[str, Callable[[Any], Messages]]] = MappingProxyType(
    {"toArrowBatchRdd": _bare, "collectAsArrowToPython": _stream, "toArrow": _table, "mapInArrow": _mapped}
)
"""The paths out of Spark, by the name of the function that uses them."""
