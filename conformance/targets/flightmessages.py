"""The request messages of Arrow Flight RPC for the steps of a case, as bytes.

The rows of a DoPut are written by pyarrow, whose messages come apart into ``data_header`` and ``data_body``; what the
target makes of them is judged, and they are not.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pyarrow as pa

from conformance.contract.flight import encoding
from conformance.contract.flight.decoding import Info
from conformance.records import Case, Descriptor, DoAction
from conformance.targets.handing import batches_of

__all__ = ["Names", "action_of", "data_of"]


@dataclasses.dataclass(frozen=True, slots=True)
class Names:
    """The names of the flights of one case on a server.

    ``path`` is the path of each flight, where ``{name}`` is the case with the flight's own path; ``token`` is the part
    of a name that no other run has, empty on a server that the suite started.
    """

    case_id: str
    path: tuple[str, ...] = ("{name}",)
    token: str = ""

    def descriptor(self, named: Descriptor) -> Descriptor:
        """The descriptor as the server gets it; a command is left as it is, and so is a path that the server has."""
        if not named.path or named.known:
            return named
        name = ".".join(filter(None, (self.case_id, *named.path, self.token)))
        return Descriptor(path=tuple(step.replace("{name}", name) for step in self.path))


def data_of(case: Case, table: pa.Table, of: bytes, *, ahead: bool = False) -> Iterator[tuple[bytes, bool]]:
    """The FlightData of the case's table, each with whether it has rows.

    The descriptor ``of`` comes with the schema, or with ``ahead`` in a message of its own before it.
    """
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        for batch in batches_of(table, case.table.recipe) if table.num_rows else ():
            writer.write_batch(batch)
    if ahead:
        yield encoding.data(of=of), False
    first = not ahead
    for message in pa.ipc.MessageReader.open_stream(pa.py_buffer(sink.getvalue())):
        body = message.body.to_pybytes() if message.body is not None else b""
        header = message.metadata.to_pybytes()
        yield encoding.data(header, body, of=of if first else None), message.type == "record batch"
        first = False


def action_of(step: DoAction, info: Info | None) -> bytes | None:
    """The Action of a step; None if it is about an info or an endpoint that there is not."""
    if not step.info:
        return encoding.action(step.type, step.body)
    if info is None:
        return None
    if not step.endpoint:
        return encoding.action(step.type, encoding.part(1, info.raw))
    if int(step.endpoint) >= len(info.endpoints):
        return None
    return encoding.action(step.type, encoding.part(1, info.endpoints[int(step.endpoint)].raw))
