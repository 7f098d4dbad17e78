"""The steps of a case of Arrow Flight RPC: one for each method, and one that sends messages as they are.

A step may refer to the answer of an earlier one by its label: the answer is then part of the request, byte for byte.
Another ``client`` makes its calls over a connection of its own, with a login and cookies of its own; the empty name is
the first client. The calls of a step ``alongside`` are made at the same time as those of the step before it.
"""

from __future__ import annotations

from typing import ClassVar, Final, TypeAlias

from conformance._codec import RecordError
from conformance.protocols.flight.records.enums import FlightMethod
from conformance.protocols.flight.records.forms import (
    Damage,
    FlightLogin,
    FlightToken,
    FlightWriting,
    NameForm,
    Naming,
    Spelling,
)
from conformance.records.base import record
from conformance.records.closed import GivingUp
from conformance.records.step import CallStep, Expect, RowsStep

__all__ = [
    "DAMAGED_BATCHES",
    "KNOWN",
    "SCENARIO",
    "Descriptor",
    "DoAction",
    "DoExchange",
    "DoGet",
    "DoPut",
    "FlightStep",
    "GetFlightInfo",
    "GetSchema",
    "Handshake",
    "ListActions",
    "ListFlights",
    "PollFlightInfo",
    "SendMessages",
]

KNOWN: Final = "flight-known."
"""The beginning of the ids of cases that a target file describes; the suite has none of them."""

SCENARIO: Final = "flight-scenario."
"""The beginning of the ids of the scenarios of Arrow's integration tests, which only their servers are asked."""


DAMAGED_BATCHES: Final = 3
"""The batches of a table that is sent with a damage: a first one, one between two others, and a last one."""


@record
class Descriptor:
    """The name of a flight: a ``path``, an opaque command ``cmd``, or what the info with the label ``info`` names.

    The target file says how the suite's own paths become those of the server, and ``form`` what becomes of several
    parts; one that is ``known`` is the server's. A step about an ``info`` that names nothing is skipped.
    """

    path: tuple[str, ...] = ()
    cmd: bytes = b""
    known: bool = False
    form: NameForm = NameForm.DOTTED
    info: str = ""

    def __post_init__(self) -> None:
        if [bool(self.path), bool(self.cmd), bool(self.info)].count(True) != 1:
            raise RecordError("descriptor", "either a path or a cmd, or an info that names one", self.path)


def _check_stop(stop: int | None, gives_up: GivingUp, path: str) -> None:
    if stop is not None and stop < 1:
        raise RecordError(f"{path}.stop", "at least one message", stop)
    if stop is None and gives_up is not GivingUp.CANCEL:
        raise RecordError(f"{path}.gives_up", "a number of messages in stop", gives_up)


def _check_batch(at: int, path: str) -> None:
    if at not in range(DAMAGED_BATCHES):
        raise RecordError(f"{path}.at", f"a batch from 0 to {DAMAGED_BATCHES - 1}", at)


@record
class Handshake(CallStep):
    """Call Handshake with these payloads, one message each; no text says that each has an answer.

    With ``login`` the one payload is a BasicAuth of the target's name and password, or of a wrong password. The step
    is skipped if the target file names none.
    """

    TAG: ClassVar[str] = "handshake"

    payloads: tuple[bytes, ...] = ()
    login: FlightLogin = FlightLogin.NONE
    expect: Expect = Expect()


@record
class ListFlights(CallStep):
    """Call ListFlights with these criteria.

    With a ``label``, the flight of the index ``nth`` of the answer is remembered as that; -1 is the last one. A
    ``token`` other than the client's own is sent over a connection of its own, on which nobody has logged in; the
    step is skipped if the target file names no login.
    """

    TAG: ClassVar[str] = "list-flights"

    criteria: bytes = b""
    nth: int = 0
    label: str = ""
    token: FlightToken = FlightToken.OWN
    expect: Expect = Expect()


@record
class GetFlightInfo(CallStep):
    """Call GetFlightInfo and remember the answer as ``label``; ``token`` is that of :class:`ListFlights`."""

    TAG: ClassVar[str] = "get-flight-info"

    descriptor: Descriptor
    label: str = "i"
    spelled: Spelling = Spelling.PLAIN
    token: FlightToken = FlightToken.OWN
    client: str = ""
    alongside: bool = False
    expect: Expect = Expect()


@record
class PollFlightInfo(CallStep):
    """Call PollFlightInfo until an answer names no further descriptor, at most ``most`` times.

    Each call after the first has the descriptor of the answer before it. The latest FlightInfo is remembered as
    ``label``. With ``again``, the descriptor of the first answer is asked for once more after the others. With
    ``resume``, the label of an earlier step, the first call has the descriptor that the last answer to it gave.
    """

    TAG: ClassVar[str] = "poll-flight-info"

    descriptor: Descriptor
    label: str = "i"
    most: int = 20
    again: bool = False
    resume: str = ""
    client: str = ""
    alongside: bool = False
    expect: Expect = Expect()


@record
class GetSchema(CallStep):
    """Call GetSchema."""

    TAG: ClassVar[str] = "get-schema"

    descriptor: Descriptor
    expect: Expect = Expect()


