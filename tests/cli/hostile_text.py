"""Targets that put hostile text into everything that they may choose a text for."""

from __future__ import annotations

import base64
import dataclasses
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import grpc
import pyarrow as pa

from conformance.contract import proto
from tests.targets.fake_server import FakeServer

MARKED: Final = "marked"
"""The word that the hostile text puts at the beginning of a line."""
PLAIN: Final = (
    f"\n::error::x\x1b]0;x\x07\u202e##vso[task.x]\x9b2J\r{MARKED} {MARKED}\n  {MARKED}\x00"
    '<script>alert(1)</script>" onload="x ]]> [red]:smile: %s {0} \\'
)
NASTY: Final = f"{PLAIN}\ud800"
"""The worst texts: every control character, a surrogate, commands for build services, markup of every kind."""
RAW: Final = NASTY.encode("utf-8", "surrogatepass")

SCHEMA: Final = pa.schema(
    [pa.field(PLAIN, pa.string(), metadata={PLAIN: PLAIN}), pa.field(f"b{PLAIN}", pa.struct([(PLAIN, pa.int64())]))],
    metadata={PLAIN: PLAIN},
)
BATCH: Final = pa.record_batch([pa.array([PLAIN, None]), pa.array([{PLAIN: 1}, None])], schema=SCHEMA)

CASES: Final = """\
id: {id}
title: {id}
table:
  columns:
    - {{name: a, type: STRING}}
    - {{name: b, type: INT64}}
  rows: [{{a: x, b: 1}}, {{a: null, b: null}}]
steps:
  - {{op: create-session, {more}}}
  - {{op: read-rows}}
"""


# --- servers ----------------------------------------------------------------------------------------


def refuses(fake: FakeServer) -> None:
    """Every session ends in an error with hostile details and trailers."""

    def session(_request: bytes, context: grpc.ServicerContext) -> bytes:
        context.set_trailing_metadata((("x-text", "::error::x ##vso[x]"), ("grpc-status-details-bin", RAW)))
        context.abort(grpc.StatusCode.INVALID_ARGUMENT, RAW)  # type: ignore[arg-type]  # bytes go out as they are
        raise AssertionError

    fake.session = session


def names(fake: FakeServer) -> None:
    """Session, streams, columns and metadata have hostile names, and a later read is refused in such words."""
    schema, batch = SCHEMA.serialize().to_pybytes(), BATCH.serialize().to_pybytes()
    asked: list[bytes] = []

    def session(_request: bytes, _context: grpc.ServicerContext) -> bytes:
        made = proto.ReadSession(name=PLAIN, table=PLAIN, trace_id=PLAIN, streams=[proto.ReadStream(name=PLAIN)])
        made.arrow_schema.serialized_schema = schema
        data: bytes = made.SerializeToString()
        return data

    def rows(request: bytes, context: grpc.ServicerContext) -> Any:
        asked.append(request)
        answer = proto.ReadRowsResponse(row_count=2)
        answer.arrow_record_batch.serialized_record_batch = batch
        yield answer.SerializeToString()
        if len(asked) > 1:
            context.abort(grpc.StatusCode.INTERNAL, RAW)  # type: ignore[arg-type]  # as above

    fake.session, fake.rows = session, rows


def no_utf8(fake: FakeServer) -> None:
    """The session is a message whose texts are no UTF-8."""
    fake.session = lambda _request, _context: b"\x0a" + bytes([len(RAW[-100:])]) + RAW[-100:]


def rest_refuses(fake: FakeServer) -> None:
    """No table can be made, for hostile reasons."""
    fake.rest = lambda _method, path, _body: (400, {"error": {"message": NASTY}}) if "tables" in path else None


def rest_garbage(fake: FakeServer) -> None:
    """REST answers with hostile bytes that are no JSON."""
    fake.rest = lambda _method, path, _body: (200, RAW) if "tables" in path else None


SERVERS: Final[tuple[Callable[[FakeServer], None], ...]] = (refuses, names, no_utf8, rest_refuses, rest_garbage)


# --- programs ---------------------------------------------------------------------------------------

_PROGRAM: Final = """
import base64, json, os, sys
NASTY, PLAIN = {nasty!r}, {plain!r}
RAW = NASTY.encode("utf-8", "surrogatepass")
SCHEMA, BATCH = {schema!r}, {batch!r}
os.write(2, RAW)
for line in sys.stdin:
    request = json.loads(line)
    def reply(**answer):
        print(json.dumps({{"id": request["id"], **answer}}), flush=True)
    if request["op"] == "hello":
        reply(status="ok", protocol=1, name=NASTY, version=NASTY, capabilities=["arrow", NASTY], input="rows")
    elif request["case"] == "probe":
        reply(status="error", code="INTERNAL", message=NASTY)
    else:
        {act}
"""
ACTS: Final = {
    "says no": 'reply(status="error", code="INVALID_ARGUMENT", message=NASTY)',
    "dies": "os.write(2, RAW); os._exit(3)",
    "babbles": 'os.write(1, RAW.replace(b"\\n", b"") + b"\\n")',
    "breaks the protocol": "reply(status=NASTY, message=NASTY)",
    "names": 'reply(status="ok", schema=SCHEMA, batches=[BATCH] * len(request["batches"]))',
}


def write_program(folder: Path, act: str) -> Path:
    """A target file for a program that does what ``act`` says; its name is hostile, too."""
    schema, batch = (base64.b64encode(one.serialize().to_pybytes()).decode() for one in (SCHEMA, BATCH))
    code = _PROGRAM.format(nasty=NASTY, plain=PLAIN, schema=schema, batch=batch, act=ACTS[act])
    (folder / "program.py").write_text(code, encoding="utf-8", errors="backslashreplace")
    path = folder / "target.toml"
    path.write_text(
        f'name = "hostile"\nkind = "program"\n[start]\ncommand = [{sys.executable!r}, "{folder / "program.py"}"]\n'
        "grace = 0.5\n[deadlines]\nstart = 20.0\ncall = 20.0\n"
    )
    return path


# --- serializers ------------------------------------------------------------------------------------


def _raise(*_: object) -> bytes:
    raise type(NASTY.replace("\x00", "").replace("\ud800", ""), (ValueError,), {})(NASTY)


@dataclasses.dataclass(frozen=True)
class _Serializer:
    serialize_schema: Callable[[pa.Schema], bytes]
    serialize_batch: Callable[[pa.RecordBatch], bytes] = _raise


raising = _Serializer(_raise)
naming = _Serializer(lambda _: SCHEMA.serialize().to_pybytes(), lambda _: BATCH.serialize().to_pybytes())
half = _Serializer(lambda schema: schema.serialize().to_pybytes())
LONG: Final = pa.schema([pa.field("n" * (10 << 20), pa.int64(), metadata={"k" * (1 << 20): "v" * (1 << 20)})])
long = _Serializer(
    lambda _: LONG.serialize().to_pybytes(),
    lambda batch: pa.record_batch([pa.array(range(batch.num_rows))], schema=LONG).serialize().to_pybytes(),
)
