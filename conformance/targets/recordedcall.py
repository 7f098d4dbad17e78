"""Makes a gRPC call and records all of it: request and response bytes, metadata, status, and how it ended.

The stubs are raw: nothing is decoded here, so that no decoder can hide a fault.
This module decides how a call *ended* (:class:`~conformance.records.CallEnd`). A status that the client library
generates itself, for a deadline, a dead connection or a message beyond the limit, is not an answer of the target.
"""

from __future__ import annotations

import contextlib
import dataclasses
import threading
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any, Final, cast

import grpc

from conformance.contain.secrets import masked, masked_bytes
from conformance.contract import proto
from conformance.records import Call, CallEnd, GivingUp, MetadataEntry, Turn
from conformance.targets.cutting import Listening, cut_after, leads_to
from conformance.targets.faulting import Met
from conformance.targets.ticks import WALL, Time
from conformance.targets.tls import SecureLine

__all__ = ["BROKEN", "CallBudget", "Caller", "Leaving", "close_channel", "is_lost", "open_channel"]

# The texts of grpcio when no status came from the peer. They are those of grpc-core since 1.50; a test compares them
# with the installed version by killing a server during a call.
_LOST: Final = ("Socket closed", "failed to connect", "onnection reset", "Broken pipe", "GOAWAY", "Connection refused")
_NO_HTTP: Final = "Failed parsing HTTP/2"
"""The text of grpcio if the peer sent bytes that are not HTTP/2; it comes with one of several status codes."""

AHEAD: Final = 4 << 10
"""Bytes of a stream that gRPC takes before the driver asks for them, on the connection of a call that meets a fault."""

EARLY_SECONDS: Final = 0.05
"""Seconds by which the library's timer, or a server that watches the deadline, may fire before the deadline."""

PATIENCE_SECONDS: Final = 0.3
"""The deadline of a call that a client gives up by its deadline. It does nothing until then: the deadline passes,
whatever the server does.
"""

EXIT_SECONDS: Final = 0.5
"""Seconds within which a process has to be seen dead after its connection broke."""


BROKEN: Final = frozenset({CallEnd.DEADLINE, CallEnd.OVER_BUDGET, CallEnd.CRASH})
"""Ends of a call after which the case's other calls are not made."""


@dataclasses.dataclass(frozen=True, slots=True)
class CallBudget:
    """The limits of one call: its time in seconds, its number of responses, and their bytes.

    A call with several responses has ``seconds`` for each of them, and ``longest`` for all, but not less.
    """

    seconds: float
    responses: int
    bytes: int
    longest: float = 0.0

    def exceeded(self, count: int, size: int) -> str:
        """In words, that ``count`` responses of ``size`` bytes are too many; "" if they are not.

        The response with which they are is not kept: it may be far larger than all before it.
        """
        if count <= self.responses and size <= self.bytes:
            return ""
        return f"{count} responses of {size} bytes so far, permitted {self.responses} and {self.bytes}"


@dataclasses.dataclass(frozen=True, slots=True)
class Leaving:
    """When a client gives up a call, after this number of messages, and how."""

    after: int
    how: GivingUp = GivingUp.CANCEL

    def timeout(self, seconds: float) -> float:
        """The seconds that the call gets, of those that there are for it."""
        return min(seconds, PATIENCE_SECONDS) if self.how is GivingUp.DEADLINE else seconds


def is_lost(code: grpc.StatusCode, details: str) -> bool:
    """True if the client library made this status because the connection broke, or never was."""
    return _NO_HTTP in details or (code is grpc.StatusCode.UNAVAILABLE and any(phrase in details for phrase in _LOST))


