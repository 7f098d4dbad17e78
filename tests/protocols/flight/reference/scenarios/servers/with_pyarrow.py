"""The scenarios of Arrow's integration tests on pyarrow.flight, whose wheel has no programs for them.

    python with_pyarrow.py SCENARIO

pyarrow has neither PollFlightInfo nor sessions nor Flight SQL for servers: those scenarios are not here. The bodies of
two actions are written and read by hand, because pyarrow has no classes for them.
"""

from __future__ import annotations

import datetime as dt
import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.flight as pf

NUMBERS = {
    "ordered": (pa.int32(), [[1, 2, 3], [10, 20, 30], [100, 200, 300]]),
    "expiration_time": (pa.uint32(), [[0], [1], [2]]),
}


class Scenario(pf.FlightServerBase):  # type: ignore[misc]  # it has no types
    """The methods of all of them; a scenario is a name."""

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__("grpc://127.0.0.1:0", **options)
        self.name = name
        self.tables: dict[bytes, tuple[pa.Schema, list[tuple[pa.RecordBatch, pa.Buffer | None]]]] = {}
        self.cancelled = False

    def get_flight_info(self, context: object, descriptor: pf.FlightDescriptor) -> pf.FlightInfo:
        """The info of the scenario."""
        if self.name == "":
            schema, batches = self.tables[descriptor.path[0]]
            endpoint = pf.FlightEndpoint(descriptor.path[0], [f"grpc+tcp://127.0.0.1:{self.port}"])
            return pf.FlightInfo(schema, descriptor, [endpoint], sum(len(one) for one, _ in batches), -1)
        if self.name == "middleware" and descriptor.command != b"success":
            raise pf.FlightServerError("this command fails")
        kind, parts = NUMBERS.get(self.name.partition(":")[0], (pa.uint32(), []))
        schema, reuse = pa.schema([("number", kind)]), ["arrow-flight-reuse-connection://?"]
        if self.name == "location:reuse_connection":
            endpoints = [pf.FlightEndpoint(b"reuse", reuse)]
        elif self.name == "app_metadata_flight_info_endpoint":
            endpoints = [pf.FlightEndpoint(b"t", [], app_metadata=descriptor.command)]
            return pf.FlightInfo(schema, descriptor, endpoints, -1, -1, app_metadata=descriptor.command)
        else:
            endpoints = [pf.FlightEndpoint(b"%d" % at, [], _until(self.name, at)) for at in range(len(parts))]
        return pf.FlightInfo(schema, descriptor, endpoints, -1, -1, ordered=descriptor.command == b"ordered")

    def do_put(self, context: object, descriptor: pf.FlightDescriptor, reader: Any, writer: Any) -> None:
        """Store a table, and answer each batch with its metadata."""
        batches = []
        for chunk in reader:
            batches.append((chunk.data, chunk.app_metadata))
            writer.write(chunk.app_metadata)
        self.tables[descriptor.path[0]] = reader.schema, batches

    def do_get(self, context: object, ticket: pf.Ticket) -> pf.FlightDataStream:
        """The data of a ticket."""
        if self.name == "":
            schema, batches = self.tables[ticket.ticket]
            return pf.GeneratorStream(schema, iter(batches))
        if self.cancelled:
            raise KeyError("the flight is cancelled")
        kind, parts = NUMBERS[self.name.partition(":")[0]]
        return pf.RecordBatchStream(pa.table({"number": pa.array(parts[int(ticket.ticket)], kind)}))

    def do_exchange(self, context: object, descriptor: pf.FlightDescriptor, reader: Any, writer: Any) -> None:
        """Send each batch back as it comes."""
        begun = False
        for chunk in reader:
            if not begun:
                writer.begin(reader.schema)
                begun = True
            if chunk.app_metadata is None:
                writer.write_batch(chunk.data)
            else:
                writer.write_with_metadata(chunk.data, chunk.app_metadata)

    def list_actions(self, context: object) -> list[tuple[str, str]]:
        """The two actions of expiring endpoints."""
        return [("CancelFlightInfo", ""), ("RenewFlightEndpoint", "")]

    def do_action(self, context: Any, action: pf.Action) -> Iterator[bytes]:
        """Say who is asking, cancel, or renew."""
        if action.type == "CancelFlightInfo":
            self.cancelled = True
            return iter([b"\x08\x01"])
        if action.type == "RenewFlightEndpoint":
            body = action.body.to_pybytes()
            old = pf.FlightEndpoint.deserialize(body[2:])  # its length is below 128
            later = _time(dt.datetime.now(dt.UTC) + dt.timedelta(seconds=10))
            return iter([pf.FlightEndpoint(old.ticket, [], later).serialize()])
        return iter([context.peer_identity()])


def _until(name: str, at: int) -> pa.TimestampScalar | None:
    """When an endpoint expires: the first one does not."""
    if not name.startswith("expiration_time") or at == 0:
        return None
    return _time(dt.datetime.now(dt.UTC) + dt.timedelta(seconds=4 + at))


def _time(when: dt.datetime) -> pa.TimestampScalar:
    return pa.scalar(when, pa.timestamp("ns", tz="UTC"))


class Login(pf.ServerAuthHandler):  # type: ignore[misc]  # as above
    """A name and a password in a BasicAuth; the token is the name."""

    def authenticate(self, outgoing: Any, incoming: Any) -> None:
        """Answer a name and its password with the token."""
        said = pf.BasicAuth.deserialize(incoming.read())
        if (said.username, said.password) != (b"arrow", b"flight"):
            raise pf.FlightUnauthenticatedError("the name or the password is wrong")
        outgoing.write(said.username)

    def is_valid(self, token: bytes) -> bytes:
        """The name of the user of a call."""
        if token != b"arrow":
            raise pf.FlightUnauthenticatedError("the call has no token")
        return token


class Header(pf.ServerMiddleware):  # type: ignore[misc]  # as above
    """Sends a header of the call back."""

    def __init__(self, value: str) -> None:
        self.value = value

    def sending_headers(self) -> Mapping[str, str]:
        """The header."""
        return {"x-middleware": self.value}


class Headers(pf.ServerMiddlewareFactory):  # type: ignore[misc]  # as above
    """Makes one for each call."""

    def start_call(self, info: object, headers: Mapping[str, list[str]]) -> Header:
        """The one for this call."""
        return Header(headers.get("x-middleware", [""])[0])


if __name__ == "__main__":
    name = sys.argv[1]
    options: dict[str, dict[str, Any]] = {
        "auth:basic_proto": {"auth_handler": Login()},
        "middleware": {"middleware": {"header": Headers()}},
    }
    server = Scenario(name, **options.get(name, {}))
    sys.stdout.write(json.dumps({"event": "grpc.listen", "port": server.port}) + "\n")
    sys.stdout.flush()
    server.serve()
