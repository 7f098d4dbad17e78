"""The messages of Arrow Flight as descriptions, and the methods that carry them.

Source: https://github.com/apache/arrow/blob/main/format/Flight.proto. The strict reader, the annotated dump and the
classes of the contract are made from these rows, so that no other place knows a field's number.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from conformance._protobuftables import MessageSpec, declare

__all__ = [
    "CANCEL",
    "CLOSE_SESSION",
    "FLIGHT",
    "GET_OPTIONS",
    "METHODS",
    "METHOD_PATHS",
    "PACKAGE",
    "RENEW",
    "SERVICE",
    "SET_OPTIONS",
    "SOURCE",
    "Method",
]

SOURCE: Final = "https://github.com/apache/arrow/blob/main/format/Flight.proto"
"""The definition of the service and its messages."""
PACKAGE: Final = "arrow.flight.protocol"
"""The protobuf package of the messages."""
SERVICE: Final = f"/{PACKAGE}.FlightService/"
"""Prefix of the method names as gRPC spells them."""

CANCEL: Final = "CancelFlightInfo"
RENEW: Final = "RenewFlightEndpoint"
"""The types of the actions on infos and endpoints, as Flight.proto names them."""

SET_OPTIONS: Final = "SetSessionOptions"
GET_OPTIONS: Final = "GetSessionOptions"
CLOSE_SESSION: Final = "CloseSession"
"""Those on sessions."""

_ENUMS: Final = {
    "FlightDescriptor.DescriptorType": {0: "UNKNOWN", 1: "PATH", 2: "CMD"},
    "CancelStatus": {
        0: "CANCEL_STATUS_UNSPECIFIED",
        1: "CANCEL_STATUS_CANCELLED",
        2: "CANCEL_STATUS_CANCELLING",
        3: "CANCEL_STATUS_NOT_CANCELLABLE",
    },
    "SetSessionOptionsResult.ErrorValue": {0: "UNSPECIFIED", 1: "INVALID_NAME", 2: "INVALID_VALUE", 3: "ERROR"},
    "CloseSessionResult.Status": {0: "UNSPECIFIED", 1: "CLOSED", 2: "CLOSING", 3: "NOT_CLOSEABLE"},
}

_TIMESTAMP: Final = ".google.protobuf.Timestamp"

# A nested message or enumeration has the name of the message that contains it, a dot and its own name.
_MESSAGES: Final[Mapping[str, tuple[str, ...]]] = {
    "HandshakeRequest": ("1 protocol_version uint64", "2 payload bytes"),
    "HandshakeResponse": ("1 protocol_version uint64", "2 payload bytes"),
    "BasicAuth": ("2 username string", "3 password string"),
    "Empty": (),
    "ActionType": ("1 type string", "2 description string"),
    "Criteria": ("1 expression bytes",),
    "Action": ("1 type string", "2 body bytes"),
    "Result": ("1 body bytes",),
    "SchemaResult": ("1 schema bytes",),
    "FlightDescriptor": ("1 type enum:FlightDescriptor.DescriptorType", "2 cmd bytes", "3 path string*"),
    "FlightInfo": (
        "1 schema bytes",
        "2 flight_descriptor FlightDescriptor",
        "3 endpoint FlightEndpoint*",
        "4 total_records int64",
        "5 total_bytes int64",
        "6 ordered bool",
        "7 app_metadata bytes",
    ),
    "PollInfo": (
        "1 info FlightInfo",
        "2 flight_descriptor FlightDescriptor",
        "3 progress double?",
        f"4 expiration_time {_TIMESTAMP}",
    ),
    "CancelFlightInfoRequest": ("1 info FlightInfo",),
    "CancelFlightInfoResult": ("1 status enum:CancelStatus",),
    "Ticket": ("1 ticket bytes",),
    "Location": ("1 uri string",),
    "FlightEndpoint": (
        "1 ticket Ticket",
        "2 location Location*",
        f"3 expiration_time {_TIMESTAMP}",
        "4 app_metadata bytes",
    ),
    "RenewFlightEndpointRequest": ("1 endpoint FlightEndpoint",),
    "FlightData": (
        "1 flight_descriptor FlightDescriptor",
        "2 data_header bytes",
        "3 app_metadata bytes",
        "1000 data_body bytes",
    ),
    "PutResult": ("1 app_metadata bytes",),
    "SessionOptionValue.StringListValue": ("1 values string*",),
    "SessionOptionValue": (
        "1 string_value string option_value",
        "2 bool_value bool option_value",
        "3 int64_value sfixed64 option_value",
        "4 double_value double option_value",
        "5 string_list_value SessionOptionValue.StringListValue option_value",
    ),
    "SetSessionOptionsRequest": ("1 session_options map<string,SessionOptionValue>",),
    "SetSessionOptionsResult.Error": ("1 value enum:SetSessionOptionsResult.ErrorValue",),
    "SetSessionOptionsResult": ("1 errors map<string,SetSessionOptionsResult.Error>",),
    "GetSessionOptionsRequest": (),
    "GetSessionOptionsResult": ("1 session_options map<string,SessionOptionValue>",),
    "CloseSessionRequest": (),
    "CloseSessionResult": ("1 status enum:CloseSessionResult.Status",),
}

FLIGHT: Final[Mapping[str, MessageSpec]] = declare(SOURCE, _MESSAGES, _ENUMS)
"""Every message of Flight by its name, and the messages of protobuf itself that Flight uses."""


class Method(NamedTuple):
    """The messages of one method; ``requests`` and ``responses`` are True for a stream of them."""

    request: str
    response: str
    requests: bool = False
    responses: bool = False


METHODS: Final[Mapping[str, Method]] = MappingProxyType(
    {
        "Handshake": Method("HandshakeRequest", "HandshakeResponse", requests=True, responses=True),
        "ListFlights": Method("Criteria", "FlightInfo", responses=True),
        "GetFlightInfo": Method("FlightDescriptor", "FlightInfo"),
        "PollFlightInfo": Method("FlightDescriptor", "PollInfo"),
        "GetSchema": Method("FlightDescriptor", "SchemaResult"),
        "DoGet": Method("Ticket", "FlightData", responses=True),
        "DoPut": Method("FlightData", "PutResult", requests=True, responses=True),
        "DoExchange": Method("FlightData", "FlightData", requests=True, responses=True),
        "DoAction": Method("Action", "Result", responses=True),
        "ListActions": Method("Empty", "ActionType", responses=True),
    }
)
"""The methods of the service in the order of the proto file."""
METHOD_PATHS: Final[Mapping[str, str]] = MappingProxyType({SERVICE + name: name for name in METHODS})
"""The bare names of the methods by the full ones, as gRPC spells them."""