def open_channel(
    endpoint: str, *, message_limit: int, secure: SecureLine | None = None, through: str = ""
) -> grpc.Channel:
    """A channel to ``endpoint`` that accepts messages of up to ``message_limit`` bytes; with TLS if ``secure``.

    ``through`` is the address of a line that leads there: the server is still asked by its own name. Over a line,
    little is taken in advance, so that a client that pauses soon stops the server.
    """
    options: list[tuple[str, int | str]] = [
        ("grpc.max_receive_message_length", message_limit),
        ("grpc.max_send_message_length", -1),
        ("grpc.enable_retries", 0),  # a second attempt would hide the result of the first
        ("grpc.enable_http_proxy", 0),
        ("grpc.use_local_subchannel_pool", 1),  # a restarted server gets a new connection
    ]
    name = "" if secure is None else secure.tls.server_name
    if through:
        options += [("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", AHEAD)]
    if through and not name:
        options.append(("grpc.default_authority", endpoint))
        if secure is not None:
            options.append(("grpc.ssl_target_name_override", endpoint.rpartition(":")[0].strip("[]")))
    if secure is None:
        return leads_to(grpc.insecure_channel(through or endpoint, options=options), through or endpoint)
    if name:
        options += [("grpc.ssl_target_name_override", name), ("grpc.default_authority", name)]
    channel = grpc.secure_channel(through or endpoint, secure.credentials, options=options)
    return leads_to(channel, through or endpoint)


def close_channel(channel: grpc.Channel) -> None:
    """Close a channel, or leave it to the end of the process if that takes more than :data:`EXIT_SECONDS`.

    An exception of a signal's handler in the middle of the start of a call leaves a channel whose ``close`` waits for
    ever: seen with grpcio 1.85.1 after SIGTERM.
    """
    closing = threading.Thread(target=channel.close, name="close a channel", daemon=True)
    closing.start()
    closing.join(EXIT_SECONDS)


