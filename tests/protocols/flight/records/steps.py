"""A case of Flight, and exchanges of several request messages, for tests of every package that uses records."""

from __future__ import annotations

from conformance.protocols.flight.records import (
    Descriptor,
    DoAction,
    DoExchange,
    DoGet,
    DoPut,
    FlightMethod,
    GetFlightInfo,
    GetSchema,
    Handshake,
    ListActions,
    ListFlights,
    PollFlightInfo,
    SendMessages,
)
from conformance.records import (
    ArrowField,
    ArrowTable,
    Asker,
    AskerKind,
    Call,
    Case,
    Exchange,
    Json,
    KeyValue,
    MetadataEntry,
    Table,
)

INT32 = {"name": Json("int"), "bitWidth": Json(32), "isSigned": Json(True)}  # noqa: FBT003  # a value of the form
UTF8 = {"name": Json("utf8")}
WORDS = Descriptor(path=("words",))

ARROW = ArrowTable(
    fields=(
        ArrowField("n", INT32, nullable=False, metadata=(KeyValue("unit", "m"),)),
        ArrowField(
            "word",
            UTF8,
            dictionary={"id": Json(0), "indexType": Json(dict(INT32)), "isOrdered": Json(False)},  # noqa: FBT003  # as above
        ),
        ArrowField("list", {"name": Json("list")}, children=(ArrowField("item", UTF8),)),
    ),
    metadata=(KeyValue("origin", "a test"),),
    dictionaries=(
        Json(
            {
                "id": 0,
                "data": {
                    "count": 2,
                    "columns": [{"name": "d", "count": 2, "VALIDITY": [1, 1], "OFFSET": [0, 1, 2], "DATA": ["a", "b"]}],
                },
            }
        ),
    ),
    batches=(
        Json(
            {
                "count": 2,
                "columns": [
                    {"name": "n", "count": 2, "VALIDITY": [1, 1], "DATA": [7, 8]},
                    {"name": "word", "count": 2, "VALIDITY": [1, 0], "DATA": [1, 0]},
                    {
                        "name": "list",
                        "count": 2,
                        "VALIDITY": [1, 1],
                        "OFFSET": [0, 1, 1],
                        "children": [
                            {"name": "item", "count": 1, "VALIDITY": [1], "OFFSET": [0, 1], "DATA": ["x"]},
                        ],
                    },
                ],
            }
        ),
    ),
)

FLIGHT_CASE = Case(
    "flight.words",
    "What is put is what is got",
    Table((), arrow=ARROW),
    steps=(
        Handshake((b"one", b"two")),
        DoPut(WORDS, in_turns=True),
        ListFlights(),
        GetFlightInfo(WORDS),
        PollFlightInfo(WORDS, label="p"),
        GetSchema(WORDS),
        DoGet(),
        DoGet(ticket=b"\xff", take=1),
        DoExchange(WORDS),
        DoAction("CancelFlightInfo", b"\x0a\x00"),
        DoAction("RenewFlightEndpoint", info="i", endpoint="0"),
        ListActions(),
        SendMessages(FlightMethod.DO_GET, (b"\x08",)),
    ),
    clauses=("flight.*",),
    protocol="flight",
)
"""Every step and every part of an Arrow table."""

PING_PONG = Call(
    7,
    "words",
    "DoExchange",
    b"descriptor",
    (b"answer 0", b"answer 1"),
    more_requests=(b"schema", b"batch"),
    order=">>" + "<>" + "|<",
    initial_metadata=(MetadataEntry("server", b"s"),),
    trailers=(MetadataEntry("x-arrow-status", b"0"),),
)
"""Requests and answers take turns, and the last answer comes behind the half-close."""

FLIGHT_EXCHANGE = Exchange(
    FLIGHT_CASE.id,
    "fake",
    calls=(Call(0, "", "Handshake", b"", order="|", status="UNAUTHENTICATED"), PING_PONG),
    protocol="flight",
)
"""A handshake in which the client said nothing, and an exchange."""

BY_A_CLIENT = Exchange(
    FLIGHT_CASE.id,
    "fake",
    calls=(PING_PONG,),
    protocol="flight",
    asked_by=Asker(AskerKind.PROXY, "arrow-go", "18.8.0"),
)
