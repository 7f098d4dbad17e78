"""The Arrow messages in protobuf messages of a protocol that carries them bare, as in a request of AppendRows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from conformance.cli._group import Unusable
from conformance.cli._reading import read_named
from conformance.contain.text import safe
from conformance.protocol import plugins, title_of
from conformance.wire import Header
from conformance.wire.plugin import WirePlugin

__all__ = ["CARRIERS", "carried", "read_carried"]

_PROTOCOLS: Final = plugins(WirePlugin)
CARRIERS: Final = {one.carrier: one for one in _PROTOCOLS.values() if one.carries_bare}
"""The protocols whose messages are judged, by the name of the message that carries Arrow data."""


def carried(data: bytes, *, judged: bool) -> str:
    """What to say of bytes that are the message of a protocol with Arrow data in it, and no Arrow data; else empty.

    It names the option that reads them, or if they are to be ``judged`` and cannot be, the command that shows them.
    """
    for name, one in _PROTOCOLS.items():
        if one.is_carrier(data):
            shown = f"`conformance dissect --message {one.carrier}` shows it"
            advice = shown if judged and not one.carries_bare else f"add --message {one.carrier}"
            return f"the message {one.carrier} of {title_of(name)}; {advice}"
    return ""


def read_carried(name: str, paths: Sequence[Path]) -> tuple[tuple[str, bytes], ...]:
    """The Arrow messages in the messages of one connection, one in each file: where each is, and its bytes.

    The first is the schema. A connection may send it once or again; what is equal is judged once.

    Raises:
        Unusable: A file holds no such message, or there is no schema, or there are two.
    """
    protocol = CARRIERS[name]
    spec = protocol.messages[name]
    schemas: dict[bytes, str] = {}
    rows: list[tuple[str, bytes]] = []
    for path in paths:
        data = read_named(path)
        if faults := protocol.faults(data, spec):
            at, seen = faults[0].start, safe(faults[0].observed)
            raise Unusable(f"{path}: expected the protobuf message {name}, got {seen} at byte {at}")
        for content in protocol.contents(data, spec):
            where = f"{path}, {content.field}"
            if content.place is Header.SCHEMA:
                schemas.setdefault(content.data, where)
            else:
                rows.append((where, content.data))
    if not schemas:
        raise Unusable(f"--message {name}: expected a schema in the first message of the connection, got none")
    if len(schemas) > 1:
        first, second = list(schemas.values())[:2]
        raise Unusable(f"--message {name}: expected one schema, got another one in {second} than in {first}")
    ((schema, where),) = schemas.items()
    return ((where, schema), *rows)