class Caller:
    """Makes calls on one channel; ``began`` is the start of the exchange on the monotonic clock.

    ``last_words`` returns how the target's process ended, after waiting up to the given seconds for its end; None if it
    still runs or was not started by the suite. ``credentials`` returns further metadata for each call; secrets that the
    target sends back are masked in everything that is recorded. ``service`` is the beginning of each method's name, and
    ``clock`` that of the driver.
    """

    def __init__(
        self,
        channel: grpc.Channel,
        *,
        began: float,
        message_limit: int,
        last_words: Callable[[float], str | None],
        credentials: Callable[[], Mapping[str, str | bytes]] = dict,
        service: str = proto.SERVICE,
        clock: Time = WALL,
    ) -> None:
        self._channel = channel
        self._began = began
        self._message_limit = message_limit
        self._last_words = last_words
        self._credentials = credentials
        self._service = service
        self._clock = clock

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments that made this caller."""
        return {
            "channel": self._channel,
            "began": self._began,
            "message_limit": self._message_limit,
            "last_words": self._last_words,
            "credentials": self._credentials,
            "service": self._service,
            "clock": self._clock,
        }

    def over(self, channel: grpc.Channel, *, away: bool = False) -> Caller:
        """A caller like this one over another connection; ``away``, to another program, whose end nobody watches."""
        words = {"last_words": lambda _: None} if away else {}
        return Caller(**{**self.settings, **words, "channel": channel})

    @property
    def bearing(self) -> bool:
        """True if metadata goes along that another server must not get."""
        return bool(self._credentials())

    def with_credentials(self, credentials: Callable[[], Mapping[str, str | bytes]]) -> Caller:
        """A caller like this one with further metadata for each call."""
        return Caller(**{**self.settings, "credentials": lambda: {**self._credentials(), **credentials()}})

    def unary(self, call: Call, *, routing: str, budget: CallBudget) -> Call:
        """Make the call that ``call`` describes (step, label, method and request), and return it with its result."""
        started = self._clock.monotonic()
        stub = self._channel.unary_unary(self._service + call.method, bytes, bytes)
        try:
            with cut_after(self._channel, budget.seconds):
                answer, done = stub.with_call(call.request, timeout=budget.seconds, metadata=self._headers(routing))
        except grpc.RpcError as error:
            return self._ended(call, cast("grpc.Call", error), (), started=started, budget=budget)
        if len(answer) > budget.bytes:
            said = f"one response of {len(answer)} bytes, permitted {budget.bytes}"
            return self._over(call, done, (), started, said)
        return self._ended(call, done, (answer,), started=started, budget=budget)

    def stream(
        self, call: Call, *, routing: str = "", budget: CallBudget, take: int | None = None, met: Met | None = None
    ) -> Call:
        """Make a server-streaming call like :meth:`unary`; after ``take`` responses, if given, it cancels the call.

        A call that the fault ``met`` ends is one that the suite ended on purpose: it is CANCELLED.
        """
        started = self._clock.monotonic()
        stub = self._channel.unary_stream(self._service + call.method, bytes, bytes)
        longest = budget.longest if met is None else met.longest(budget.longest)
        listening = Listening(self._channel, budget.seconds, longest)
        timeout = listening.timeout if met is None else met.timeout(listening.timeout)
        running: Any = stub(call.request, timeout=timeout, metadata=self._headers(routing))
        responses: list[bytes] = []
        size = 0
        try:
            with listening.to(running.cancel):
                while take is None or len(responses) < take:
                    if met is not None and met.comes(len(responses)):
                        with listening.paused():
                            over = met.ends(running)
                        if over:
                            return self._broken_off(call, running, responses, started, met)
                    data = next(running, None)
                    listening.heard()
                    if data is None:
                        return self._ended(call, running, tuple(responses), started=started, budget=budget)
                    size += len(data)
                    if said := budget.exceeded(len(responses) + 1, size):
                        return self._over(call, running, tuple(responses), started, said)
                    responses.append(data)
        except grpc.RpcError:
            if met is not None and met.explains(running.code()):
                return self._broken_off(call, running, responses, started, met)
            return self._ended(call, running, tuple(responses), started=started, budget=budget, listening=listening)
        finally:
            running.cancel()
        return self._as(call, running, CallEnd.CANCELLED, tuple(responses), started)

    def converse(
        self,
        call: Call,
        messages: Iterable[bytes],
        *,
        budget: CallBudget,
        awaits: Container[int] = (),
        take: int | None = None,
        leaving: Leaving | None = None,
    ) -> Call:
        """Make a call in which the client streams ``messages``, and record how they interleave with the responses.

        After the message of an index in ``awaits``, the client waits for one more response before it goes on; after
        ``take`` responses, if given, it cancels the call, and it sends no more messages than ``leaving`` says. A call
        that the client gave up is CANCELLED, whatever the target says then.
        """
        started = self._clock.monotonic()
        listening = Listening(self._channel, budget.seconds, budget.longest)
        condition = getattr(self._channel, "condition", threading.Condition)
        said = _Said(messages, awaits, leaving, condition=condition, moves=listening.heard)
        stub = self._channel.stream_stream(self._service + call.method, bytes, bytes)
        timeout = listening.timeout if leaving is None else leaving.timeout(listening.timeout)
        running: Any = stub(said, timeout=timeout, metadata=self._headers(""))
        said.leaves(running.cancel)
        size = 0
        over, taken = "", False
        # The status of the call says the same as the error.
        with listening.to(running.cancel), contextlib.suppress(grpc.RpcError):
            for data in running:
                listening.heard()
                size += len(data)
                if over := budget.exceeded(len(said.responses) + 1, size):
                    break
                if said.hears(data) == take:
                    taken = True
                    break
        said.end()
        running.cancel()
        call = said.written_into(call)
        if taken:
            return self._as(call, running, CallEnd.CANCELLED, tuple(said.responses), started)
        if over:
            return self._over(call, running, tuple(said.responses), started, over)
        late = leaving is not None and leaving.how is GivingUp.DEADLINE and running.code() in _OWN
        if leaving is not None and (late or said.left) and not is_lost(running.code(), running.details() or ""):
            details = f"the client gave the call up: {leaving.how}"
            return self._as(call, running, CallEnd.CANCELLED, tuple(said.responses), started, details=details)
        answers = tuple(said.responses)
        return self._ended(call, running, answers, started=started, budget=budget, listening=listening)

    def left_alone(self, call: Call, *, leaving: Leaving, budget: CallBudget) -> Call:
        """Make a server-streaming call, take some responses, and none until the client's own deadline has passed."""
        started = self._clock.monotonic()
        stub = self._channel.unary_stream(self._service + call.method, bytes, bytes)
        timeout = leaving.timeout(budget.seconds)
        running: Any = stub(call.request, timeout=timeout, metadata=self._headers(""))
        over = threading.Event()
        running.add_callback(over.set)
        responses: list[bytes] = []
        try:
            with cut_after(self._channel, timeout):
                while len(responses) < leaving.after:
                    data = next(running, None)
                    if data is None:
                        return self._ended(call, running, tuple(responses), started=started, budget=budget)
                    responses.append(data)
        except grpc.RpcError:
            if running.code() not in _OWN:
                return self._ended(call, running, tuple(responses), started=started, budget=budget)
        self._clock.wait(timeout, over)
        running.cancel()
        details = f"the client gave the call up: {leaving.how}"
        return self._as(call, running, CallEnd.CANCELLED, tuple(responses), started, details=details)

    def _broken_off(self, call: Call, running: Any, responses: Sequence[bytes], started: float, met: Met) -> Call:
        details = f"the fault plan broke the call off: {met.fault}"
        running.cancel()
        return self._as(call, running, CallEnd.CANCELLED, tuple(responses), started, details=details)

    def _headers(self, routing: str) -> tuple[tuple[str, str | bytes], ...]:
        """The routing header that the generated clients send, unless it is empty, and the credentials; a server has to
        accept calls with and without the former.
        """
        routed = (("x-goog-request-params", routing),) if routing else ()
        return (*routed, *self._credentials().items())

    def _ended(
        self,
        call: Call,
        status: grpc.Call,
        responses: tuple[bytes, ...],
        *,
        started: float,
        budget: CallBudget,
        listening: Listening | None = None,
    ) -> Call:
        """The call with its end: the target's own status, or one that the client library generated."""
        code, details = status.code(), status.details() or ""
        if listening is not None and listening.silent and code is not grpc.StatusCode.OK:
            since = f" since the last of {len(responses)} responses" if responses else ", 0 responses came"
            said = f"no end within {budget.seconds:.3g} s{since}"
            return self._as(call, status, CallEnd.DEADLINE, responses, started, details=said)
        timeout = budget.seconds if listening is None else listening.timeout
        late = self._clock.monotonic() - started >= timeout - EARLY_SECONDS
        if code is grpc.StatusCode.DEADLINE_EXCEEDED and late:
            said = f"no end within {timeout:.3g} s, {len(responses)} responses came"
            return self._as(call, status, CallEnd.DEADLINE, responses, started, details=said)
        if code is grpc.StatusCode.RESOURCE_EXHAUSTED and f"vs. {self._message_limit})" in details:
            return self._over(call, status, responses, started, details)
        if code is not grpc.StatusCode.OK and (words := self._death(code, details)):
            return self._as(call, status, CallEnd.CRASH, responses, started, details=words)
        return dataclasses.replace(
            self._as(call, status, CallEnd.COMPLETE, responses, started, details=details),
            status=code.name,
            trailers=_entries(status.trailing_metadata()),
        )

    def _death(self, code: grpc.StatusCode, details: str) -> str:
        """The reason why the target counts as dead after a status that is not OK; empty if it is alive."""
        lost = is_lost(code, details)
        words = self._last_words(EXIT_SECONDS if lost else 0)
        if words:
            return words
        return f"the connection broke: {details}" if lost else ""

    def _over(self, call: Call, made: grpc.Call, responses: tuple[bytes, ...], started: float, said: str) -> Call:
        details = f"the target sent too much: {said}"
        return self._as(call, made, CallEnd.OVER_BUDGET, responses, started, details=details)

    def _as(
        self,
        call: Call,
        made: grpc.Call,
        end: CallEnd,
        responses: tuple[bytes, ...],
        started: float,
        *,
        details: str = "",
    ) -> Call:
        return dataclasses.replace(
            call,
            responses=tuple(map(masked_bytes, responses)),
            status="",
            details=details,
            end=end,
            started=started - self._began,
            seconds=self._clock.monotonic() - started,
            initial_metadata=_entries(made.initial_metadata()),
        )


