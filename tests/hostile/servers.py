"""gRPC servers that attack in their answers: what a session promises, what a stream brings."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final

import pyarrow as pa

from conformance.contract import proto
from tests.hostile.attack import PATIENT, Act, Expected, Part, register

__all__: list[str] = []

MIB: Final = 1 << 20
HANG: Final = Expected(("hang",), "no end within")
FLOOD: Final = Expected(("hang",), "sent too much")
CRASH: Final = Expected(("crash",), "signal|status|connection")
FAIL: Final = Expected(("fail",))


def _session(name: str, expected: Expected, **more: Any) -> Callable[[Act], Act]:
    return register(name, Part.SESSION, expected, **more)


def _rows(name: str, expected: Expected, **more: Any) -> Callable[[Act], Act]:
    return register(name, Part.ROWS, expected, **more)


def for_ever() -> None:
    """Wait until the process is ended."""
    threading.Event().wait()


# --- sessions -----------------------------------------------------------------------------------------


@_session("grpc.hang-before-session", HANG)
def hang_before_session(answer: Any, context: Any) -> None:
    """CreateReadSession never answers."""
    for_ever()


@_session("grpc.id-of-50-mib", Expected(("fail", "hang", "refused")))
def id_of_50_mib(answer: Any, context: Any) -> None:
    """The session's id has 50 MiB."""
    answer.name += "x" * (50 * MIB)


@_session("grpc.stream-name-of-20-mib", Expected(("fail", "hang", "refused")))
def stream_name_of_20_mib(answer: Any, context: Any) -> None:
    """The name of a stream, which the suite must send back, has 20 MiB."""
    answer.streams[0].name += "x" * (20 * MIB)


@_session("grpc.hundred-thousand-columns", FAIL, deadline=15.0)
def hundred_thousand_columns(answer: Any, context: Any) -> None:
    """The schema of a table of two columns has 100,000."""
    schema = pa.schema([pa.field(f"c{number}", pa.int64()) for number in range(100_000)])
    answer.arrow_schema.serialized_schema = schema.serialize().to_pybytes()


@_session("grpc.hundred-thousand-equal-columns", FAIL, deadline=15.0)
def hundred_thousand_equal_columns(answer: Any, context: Any) -> None:
    """The schema has 100,000 columns with the same name."""
    schema = pa.schema([pa.field("row_id", pa.int64())] * 100_000)
    answer.arrow_schema.serialized_schema = schema.serialize().to_pybytes()


@_session("grpc.deep-schema", FAIL)
def deep_schema(answer: Any, context: Any) -> None:
    """The schema nests records 2000 levels deep."""
    kind: pa.DataType = pa.int64()
    for _ in range(2000):
        kind = pa.struct([pa.field("a", kind)])
    answer.arrow_schema.serialized_schema = pa.schema([pa.field("row_id", kind)]).serialize().to_pybytes()


@_session("grpc.schema-metadata-of-48-mib", Expected(("fail", "hang", "pass")))
def schema_metadata_of_48_mib(answer: Any, context: Any) -> None:
    """The schema's metadata has 48 MiB."""
    schema = pa.ipc.read_schema(pa.py_buffer(answer.arrow_schema.serialized_schema))
    heavy = schema.with_metadata({"k": "v" * (48 * MIB)})
    answer.arrow_schema.serialized_schema = heavy.serialize().to_pybytes()


@_session("grpc.million-metadata-keys", Expected(("fail", "hang", "pass")), deadline=15.0)
def million_metadata_keys(answer: Any, context: Any) -> None:
    """The schema's metadata has 500,000 keys."""
    schema = pa.ipc.read_schema(pa.py_buffer(answer.arrow_schema.serialized_schema))
    heavy = schema.with_metadata({f"k{number}": "v" for number in range(500_000)})
    answer.arrow_schema.serialized_schema = heavy.serialize().to_pybytes()


AVRO: Final[dict[str, Any]] = {"alone": True, "options": ("--data-format", "avro"), "deadline": 20.0}


def _in(says: str) -> Expected:
    """A finding in these words; the server has no rows in Avro for the case after it."""
    return Expected(("fail",), says, later=False)


