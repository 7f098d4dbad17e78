"""The recorded calls of a case: every message in both directions, and the party that made the calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance._codec import RecordError
from conformance.contain.text import keep_safe
from conformance.protocol import DEFAULT_PROTOCOL, ProtocolName
from conformance.records.base import record
from conformance.records.closed import AskerKind, CallEnd, Turn
from conformance.records.times import keep_seconds

__all__ = ["FORMAT", "SET_UP", "Asker", "Call", "Exchange", "MetadataEntry"]

FORMAT: Final = 2
"""The version of the form in which cases and exchanges are stored. It grows when an older suite could not read the
form.

1: one request message per call, BigQuery tables, Storage Read alone. Stored files of this version do not state it.
2: several request messages, initial metadata, the asking party, Arrow tables, a second protocol.
"""
SET_UP: Final = "set-up: "
"""The beginning of ``Exchange.untestable`` if the credentials or a quota kept a server from being asked."""
DETAILS: Final = 16384
"""The limit of a status message, in characters: gRPC accepts 16 KiB of metadata by default."""


@record
class MetadataEntry:
    """One entry of a call's initial or trailing metadata; a text value is encoded in UTF-8."""

    key: str
    value: bytes


@record
class Call:
    """One recorded call: every message in both directions, and how the call ended.

    ``step`` indexes ``Case.steps``, and is 0 if a client made the call; ``label`` names the session, stream or
    split, and of a recorded call its login and its session, if the protocol has them.
    ``method`` is the RPC's name, or ``SerializeSchema`` or ``SerializeBatch`` (for a serializer target the one
    response is the message itself and ``request`` is empty).
    ``status`` is a gRPC status name, empty if the target sent none; ``details`` is its message, made safe and
    without blanks around it. ``started`` is seconds on the driver's clock since the exchange began, ``seconds`` how
    long the call took; no clause reads either.

    If the client streams, ``more_requests`` holds its further messages, and ``order`` records how they interleave
    with the responses as the client saw it: one :class:`~conformance.records.Turn` per character, so that ``">>|<"``
    is two requests, the half-close, and a response. An empty ``order`` means one request, the half-close, and then
    the responses.
    """

    step: int
    label: str
    method: str
    request: bytes
    responses: tuple[bytes, ...] = ()
    status: str = "OK"
    details: str = ""
    trailers: tuple[MetadataEntry, ...] = ()
    end: CallEnd = CallEnd.COMPLETE
    started: float = 0.0
    seconds: float = 0.0
    more_requests: tuple[bytes, ...] = ()
    order: str = ""
    initial_metadata: tuple[MetadataEntry, ...] = ()

    def __post_init__(self) -> None:
        keep_seconds(self, "started", "seconds")
        if self.details:
            object.__setattr__(self, "details", self.details.strip())
            keep_safe(self, "details", limit=DETAILS)
        if self.order or self.more_requests:
            self._check_order()

    def _check_order(self) -> None:
        requests, responses = self.order.count(Turn.REQUEST), self.order.count(Turn.RESPONSE)
        others = self.order.replace(Turn.REQUEST, "").replace(Turn.RESPONSE, "")
        if others not in ("", Turn.HALF_CLOSE) or (others and Turn.REQUEST in self.order.partition(others)[2]):
            raise RecordError("order", "'>', '<' and at most one '|', behind which there is no '>'", self.order)
        expected = 1 + len(self.more_requests) if requests or self.request or self.more_requests else 0
        if (requests, responses) != (expected, len(self.responses)):
            raise RecordError("order", f"{expected} requests and {len(self.responses)} responses", self.order)
        if self.order == self._plain_order:  # equal calls compare equal: the default order is always stored as ""
            object.__setattr__(self, "order", "")

    @property
    def _plain_order(self) -> str:
        """The order of a call with one request message."""
        return Turn.REQUEST + Turn.HALF_CLOSE + Turn.RESPONSE * len(self.responses)

    @property
    def requests(self) -> tuple[bytes, ...]:
        """The messages that the client sent."""
        if not self.order:
            return (self.request,)
        return (self.request, *self.more_requests) if Turn.REQUEST in self.order else ()

    @property
    def turns(self) -> Iterator[tuple[Turn, int]]:
        """The events of the call in order; each request and response with its index among those of its kind."""
        seen = dict.fromkeys(Turn, 0)
        for turn in map(Turn, self.order or self._plain_order):
            yield turn, seen[turn]
            seen[turn] += 1


@record
class Asker:
    """The party that made the calls of an exchange; a client has a name, and a version if it is known."""

    kind: AskerKind = AskerKind.DRIVER
    client: str = ""
    version: str = ""

    def __post_init__(self) -> None:
        if (self.kind is AskerKind.DRIVER) == bool(self.client):
            raise RecordError("asker", "the name of a client where one asked, and only there", self.client)
        if self.client:
            keep_safe(self, "client", "version")

    def __str__(self) -> str:
        if self.kind is AskerKind.DRIVER:
            return "the suite's driver"
        through = "a proxy" if self.kind is AskerKind.PROXY else "a replay server"
        return f"{self.client} {self.version}".rstrip() + f" through {through}"


@record
class Exchange:
    """The calls made for a case, in order; nothing in it was interpreted before it was stored.

    ``target`` names the target; ``project``, ``dataset`` and ``table`` are the names under which the case's table
    was seeded.
    ``untestable`` is the reason why the target could not be asked (``cannot seed: …``, ``set-up: …``); then there are
    no calls.
    ``skipped_steps`` are indices of steps that did not apply (an offset place that the stream does not have), or were
    not reached.
    ``stopped`` is the reason why the driver stopped before the end of the case although every call so far had ended;
    what the calls show is judged, and the case is not shown to be served.
    ``now`` is the driver's wall clock at the start, in microseconds since the Unix epoch.
    ``asked_by`` is the party that chose the calls: if it was a client, no call carries out a step of the case.
    """

    case_id: str
    target: str
    calls: tuple[Call, ...] = ()
    project: str = ""
    dataset: str = ""
    table: str = ""
    untestable: str = ""
    skipped_steps: tuple[int, ...] = ()
    now: int = 0
    protocol: ProtocolName = DEFAULT_PROTOCOL
    asked_by: Asker = Asker()
    stopped: str = ""

    def __post_init__(self) -> None:
        keep_safe(self, "untestable", "stopped")

    @property
    def driven(self) -> bool:
        """True if the suite's driver made the calls, by the steps of the case."""
        return self.asked_by.kind is AskerKind.DRIVER

    @property
    def received(self) -> int:
        """The total size of all responses, in bytes."""
        return sum(len(data) for call in self.calls for data in call.responses)
