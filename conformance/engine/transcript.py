"""Show an exchange as text: every call, every message field by field, every Arrow byte annotated.

It is the complete record of one case, for a person who wants to see the reason for a verdict. This is where raw bytes
become text, so this module makes each line safe.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.contain.parse import ForeignJsonError, parse_object
from conformance.contain.text import many, safe
from conformance.contract.view import BatchBytes, SchemaBytes, View
from conformance.engine.plugin import EnginePlugin, MessageLines
from conformance.protocol import DEFAULT_PROTOCOL, plugin
from conformance.records import Call, RunQuery, Turn
from conformance.wire import Kind, dissect
from conformance.wire import lines as dump_lines

__all__ = ["arrow_lines", "field_lines", "transcript"]

MAX_LINES: Final = 400
"""The most annotated lines of one message; a longer message is better extracted to a file."""
MAX_TEXT: Final = 200
"""The most characters of one field's value."""
MAX_BYTES: Final = 64
"""The most bytes shown of a message whose method is not known."""


def transcript(view: View) -> Iterator[str]:
    """The exchange behind ``view``, line by line; any content from the target is made safe."""
    yield from map(safe, _lines(view))


def _lines(view: View) -> Iterator[str]:
    exchange = view.exchange
    where = f"{exchange.project}.{exchange.dataset}.{exchange.table}".strip(".")
    asked = "" if exchange.driven else f", asked by {exchange.asked_by}"
    spoken = "" if exchange.protocol == DEFAULT_PROTOCOL else f", in {exchange.protocol}"
    place = f", table {where}" if where else ""
    yield f"exchange of case {exchange.case_id} with {exchange.target}{place}{spoken}{asked}"
    if exchange.untestable:
        yield f"  not put to the target: {exchange.untestable}"
    for index in exchange.skipped_steps:
        yield f"  step {index} did not apply"
    if exchange.stopped:
        yield f"  stopped before the end of the case: {exchange.stopped}"
    messages: list[SchemaBytes | BatchBytes] = [*view.schemas, *view.batches]
    shown: dict[bytes, int] = {}
    for index, call in enumerate(exchange.calls):
        engine = plugin(EnginePlugin, exchange.protocol)
        made = engine.messages if call.method in engine.recordings.methods else None
        own = None if made is None else made(call, MAX_LINES)
        yield from _call(index, call, [message for message in messages if message.call == index], shown, own)


def _call(
    index: int,
    call: Call,
    messages: Sequence[SchemaBytes | BatchBytes],
    shown: dict[bytes, int],
    own: MessageLines | None,
) -> Iterator[str]:
    """The lines of one call; ``shown`` maps a schema's bytes to the call in which it was annotated first, and ``own``
    shows its messages if the protocol has a way of its own.
    """
    status = f"{call.status}: {call.details}" if call.details else call.status or "no status"
    yield ""
    yield f"call {index}  {call.method} {call.label}  {status} ({call.end}, {call.seconds * 1000:.1f} ms)"
    for turn, at in call.turns:
        if turn is Turn.HALF_CLOSE:
            yield from ["  no further request"] if call.order else []
        elif turn is Turn.RESPONSE:
            yield f"  response {at}, {many(len(call.responses[at]), 'byte')}"
            if own is not None:
                yield from own.lines(call.responses[at], request=False)
                continue
            yield from _proto(call, call.responses[at], request=False)
            # A session comes in a single response, so its Arrow messages have no response number of their own.
            yield from _messages(index, [one for one in messages if one.response in (at, None)], shown)
        elif call.order or call.request:
            number = f" {at}" if call.order else ""
            yield f"  request{number}, {many(len(call.requests[at]), 'byte')}"
            message = call.requests[at]
            yield from (_proto(call, message, request=True) if own is None else own.lines(message, request=True))
    for kind, entries in (("initial metadata", call.initial_metadata), ("trailer", call.trailers)):
        yield from (f"  {kind} {entry.key}: {_shortened(repr(entry.value))}" for entry in entries)


def _messages(index: int, messages: Sequence[SchemaBytes | BatchBytes], shown: dict[bytes, int]) -> Iterator[str]:
    for message in messages:
        if isinstance(message, SchemaBytes) and shown.setdefault(message.data, index) != index:
            yield f"    schema message, {len(message.data)} bytes, the same as in call {shown[message.data]}"
        else:
            yield from arrow_lines(message)


def arrow_lines(message: SchemaBytes | BatchBytes) -> Iterator[str]:
    """The bytes of an Arrow message, annotated: the first :data:`MAX_LINES` lines."""
    kind, schema = ("schema", None) if isinstance(message, SchemaBytes) else ("record batch", message.schema)
    lines = dump_lines(dissect(message.data, schema, Kind.MESSAGE))
    yield f"    {kind} message, {len(message.data)} bytes"
    yield from (f"      {line}" for line in lines[:MAX_LINES])
    if len(lines) > MAX_LINES:
        yield f"      … {many(len(lines) - MAX_LINES, 'more line')}; `conformance extract` saves the bytes"


def _proto(call: Call, data: bytes, *, request: bool) -> Iterator[str]:
    from google.protobuf.message import DecodeError  # noqa: PLC0415  # a serializer's exchange needs no protobuf

    from conformance.contract import proto  # noqa: PLC0415  # as above

    kinds = proto.REQUESTS if request else proto.RESPONSES
    if call.method not in kinds:
        if call.method == RunQuery.METHOD and (value := _object(data)) is not None:
            yield from _json(value)
        elif not call.method.startswith("Serialize"):  # whose bytes are Arrow messages, which are shown annotated
            yield f"    {_excerpt(data)}"
        return
    try:
        message = kinds[call.method].FromString(data)
    except DecodeError as error:
        yield f"    not a message of this method: {error}"
        return
    yield from field_lines(message, "    ")


def _object(data: bytes) -> dict[str, Any] | None:
    try:
        return parse_object(data)
    except ForeignJsonError:
        return None


def _json(value: Mapping[str, Any]) -> Iterator[str]:
    """An object of REST, a line for each value; long texts, such as Arrow in base64, are cut."""
    lines = json.dumps(value, indent=2).splitlines()
    yield from (f"    {_shortened(line)}" for line in lines[:MAX_LINES])
    if len(lines) > MAX_LINES:
        yield f"    … {many(len(lines) - MAX_LINES, 'more line')}; `conformance extract` saves the bytes"


def field_lines(message: Any, indent: str) -> Iterator[str]:
    """The fields of a Protobuf message, each with its number, and those inside of it below."""
    for field, value in message.ListFields():
        values = value if isinstance(value, Sequence) and not isinstance(value, str | bytes) else [value]
        for item in values:
            if hasattr(item, "ListFields"):
                yield f"{indent}{field.number} {field.name}"
                yield from field_lines(item, indent + "  ")
            else:
                yield f"{indent}{field.number} {field.name} = {_scalar(item)}"


def _excerpt(data: bytes) -> str:
    """Bytes of a method that the suite does not know."""
    shown = data[:MAX_BYTES].hex(" ") or "nothing"
    rest = f" … (the first {MAX_BYTES} of {many(len(data), 'byte')})" if len(data) > MAX_BYTES else ""
    return f"of a method that the suite does not know: {shown}{rest}"


def _scalar(value: object) -> str:
    if isinstance(value, bytes):
        return many(len(value), "byte")
    return _shortened(repr(value))


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}… ({len(text)} characters)"