def _in_avro(answer: Any, schema: object) -> None:
    """Give a session in Avro this schema."""
    answer.ClearField("arrow_schema")
    answer.avro_schema.schema = json.dumps(schema)


@_session("grpc.avro-schema-of-2-to-40-types", _in("avro-schema"), **AVRO)
def avro_schema_of_2_to_40_types(answer: Any, context: Any) -> None:
    """The Avro schema of a session has 2^40 types, because each of 40 records has the one before it twice."""
    made: object = {"type": "record", "name": "r0", "fields": [{"name": "a", "type": "long"}]}
    for number in range(1, 41):
        fields = [{"name": "a", "type": made}, {"name": "b", "type": f"r{number - 1}"}]
        made = {"type": "record", "name": f"r{number}", "fields": fields}
    _in_avro(answer, made)


@_session("grpc.avro-schema-of-seventy-levels", _in("more than 64 deep"), **AVRO)
def avro_schema_of_seventy_levels(answer: Any, context: Any) -> None:
    """The Avro schema of a session has 70 records inside each other."""
    made: object = "long"
    for number in range(70):
        made = {"type": "record", "name": f"r{number}", "fields": [{"name": "a", "type": made}]}
    _in_avro(answer, made)


@_session("grpc.million-streams", Expected(("hang", "fail")), deadline=15.0)
def million_streams(answer: Any, context: Any) -> bytes:
    """The session names a million streams."""
    prefix: bytes = answer.SerializeToString()
    one: bytes = proto.ReadSession(streams=[proto.ReadStream(name=f"{answer.name}/streams/0")]).SerializeToString()
    return prefix + one * 1_000_000


@_session("grpc.name-is-no-utf8", Expected(("fail", "refused")))
def name_is_no_utf8(answer: Any, context: Any) -> bytes:
    """The session's name is not UTF-8."""
    data: bytes = answer.SerializeToString()
    return data.replace(b"/sessions/s", b"/sessions/\xff")


@_session("grpc.session-is-garbage", Expected(("fail", "refused")), settings={"deadlines": PATIENT})
def session_is_garbage(answer: Any, context: Any) -> bytes:
    """CreateReadSession answers OK with bytes that are not a message."""
    return b"\xff" * 4096


@_session("grpc.deep-groups", Expected(("fail", "refused", "pass")))
def deep_groups(answer: Any, context: Any) -> bytes:
    """The answer nests 100,000 groups of unknown fields."""
    data: bytes = answer.SerializeToString()
    return data + b"\xfb\x7f" * 100_000 + b"\xfc\x7f" * 100_000


@_session("grpc.million-unknown-fields", Expected(("fail", "hang", "pass")))
def million_unknown_fields(answer: Any, context: Any) -> bytes:
    """The answer carries a million unknown fields."""
    data: bytes = answer.SerializeToString()
    return data + b"\xf8\x7f\x01" * 1_000_000


@_session("grpc.expires-in-the-year-one", Expected(("fail",)))
def expires_in_the_year_one(answer: Any, context: Any) -> None:
    """The session expires at an instant that no clock can show."""
    answer.expire_time.seconds = -(1 << 62)
    answer.expire_time.nanos = (1 << 31) - 1


# --- streams ------------------------------------------------------------------------------------------


def _booleans_in_avro() -> Any:
    """A response with 60 million booleans in Avro, of a byte each."""
    fields = [{"name": "a", "type": {"type": "array", "items": "boolean"}}]
    answer = proto.ReadRowsResponse(row_count=1)
    answer.avro_schema.schema = json.dumps({"type": "record", "name": "r", "fields": fields})
    answer.avro_rows.serialized_binary_rows = b"\x80\x9c\x9c\x39" + b"\x01" * 60_000_000 + b"\x00"
    return answer


@_rows("grpc.avro-rows-of-60-mb", _in("values than"), own=60_000_000, **AVRO)
def avro_rows_of_60_mb(answers: Iterator[Any], context: Any) -> Iterator[Any]:
    """A response in Avro has 60 million booleans, of a byte each."""
    yield _booleans_in_avro()


