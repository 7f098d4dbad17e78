"""What was seen: calls with every message in both directions, and who made them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance._codec import RecordError
from conformance.contain.text import keep_safe
from conformance.records.base import record
from conformance.records.closed import AskerKind, CallEnd, ProtocolName, Turn

__all__ = ["FORMAT", "Asker", "Call", "Exchange", "MetadataEntry"]

FORMAT: Final = 2
"""The version of the form in which cases and exchanges are stored; it grows with what an older suite cannot read.

1: one request message a call, BigQuery tables, Storage Read alone. Nothing stored then says its version.
2: several request messages, initial metadata, who asked, Arrow tables, Arrow Flight RPC.
"""
DETAILS: Final = 16384
"""Characters of a status's message that are kept: gRPC takes 16 KiB of metadata by default."""


@record
class MetadataEntry:
    """One entry of a call's initial or trailing metadata; text values are UTF-8 encoded."""

    key: str
    value: bytes


@record
class Call:
    """One call as it was: every message in both directions, and how it ended.

    ``step`` indexes ``Case.steps``, and is 0 where a client asked; ``label`` names the session, stream or split.
    ``method`` is the RPC's name, or ``SerializeSchema`` or ``SerializeBatch``
    (for a serializer target the one response is the message itself and ``request`` is empty).
    ``status`` is a gRPC status name, empty where the target sent none; ``details`` is its message, made safe, without
    blanks around it. ``started`` and ``seconds`` are seconds
    on the driver's clock since the exchange began; no clause reads them.

    A call in which the client streams has its further messages in ``more_requests``, and ``order`` says how they
    interleave with the responses as the client saw it: one :class:`~conformance.records.Turn` a character, so that
    ``">>|<"`` is two requests, the half-close, and a response. Without ``order`` there is one request, the half-close,
    and then the responses.
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
        held = 1 + len(self.more_requests) if requests or self.request or self.more_requests else 0
        if (requests, responses) != (held, len(self.responses)):
            raise RecordError("order", f"{held} requests and {len(self.responses)} responses", self.order)
        if self.order == self._plain_order:  # one meaning has one form
            object.__setattr__(self, "order", "")

    @property
    def _plain_order(self) -> str:
        """That of a call with one request, which is all that the client says."""
        return Turn.REQUEST + Turn.HALF_CLOSE + Turn.RESPONSE * len(self.responses)

    @property
    def requests(self) -> tuple[bytes, ...]:
        """Every message that the client sent."""
        if not self.order:
            return (self.request,)
        return (self.request, *self.more_requests) if Turn.REQUEST in self.order else ()

    @property
    def turns(self) -> Iterator[tuple[Turn, int]]:
        """What happened, in order; each request and response with its index among those of its kind."""
        seen = dict.fromkeys(Turn, 0)
        for turn in map(Turn, self.order or self._plain_order):
            yield turn, seen[turn]
            seen[turn] += 1


@record
class Asker:
    """Who made the calls of an exchange; a client has a name, and a version where it is known."""

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
    """Every call made for a case, in order; nothing in it was interpreted before it was stored.

    ``target`` names the target, ``project``, ``dataset`` and ``table`` what the case's table was seeded as.
    ``untestable`` says why the case could not be put to the target (``cannot seed: …``); then there are no calls.
    ``skipped_steps`` are indices of steps that did not apply (an offset place that the stream does not have).
    ``now`` is the driver's wall clock at the start, in microseconds since the Unix epoch.
    ``asked_by`` tells who decided which calls to make: where it was a client, no call carries out a step of the case.
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
    protocol: ProtocolName = ProtocolName.STORAGE_READ
    asked_by: Asker = Asker()

    def __post_init__(self) -> None:
        keep_safe(self, "untestable")

    @property
    def driven(self) -> bool:
        """Whether the suite's driver asked, by the steps of the case."""
        return self.asked_by.kind is AskerKind.DRIVER

    @property
    def received(self) -> int:
        """Bytes of all responses."""
        return sum(len(data) for call in self.calls for data in call.responses)