_OWN: Final = frozenset({grpc.StatusCode.CANCELLED, grpc.StatusCode.DEADLINE_EXCEEDED})
"""The statuses of a call that its client ended."""


class _Said:
    """The two sides of a call in which the client streams: an iterator of its messages, and what came back.

    ``left`` is True once the client has given the call up. With ``condition``, one thread waits for the other;
    ``moves`` is called for each message.
    """

    def __init__(
        self,
        messages: Iterable[bytes],
        awaits: Container[int],
        leaving: Leaving | None = None,
        *,
        condition: Callable[[], threading.Condition] = threading.Condition,
        moves: Callable[[], object] = lambda: None,
    ) -> None:
        self.responses: list[bytes] = []
        self.left = False
        self._leaving = leaving
        self._moves = moves
        self._cancel: Callable[[], object] | None = None
        self._messages = enumerate(messages)
        self._awaits = awaits
        self._sent: list[bytes] = []
        self._order: list[Turn] = []
        self._changed = condition()
        self._heard = 0
        self._over = False

    def __iter__(self) -> _Said:
        return self

    def __next__(self) -> bytes:
        """The next message, for the thread of gRPC that sends them."""
        with self._changed:
            if self._sent and len(self._sent) - 1 in self._awaits:
                self._changed.wait_for(lambda: self._over or len(self.responses) > self._heard)
                self._heard = len(self.responses)
            if self._over:
                raise StopIteration
            if self._leaving is not None and len(self._sent) == self._leaving.after:
                self._leave(self._leaving)
                raise StopIteration
            for _, message in self._messages:
                self._moves()
                self._sent.append(message)
                self._order.append(Turn.REQUEST)
                return message
            self._order.append(Turn.HALF_CLOSE)
            self._over = True
            raise StopIteration

    def leaves(self, cancel: Callable[[], object]) -> None:
        """Take the function that cancels the call."""
        with self._changed:
            self._cancel = cancel
            self._changed.notify_all()

    def _leave(self, leaving: Leaving) -> None:
        """Give the call up; for the thread of gRPC, which holds the lock."""
        if leaving.how is GivingUp.HALF_CLOSE:
            self._order.append(Turn.HALF_CLOSE)
            self._over = True
            return
        self.left = True
        if leaving.how is GivingUp.CANCEL:
            self._changed.wait_for(lambda: self._over or self._cancel is not None)
            if self._cancel is not None:
                self._cancel()
        self._changed.wait_for(lambda: self._over)

    def hears(self, response: bytes) -> int:
        """Take a response, and return how many there are."""
        with self._changed:
            self.responses.append(response)
            self._order.append(Turn.RESPONSE)
            self._changed.notify_all()
            return len(self.responses)

    def end(self) -> None:
        """Send no further message: the call has ended."""
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def written_into(self, call: Call) -> Call:
        """``call`` with the messages of both sides and their order, after the end."""
        first, *more = self._sent or [b""]
        return dataclasses.replace(
            call, request=first, more_requests=tuple(more), responses=tuple(self.responses), order="".join(self._order)
        )


def _entries(metadata: Sequence[tuple[str, str | bytes]] | None) -> tuple[MetadataEntry, ...]:
    pairs = ((key, value.encode() if isinstance(value, str) else value) for key, value in metadata or ())
    return tuple(MetadataEntry(masked(key), masked_bytes(value)) for key, value in pairs)