@_rows(
    "grpc.six-avro-reads-of-60-mb",
    _in("bytes for a table"),
    own=360_000_000,
    steps="steps:\n- {op: create-session}\n- {op: read-rows, times: 6}\n",
    settings={"deadlines": PATIENT},
    **AVRO,
)
def six_avro_reads_of_60_mb(answers: Iterator[Any], context: Any) -> Iterator[Any]:
    """Each of six reads brings 60 million booleans in Avro, of a byte each."""
    yield _booleans_in_avro()


@_rows("grpc.hang-before-rows", HANG)
def hang_before_rows(answers: Iterator[Any], context: Any) -> Iterator[Any]:
    """ReadRows never sends anything."""
    for_ever()
    yield from answers


@_rows("grpc.hang-in-stream", HANG)
def hang_in_stream(answers: Iterator[Any], context: Any) -> Iterator[Any]:
    """ReadRows sends one response, and then nothing."""
    yield next(answers)
    for_ever()


@_rows("grpc.hang-after-the-last", HANG)
def hang_after_the_last(answers: Iterator[Any], context: Any) -> Iterator[Any]:
    """ReadRows sends every row, and then does not end."""
    yield from answers
    for_ever()


@_rows("grpc.dripping-responses", HANG)
def dripping_responses(answers: Iterator[Any], context: Any) -> Iterator[Any]:
    """An empty response arrives every tenth of a second."""
    while True:
        yield proto.ReadRowsResponse()
        threading.Event().wait(0.1)


@_rows("grpc.endless-empty-responses", FLOOD)
def endless_empty_responses(answers: Iterator[Any], context: Any) -> Iterator[Any]:
    """Empty responses arrive without end."""
    while True:
        yield b""


@_rows("grpc.endless-empty-batches", FLOOD)
def endless_empty_batches(answers: Iterator[Any], context: Any) -> Iterator[Any]:
    """Record batches without rows arrive without end."""
    first = next(answers)
    batch = pa.record_batch([pa.array([], pa.int64())] * 2, names=["row_id", "a"]).serialize().to_pybytes()
    yield first
    while True:
        answer = proto.ReadRowsResponse(row_count=0)
        answer.arrow_record_batch.serialized_record_batch = batch
        yield answer


@_rows("grpc.flood-of-huge-responses", FLOOD)
def flood_of_huge_responses(answers: Iterator[Any], context: Any) -> Iterator[Any]:
    """Responses of 16 MiB arrive without end."""
    answer = proto.ReadRowsResponse(row_count=1)
    answer.arrow_record_batch.serialized_record_batch = bytes(16 * MIB)
    data = answer.SerializeToString()
    while True:
        yield data


@_rows(
    "grpc.response-of-600-mib",
    FLOOD,
    deadline=15.0,
    settings={"limits": {"message": 128 * MIB}, "deadlines": PATIENT},
)
def response_of_600_mib(answers: Iterator[Any], context: Any) -> Iterator[Any]:
    """One response has 600 MiB, where the target file permits 128."""
    yield b"\x0a" + b"\x80\x80\x80\xac\x02" + bytes(600 * MIB)


@_rows(
    "grpc.response-of-600-mib-by-default",
    Expected(("hang", "fail")),
    deadline=20.0,
    settings={"deadlines": PATIENT},
)
def response_of_600_mib_by_default(answers: Iterator[Any], context: Any) -> Iterator[Any]:
    """One response has 600 MiB, which the table does not explain, with the default limits of a target file."""
    yield bytes(600 * MIB)


@_rows("grpc.trailers-of-4-mib", Expected(("fail", "refused", "crash", "hang")))
def trailers_of_4_mib(answers: Iterator[Any], context: Any) -> Iterator[Any]:
    """The stream ends with 4 MiB of trailing metadata."""
    yield from answers
    context.set_trailing_metadata(tuple((f"x-{number}", "a" * 4096) for number in range(1024)))


@_rows("grpc.segfault-in-stream", CRASH)
def segfault_in_stream(answers: Iterator[Any], context: Any) -> Iterator[Any]:
    """The server dies of SIGSEGV after its first response."""
    yield next(answers)
    os.kill(os.getpid(), signal.SIGSEGV)
    for_ever()


