"""Arrow Java as a reader: the copy in Spark's own JVM reads the stored exchanges, and this module compares the
result.

Spark's workers pass only bytes written by pyarrow to its JVM. Therefore the driver gives the bytes of a target to
Arrow Java: ``ArrowStreamReader`` reads schema and batches end to end, ``ArrowStreamWriter`` writes the vectors
again, and pyarrow reads the result. A difference may come from either half of Arrow Java.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

import pyarrow as pa
import pyarrow.parquet as pq

from conformance.campaign.commits import files_of
from conformance.campaign.rejudging import stored_exchange
from conformance.campaign.runfolders import SCHEMAS, RunFiles, Stage
from conformance.contract.viewing import view_of
from conformance.generate import materialise
from conformance.readers.agreement import reported
from conformance.readers.fullread import FullRead, full_reads
from conformance.readers.info import ReaderInfo, Takes
from conformance.readers.messages import NoArrowMessage, stream_bytes
from conformance.readers.plugin import held_tables
from conformance.records import Reading, ReadingOutcome, to_row

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["INFO", "JavaReader", "JavaReadings", "read_stored"]

INFO: Final = ReaderInfo(
    name="arrow-java.jvm",
    title="Arrow Java: ArrowStreamReader in Spark's JVM over schema and batches end to end",
    package="pyspark",
    takes=Takes.STREAM,
)

MEMORY: Final = 1 << 30
"""Bytes that Arrow Java may allocate for one read; a larger allocation is an error of that read."""
MAX_ERROR_TEXT: Final = 1024
EXAMPLES: Final = 5


class JavaReader:
    """Reads full streams with the Arrow Java of a session's JVM."""

    def __init__(self, session: SparkSession) -> None:
        self._jvm = cast(Any, session._jvm)  # noqa: SLF001  # Spark has no other way to its JVM
        self._ipc = self._jvm.org.apache.arrow.vector.ipc

    @property
    def version(self) -> str:
        """The version of Arrow Java from the name of its jar; empty if the name does not contain it."""
        loaded = self._jvm.java.lang.Class.forName("org.apache.arrow.vector.ipc.ArrowStreamReader")
        source = str(loaded.getProtectionDomain().getCodeSource().getLocation())
        return source.rpartition("arrow-vector-")[2].removesuffix(".jar")

    def read(self, whole: FullRead) -> Reading:
        """The reading of a full stream by Arrow Java; an error of Arrow Java is a reading and never raises."""
        from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]  # noqa: PLC0415  # comes with pyspark

        try:
            data = stream_bytes(whole)
        except NoArrowMessage as error:
            return self._error(whole, "NoMessage", str(error))
        allocator = self._jvm.org.apache.arrow.memory.RootAllocator(MEMORY)
        try:
            table = self._rewritten(data, allocator)
        except Py4JJavaError as error:
            thrown = error.java_exception
            return self._error(whole, str(thrown.getClass().getSimpleName()), str(thrown.getMessage() or ""))
        finally:
            self._release(allocator)
        return Reading(INFO.name, whole.case_id, whole.label, ReadingOutcome.TABLE, table)

    def _rewritten(self, data: bytes, allocator: Any) -> bytes:
        out = self._jvm.java.io.ByteArrayOutputStream()
        reader = self._ipc.ArrowStreamReader(self._jvm.java.io.ByteArrayInputStream(data), allocator)
        try:
            channel = self._jvm.java.nio.channels.Channels.newChannel(out)
            writer = self._ipc.ArrowStreamWriter(reader.getVectorSchemaRoot(), None, channel)
            writer.start()
            while reader.loadNextBatch():
                writer.writeBatch()
            writer.end()
        finally:
            reader.close()
        return bytes(out.toByteArray())

    @staticmethod
    def _release(allocator: Any) -> None:
        from py4j.protocol import Py4JJavaError  # noqa: PLC0415  # as above

        try:
            allocator.close()
        except Py4JJavaError:
            return  # a read that failed half-way keeps its buffers; they are lost until the JVM ends

    @staticmethod
    def _error(whole: FullRead, kind: str, text: str) -> Reading:
        said = text[:MAX_ERROR_TEXT]
        return Reading(INFO.name, whole.case_id, whole.label, ReadingOutcome.ERROR, error_class=kind, error_text=said)


@dataclasses.dataclass(frozen=True, slots=True)
class JavaReadings:
    """The readings of stored exchanges by Arrow Java.

    ``read`` counts the full streams that it read correctly; ``others`` maps each other result to its number and its
    first cases; ``file`` has those readings as rows.
    """

    version: str
    read: int
    others: Mapping[str, tuple[int, tuple[str, ...]]]
    file: str


def read_stored(session: SparkSession, layout: RunFiles) -> JavaReadings:
    """Let Arrow Java read every stored exchange of a run, one after another."""
    reader = JavaReader(session)
    counts: Counter[str] = Counter()
    first: dict[str, list[str]] = {}
    rows = []
    for index, reading in _readings(reader, layout):
        made = "read" if not (reading.differences or reading.error_class) else _made(reading)
        counts[made] += 1
        if made != "read":
            first.setdefault(made, []).append(reading.case_id)
            rows.append({"index": index, **to_row(dataclasses.replace(reading, table=b""))})
    for row in rows:
        del row["table"]
    path = layout.run / "java.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMAS[Stage.READ]), path)
    read = counts.pop("read", 0)
    others = {made: (count, tuple(first[made][:EXAMPLES])) for made, count in sorted(counts.items())}
    return JavaReadings(reader.version, read, others, str(path))


def _made(reading: Reading) -> str:
    return reading.error_class or reading.differences[0].partition(": ")[0]


def _readings(reader: JavaReader, layout: RunFiles) -> Iterator[tuple[int, Reading]]:
    """The readings of stored exchanges, compared with the contents of their bytes; bytes that cannot be decoded are
    skipped.
    """
    for file in files_of(layout, Stage.DRIVE):
        for row in pq.ParquetFile(file).read().to_pylist():
            case, exchange = stored_exchange(layout.root, row)
            held = held_tables(view_of(case, exchange, materialise(case.table)))
            reads = (read for read in full_reads(case, exchange) if read.label in held and not read.in_avro)
            readings = [reader.read(read) for read in reads]
            for reading in reported(readings, held, readers={INFO.name: INFO}):
                yield row["index"], reading