@record
class DoGet(CallStep):
    """Call DoGet with the tickets of the FlightInfo ``info``, or with a literal ``ticket``.

    ``endpoint`` is ``"*"`` (each endpoint, one call each) or an endpoint's index. ``take`` is the number of messages
    after which the driver gives up as ``gives_up`` says. An endpoint that no location of it lets the driver redeem is
    left out; if there is no other, the step is skipped. With ``everywhere``, the ticket is redeemed at each location
    that can be reached, over a connection of its own. With ``sample``, it is a flight of which nobody knows how large
    it is: the driver reads a little of it, and gives up the rest.
    """

    TAG: ClassVar[str] = "do-get"

    info: str = "i"
    endpoint: str = "*"
    ticket: bytes | None = None
    take: int | None = None
    gives_up: GivingUp = GivingUp.CANCEL
    everywhere: bool = False
    sample: bool = False
    spelled: Spelling = Spelling.PLAIN
    client: str = ""
    alongside: bool = False
    expect: Expect = Expect()

    def __post_init__(self) -> None:
        if self.gives_up is GivingUp.HALF_CLOSE or (self.gives_up is GivingUp.DEADLINE and self.take is None):
            raise RecordError("do-get.gives_up", "cancel, or deadline with a number of messages in take", self.gives_up)


@record
class DoPut(RowsStep):
    """Call DoPut with the case's table; ``in_turns``: the client waits for an answer after each message with rows.

    The descriptor comes with the schema; with ``ahead``, in a message of its own before it. ``named`` says what the
    messages after the schema name, ``written`` how the rows are written, ``spelled`` how each message is. With
    ``metadata`` each message with rows has ``app_metadata``, and messages of metadata alone come between them.

    With ``count``, it is that many rows of the table, from ``first`` on. After ``stop`` messages the client gives up as
    ``gives_up`` says. ``expect.rows`` are the rows that it sends, if these are not all.

    With a ``damage``, the rows come in three batches, and something is wrong at the batch ``at``, from 0.
    """

    TAG: ClassVar[str] = "do-put"

    descriptor: Descriptor
    in_turns: bool = False
    ahead: bool = False
    named: Naming = Naming.FIRST
    written: FlightWriting = FlightWriting.PLAIN
    spelled: Spelling = Spelling.PLAIN
    metadata: bool = False
    stop: int | None = None
    gives_up: GivingUp = GivingUp.CANCEL
    first: int = 0
    count: int | None = None
    damage: Damage = Damage.NONE
    at: int = 0
    client: str = ""
    alongside: bool = False
    expect: Expect = Expect()

    def __post_init__(self) -> None:
        _check_stop(self.stop, self.gives_up, "do-put")
        _check_batch(self.at, "do-put")


@record
class DoExchange(RowsStep):
    """Call DoExchange with the case's table, as :class:`DoPut`; the descriptor comes in a message of its own.

    Without a ``descriptor``, it is the one under which the target file says that data comes back. ``alone`` messages of
    ``app_metadata`` alone follow it. Without ``rows``, neither schema nor batches are sent; with ``metadata``, each
    batch has ``app_metadata``. ``take`` is the number of answers after which the driver cancels. ``stop``,
    ``gives_up``, ``first``, ``count``, ``damage`` and ``at`` are those of :class:`DoPut`.
    """

    TAG: ClassVar[str] = "do-exchange"

    descriptor: Descriptor | None = None
    in_turns: bool = False
    alone: int = 0
    rows: bool = True
    metadata: bool = False
    take: int | None = None
    stop: int | None = None
    gives_up: GivingUp = GivingUp.CANCEL
    first: int = 0
    count: int | None = None
    damage: Damage = Damage.NONE
    at: int = 0
    client: str = ""
    alongside: bool = False
    expect: Expect = Expect()

    def __post_init__(self) -> None:
        _check_stop(self.stop, self.gives_up, "do-exchange")
        _check_batch(self.at, "do-exchange")
        if self.alone < 0:
            raise RecordError("do-exchange.alone", "a number of messages", self.alone)


@record
class DoAction(CallStep):
    """Call DoAction with an action of this type.

    ``body`` is its body. If ``info`` names a FlightInfo, the body is a message whose field 1 is that info, as
    CancelFlightInfo takes it; with ``endpoint``, it is the endpoint of that index, as RenewFlightEndpoint takes it.
    The endpoint of the answer is then remembered as ``label``, an info with this one endpoint.
    """

    TAG: ClassVar[str] = "do-action"

    type: str
    body: bytes = b""
    info: str = ""
    endpoint: str = ""
    label: str = ""
    client: str = ""
    alongside: bool = False
    expect: Expect = Expect()


@record
class ListActions(CallStep):
    """Call ListActions."""

    TAG: ClassVar[str] = "list-actions"

    expect: Expect = Expect()


@record
class SendMessages(CallStep):
    """Call ``method`` with these request messages as they are, whatever they mean, and half-close.

    ``in_turns``: the client waits for an answer after each message but the first.
    ``take`` is the number of answers after which the driver cancels; with 0, it does so as soon as it has called.
    """

    TAG: ClassVar[str] = "send"

    method: FlightMethod
    messages: tuple[bytes, ...] = ()
    in_turns: bool = False
    take: int | None = None
    expect: Expect = Expect()


FlightStep: TypeAlias = (
    Handshake
    | ListFlights
    | GetFlightInfo
    | PollFlightInfo
    | GetSchema
    | DoGet
    | DoPut
    | DoExchange
    | DoAction
    | ListActions
    | SendMessages
)