@_rows("grpc.exit-in-stream", CRASH)
def exit_in_stream(answers: Iterator[Any], context: Any) -> Iterator[Any]:
    """The server ends with status 0 after its first response."""
    yield next(answers)
    os._exit(0)


@_rows("grpc.stops-itself", HANG)
def stops_itself(answers: Iterator[Any], context: Any) -> Iterator[Any]:
    """The server stops itself with SIGSTOP after its first response."""
    yield next(answers)
    os.kill(os.getpid(), signal.SIGSTOP)
    for_ever()


@_rows("grpc.response-is-garbage", Expected(("fail", "refused")))
def response_is_garbage(answers: Iterator[Any], context: Any) -> Iterator[Any]:
    """A response consists of bytes that are not a message."""
    yield b"\xff" * 4096


@_rows("grpc.absurd-row-counts", FAIL)
def absurd_row_counts(answers: Iterator[Any], context: Any) -> Iterator[Any]:
    """Every response counts 2^63-1 rows."""
    for answer in answers:
        answer.row_count = (1 << 63) - 1
        yield answer


@_rows("grpc.absurd-sizes", FAIL)
def absurd_sizes(answers: Iterator[Any], context: Any) -> Iterator[Any]:
    """Every response declares 2^62 uncompressed bytes."""
    for answer in answers:
        answer.uncompressed_byte_size = 1 << 62
        yield answer


@_rows("grpc.progress-is-nan", FAIL)
def progress_is_nan(answers: Iterator[Any], context: Any) -> Iterator[Any]:
    """Progress is NaN and infinite, and the throttle is at minus two billion percent."""
    for answer in answers:
        answer.stats.progress.at_response_start = float("nan")
        answer.stats.progress.at_response_end = float("inf")
        answer.throttle_state.throttle_percent = -(1 << 31)
        yield answer


def _bombed(answers: Iterator[Any], codec: str) -> Iterator[Any]:
    first = next(answers)
    sink = pa.BufferOutputStream()
    values = pa.py_buffer(bytes(8 * 64 * MIB))
    zeros = pa.Array.from_buffers(pa.int64(), 64 * MIB, [None, values])
    batch = pa.record_batch([zeros, zeros], names=["row_id", "a"])
    with pa.ipc.new_stream(sink, batch.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as writer:
        writer.write_batch(batch)
    reader = pa.ipc.MessageReader.open_stream(sink.getvalue())
    reader.read_next_message()
    message = reader.read_next_message().serialize().to_pybytes()
    first.row_count = 64 * MIB
    first.arrow_record_batch.serialized_record_batch = message
    yield first


@_rows("grpc.lz4-bomb", Expected(("fail", "hang")), deadline=20.0, settings={"deadlines": PATIENT})
def lz4_bomb(answers: Iterator[Any], context: Any) -> Iterator[Any]:
    """A batch of a few MiB of LZ4 contains a GiB of zeros, with the right declared length."""
    return _bombed(answers, "lz4")


@_rows("grpc.zstd-bomb", Expected(("fail", "hang")), deadline=20.0, settings={"deadlines": PATIENT})
def zstd_bomb(answers: Iterator[Any], context: Any) -> Iterator[Any]:
    """A batch of some kilobytes of ZSTD contains a GiB of zeros, with the right declared length."""
    return _bombed(answers, "zstd")


@_rows("grpc.leaves-a-thousand-threads", Expected(("pass",)))
def leaves_a_thousand_threads(answers: Iterator[Any], context: Any) -> Iterator[Any]:
    """The server starts 1000 threads and works normally."""
    for _ in range(1000):
        threading.Thread(target=for_ever, daemon=True).start()
    return answers


@_rows("grpc.floods-its-output", Expected(("pass",)))
def floods_its_output(answers: Iterator[Any], context: Any) -> Iterator[Any]:
    """While it serves, the server prints 256 MiB to both outputs, without a line end."""
    for number in (1, 2):
        for _ in range(128):
            os.write(number, b"x" * MIB)
    return answers
