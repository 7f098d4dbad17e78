"""A conversation with the fake server, whose limits no test reaches."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

from conformance.contract import proto
from conformance.protocols.storage_read.targets.conversation import Conversation, ConversationPlan
from conformance.records import (
    PlannedFault,
    Step,
)
from conformance.targets.faulting import BreakableLine
from conformance.targets.names import Names
from conformance.targets.patience import Patience
from conformance.targets.recordedcall import CallBudget, Caller, open_channel
from tests.patience import LONG
from tests.targets.conftest import case_of
from tests.targets.fake_server import FakeServer, serving

PLAN = ConversationPlan(
    names=Names("p", "d", "t"),
    seeded=5,
    now=0,
    before_append=0,
    budget=CallBudget(seconds=LONG, responses=50, bytes=50_000),
    until=float("inf"),
    case_bytes=1_000_000,
    append=lambda count: None,
    remake=lambda count: True,
    change=lambda columns: True,
    renew=lambda columns: True,
    restart=lambda: None,
    pass_time=lambda ahead: False,
    patience=Patience(None),
    derive=lambda what: Names("p", "d", "t"),
    ask=lambda asked: (200, b"{}"),
)


def converse(fake: FakeServer, *steps: Step, plan: ConversationPlan = PLAN) -> Conversation:
    """Put ``steps`` to the fake server."""
    with serving(fake) as (port, _), open_channel(f"127.0.0.1:{port}", message_limit=100_000) as channel:
        caller = Caller(channel, began=time.monotonic(), message_limit=100_000, last_words=lambda seconds: None)
        with open_channel(f"127.0.0.1:{port}", message_limit=100_000) as second:

            @contextlib.contextmanager
            def broken(fault: PlannedFault) -> Iterator[tuple[Caller, BreakableLine]]:
                with (
                    BreakableLine(f"127.0.0.1:{port}", framed=True, cut=fault.bytes) as line,
                    open_channel(line.endpoint, message_limit=100_000) as third,
                ):
                    yield caller.over(third), line

            conversation = Conversation(case_of(*steps), caller, plan, other=lambda: caller.over(second), broken=broken)
            conversation.run()
    return conversation


def served(request: bytes, counts: tuple[int, ...]) -> Iterator[bytes]:
    """The responses of a stream of those counts from the requested offset on, which is the first row of one."""
    left = proto.ReadRowsRequest.FromString(request).offset
    for count in counts:
        if left <= 0:
            yield proto.ReadRowsResponse(row_count=count).SerializeToString()
        left -= count
