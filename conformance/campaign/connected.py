"""Spark Connect as a writer: the result batches of ``ExecutePlan`` as the server sent them, before a client decodes.

The server is a plugin in the JVM of the session whose other paths are judged. This module calls it directly, so that
no second kind of session is needed in this process.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import secrets
import uuid
import warnings
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import grpc

from conformance.campaign.resultbatches import BatchChunk, ResultBatch, join
from conformance.campaign.sparkpaths import PATHS
from conformance.reference.message import END_OF_STREAM
from conformance.targets.recordedcall import open_channel

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Connection", "connected", "lacking", "server_settings"]

PLUGIN: Final = "org.apache.spark.sql.connect.SparkConnectPlugin"
SERVICE: Final = "org.apache.spark.sql.connect.service.SparkConnectService$"
TOKEN: Final = "SPARK_CONNECT_AUTHENTICATE_TOKEN"  # noqa: S105  # the name of an environment variable
PROTO: Final = "pyspark.sql.connect.proto"
HOST: Final = "127.0.0.1"
CALL_SECONDS: Final = 120.0
"""Deadline for one plan: the first one starts Spark's Python workers and compiles its code, the others take 0.1 s."""
CHUNK_BYTES: Final = 1024
"""The smallest chunk size that a client may request from a server: most batches then come in several chunks."""
TASKS: Final = 2
VIEW: Final = "conformance_campaign"


def lacking() -> str:
    """The reason why Spark Connect cannot be judged here, in one sentence; empty if it can.

    Raises:
        ImportError: pyspark is not installed.
    """
    importlib.import_module("pyspark")
    try:
        with warnings.catch_warnings():
            # pyspark warns that it was not tested with this version of pandas, which this module does not use.
            warnings.simplefilter("ignore", FutureWarning)
            importlib.import_module(PROTO)
    # protobuf raises an error of its own for generated code that is newer than the installed protobuf.
    except Exception as error:  # noqa: BLE001
        said = " ".join(str(error).split()).rstrip(".")
        return f"Spark Connect is not judged ({said}); it needs: pip install 'arrow-conformance[spark]'"
    return ""


def server_settings(conf: Mapping[str, str]) -> dict[str, str]:
    """``conf`` for a session whose JVM also serves Spark Connect, on loopback, on a port that the system chooses.

    The server requires a token in every call. The JVM gets it through the environment, which only its user can read.
    """
    os.environ.setdefault(TOKEN, secrets.token_hex())
    plugins = ",".join(filter(None, [conf.get("spark.plugins"), PLUGIN]))
    address = {"spark.connect.grpc.binding.address": HOST, "spark.connect.grpc.binding.port": "0"}
    return {**conf, **address, "spark.plugins": plugins}


class Connection:
    """A client of Spark Connect that decodes nothing; errors of its calls are RuntimeErrors with Spark's text."""

    def __init__(self, channel: grpc.Channel, token: str, *, seconds: float = CALL_SECONDS) -> None:
        self._proto: Any = importlib.import_module(PROTO)
        self._stub: Any = self._proto.SparkConnectServiceStub(channel)
        self._token = token
        self._seconds = seconds
        self._session = str(uuid.uuid4())

    def of_frame(self, frame: DataFrame) -> list[ResultBatch]:
        """The result batches of a frame in the same JVM: the tasks of a job write them."""
        frame.createOrReplaceGlobalTempView(VIEW)
        table = self._proto.Read.NamedTable(unparsed_identifier=f"global_temp.{VIEW}")
        read = self._proto.Relation(read=self._proto.Read(named_table=table))
        # Without partitions, the server itself would answer with rows that the driver has. No shuffle, so that the
        # rows stay in order.
        divided = self._proto.Repartition(input=read, num_partitions=TASKS, shuffle=False)
        return self._execute(self._proto.Relation(repartition=divided))

    def of_rows(self, frame: DataFrame) -> list[ResultBatch]:
        """The result batches of a frame's rows, sent as Arrow Java's messages with the request: the server itself
        writes them.
        """
        schema, batches = PATHS["toArrowBatchRdd"](frame)
        data = b"".join([schema, *batches, END_OF_STREAM])
        local = self._proto.LocalRelation(data=data, schema=frame.schema.json())
        return self._execute(self._proto.Relation(local_relation=local))

    def _execute(self, relation: Any) -> list[ResultBatch]:
        user = self._proto.UserContext(user_id="conformance")
        request = self._proto.ExecutePlanRequest(
            session_id=self._session, user_context=user, plan=self._proto.Plan(root=relation)
        )
        if hasattr(self._proto, "ResultChunkingOptions"):  # Spark 4.0 does not divide batches
            chunking = request.request_options.add().result_chunking_options
            chunking.allow_arrow_batch_chunking = True
            chunking.preferred_arrow_chunk_size = CHUNK_BYTES
        headers = [("authorization", f"Bearer {self._token}")]
        try:
            answers = list(self._stub.ExecutePlan(request, metadata=headers, timeout=self._seconds))
        except grpc.RpcError as error:
            call: Any = error
            raise RuntimeError(f"{call.code().name}: {call.details()}") from error
        return join(_chunk(answer.arrow_batch) for answer in answers if answer.HasField("arrow_batch"))


def _chunk(batch: Any) -> BatchChunk:
    offset = batch.start_offset if batch.HasField("start_offset") else None
    count = getattr(batch, "num_chunks_in_batch", 0) or 1  # 0 or no field: the batch is not divided
    return BatchChunk(batch.data, batch.row_count, offset, getattr(batch, "chunk_index", 0), count)


@contextlib.contextmanager
def connected(session: SparkSession, *, multiplier: float = 1.0) -> Iterator[Connection]:
    """A connection to the server in the JVM of a session with :func:`server_settings`; ``multiplier`` stretches
    deadlines.
    """
    jvm: Any = session._jvm  # noqa: SLF001  # no public interface gives the port that the system chose
    port = getattr(getattr(jvm, SERVICE), "MODULE$").localPort()
    with open_channel(f"{HOST}:{port}", message_limit=-1) as channel:
        yield Connection(channel, os.environ[TOKEN], seconds=CALL_SECONDS * multiplier)
