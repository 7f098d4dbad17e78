"""Drawn histories of Arrow Flight: two clients put, ask, poll, read, cancel, renew, exchange and set options, and time
passes.

A history is a case like any other, and follows from (seed, index) alone. It has one value of each of :data:`FACTORS`.
Each client reads what it has put itself: whether it sees the flights of others is the application's choice.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Final, TypeAlias

from conformance.generate.choices import Choices, Seeded, interleaved, one_in
from conformance.generate.factors import block, wanted_of
from conformance.protocols.flight.contract.encoding import part, text
from conformance.protocols.flight.records import (
    Descriptor,
    DoAction,
    DoExchange,
    DoGet,
    DoPut,
    FlightStep,
    GetFlightInfo,
    PollFlightInfo,
)
from conformance.protocols.flight.wire.messages import CANCEL, CLOSE_SESSION, GET_OPTIONS, RENEW, SET_OPTIONS
from conformance.records import (
    ROW_ID,
    BqType,
    Case,
    Column,
    Expect,
    Happening,
    Meanwhile,
    Mode,
    Recipe,
    Table,
    ValueProfile,
)

__all__ = [
    "CLAUSES",
    "CLOCK",
    "ECHO",
    "FACTORS",
    "HISTORY",
    "draw_history",
    "features",
    "history_block",
    "is_drawn_history",
]

HISTORY: Final = "flight-history"
"""The first word of the id of a drawn history."""

CLAUSES: Final = (f"{HISTORY}.rows-are-of-the-flight", f"{HISTORY}.none-is-lost")
"""The clauses that drawn histories exist to observe."""

ECHO: Final = "echo"
"""The name of the part that a target lacks which sends nothing back in an exchange."""

CLOCK: Final = "clock"
"""The name of the part that a target lacks whose clock nobody sets."""

FACTORS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "again": ("none", "own", "other", "together"),
        "asked": ("info", "poll", "poll-on"),
        "action": ("none", "cancel", "renew", "cancel-own"),
        "meanwhile": ("none", "put", "put-same", "exchange"),
        "sessions": ("none", "two", "closed"),
        "time": ("none", "renewed", "over", "cancelled"),
        "rows": ("some", "none", "many"),
    }
)
"""The features that meet in the first client's flight.

``again``: a further DoPut under its descriptor, by itself or the other client, or by both at once. ``asked``: for its
info, or by polling, at once or with other calls between. ``action``: the other client, or the first, cancels the info
of a third flight, or an endpoint of the first is renewed. ``meanwhile``: what is done at the same time as a read, or
two exchanges at once. ``sessions``: both clients set options; one closes its session. ``time``: the expiration time of
an endpoint passes after it was renewed, or that of all endpoints, or it is renewed after it was cancelled. ``rows``: of
each DoPut.
"""

_ANY: Final = Expect(
    codes=(
        *("OK", "NOT_FOUND", "INVALID_ARGUMENT", "UNIMPLEMENTED", "UNAUTHENTICATED", "PERMISSION_DENIED", "UNKNOWN"),
        *("INTERNAL", "FAILED_PRECONDITION", "ALREADY_EXISTS", "CANCELLED", "DEADLINE_EXCEEDED"),
    )
)
"""The end of a call that a server may refuse: a further DoPut, an action, a poll, a ticket that may have been used."""

_MORE: Final = (
    Column("word", BqType.STRING),
    Column("number", BqType.FLOAT64),
    Column("count", BqType.INT64),
    Column("words", BqType.STRING, Mode.REPEATED),
)
_COUNTS: Final = {"some": (2, 3, 5, 8, 13), "none": (0, 0, 3, 5), "many": (120, 257, 400)}

HistoryStep: TypeAlias = FlightStep | Meanwhile
Unit: TypeAlias = tuple[HistoryStep, ...]
"""Steps that follow each other directly; some of them are made at the same time."""


def history_block() -> int:
    """Return the number of consecutive histories that have every pair of values."""
    return block(FACTORS)


def draw_history(seed: int, index: int, *, not_offered: Collection[str] = ()) -> Case:
    """Return the ``index``-th history of a seed; with :data:`ECHO` in ``not_offered``, it has no exchange, and with
    :data:`CLOCK`, no time passes in it.
    """
    wanted = dict(wanted_of(seed, index, FACTORS, HISTORY))
    if CLOCK in not_offered:
        wanted["time"] = "none"
    history = _History(Seeded(seed, index, HISTORY), wanted, echoes=ECHO not in not_offered)
    title = "What one client puts, cancels, renews or sets is not another one's"
    return Case(
        f"{HISTORY}.s{seed}.i{index}",
        title,
        history.table,
        tuple(history.steps),
        CLAUSES,
        protocol="flight",
    )


def is_drawn_history(case: Case) -> bool:
    """True for a case that :func:`draw_history` made."""
    return case.id.startswith(f"{HISTORY}.s")


def features(case: Case) -> tuple[str, ...]:
    """Return the value of each factor in a drawn history, such as ``asked=poll``, in the order of :data:`FACTORS`."""
    seed, index = (int(word[1:]) for word in case.id.split(".")[1:])
    wanted = dict(wanted_of(seed, index, FACTORS, HISTORY))
    if wanted["meanwhile"] == "exchange" and not any(isinstance(step, DoExchange) for step in case.steps):
        wanted["meanwhile"] = "none"
    if wanted["time"] != "none" and not any(isinstance(step, Meanwhile) for step in case.steps):
        wanted["time"] = "none"
    return tuple(f"{name}={value}" for name, value in wanted.items())


class _History:
    """The steps of a history, and the table that has the rows of all of its DoPuts, each of its own."""

    def __init__(self, choices: Choices, wanted: Mapping[str, str], *, echoes: bool) -> None:
        self._choices = choices
        self._wanted = wanted
        self._echoes = echoes
        self._rows = 0
        self._labels = 0
        more = choices.integer(0, len(_MORE))
        columns = (Column(ROW_ID, BqType.INT64, Mode.REQUIRED), *_MORE[:more])
        self.steps = _patient([*self._begin(), *interleaved(choices, self._units()), *self._end()])
        recipe = Recipe(rows=self._rows, seed=choices.integer(0, 999), values=ValueProfile.RANDOM)
        self.table = Table(columns, recipe=recipe)

    # --- single steps -----------------------------------------------------------------------------

    def _put(self, name: str, *, client: str = "", alongside: bool = False, further: bool = False) -> DoPut:
        """Put rows that no other DoPut has."""
        first, count = self._rows, self._choices.pick(_COUNTS[self._wanted["rows"]])
        if further and one_in(self._choices, 2):
            count = max(1, count)
        self._rows += count
        expect = _ANY if further else Expect()
        return DoPut(
            Descriptor(path=(name,)),
            first=first,
            count=count,
            client=client,
            alongside=alongside,
            expect=expect,
        )

    def _label(self) -> str:
        self._labels += 1
        return f"i{self._labels}"

    def _info(self, name: str, *, client: str = "") -> GetFlightInfo:
        return GetFlightInfo(Descriptor(path=(name,)), self._label(), client=client)

    def _read(self, name: str, *, client: str = "") -> Unit:
        """Ask for an info and read it."""
        info = self._info(name, client=client)
        return info, DoGet(info.label, client=client)

    # --- the whole --------------------------------------------------------------------------------

    def _begin(self) -> Unit:
        """Put the flights of both clients."""
        first: Unit = (self._put("f"), self._put("g", client="b"))
        if one_in(self._choices, 2):
            first = (self._put("f"), self._put("g", client="b", alongside=True))
        return first

    def _end(self) -> Unit:
        """Read the flights of both clients."""
        return *self._read("f"), *self._read("g", client="b")

    def _units(self) -> list[Sequence[Unit]]:
        units: list[Sequence[Unit]] = [self._first_reads(), self._again(), self._meanwhile()]
        units.append([self._read("g", client="b") for _ in range(self._choices.integer(0, 2))])
        return [*units, self._actions(), *self._sessions(), self._time()]

    def _first_reads(self) -> list[Unit]:
        """Ask for the first flight in the way of the history, read it, and read it again."""
        descriptor = Descriptor(path=("f",))
        match self._wanted["asked"]:
            case "info":
                info = self._info("f")
                return [(info,), *[(DoGet(info.label, expect=_ANY),)] * 2]
            case "poll":
                poll = PollFlightInfo(descriptor, self._label(), expect=_ANY)
                return [(poll,), (DoGet(poll.label, expect=_ANY),)]
            case _:
                begun = PollFlightInfo(descriptor, self._label(), most=1, expect=_ANY)
                other = PollFlightInfo(Descriptor(path=("g",)), self._label(), client="b", expect=_ANY)
                on = PollFlightInfo(descriptor, self._label(), resume=begun.label, expect=_ANY)
                beside: Unit = (other, DoGet(other.label, client="b", expect=_ANY))
                return [(begun,), beside, (on,), (DoGet(on.label, expect=_ANY),)]

    def _again(self) -> list[Unit]:
        """Put the first flight again, and read what is there then."""
        match self._wanted["again"]:
            case "own":
                return [(self._put("f", further=True),), self._read("f")]
            case "other":
                return [(self._put("f", client="b", further=True),), self._read("f")]
            case "together":
                return [self._put_together(name) for name in ("g", self._choices.pick(("f", "g")))]
        return []

    def _put_together(self, name: str) -> Unit:
        """Put the first flight and one of that name at the same time, and read both before anything else happens."""
        own, beside = self._put("f", further=True), self._put(name, client="b", alongside=True, further=True)
        return own, beside, *self._read("f"), *self._read("g", client="b")

    def _meanwhile(self) -> list[Unit]:
        """Do two things at the same time."""
        match self._wanted["meanwhile"]:
            case "put" | "put-same" as which:
                info = self._info("f")
                name = "f" if which == "put-same" else "g"
                put = self._put(name, client="b", further=True)
                return [(info,), (put, DoGet(info.label, alongside=True, expect=_ANY))]
            case "exchange" if self._echoes:
                return [(self._exchange(""), self._exchange("b", alongside=True))]
        return []

    def _exchange(self, client: str, *, alongside: bool = False) -> DoExchange:
        first, count = self._rows, self._choices.pick((2, 3, 8))
        self._rows += count
        return DoExchange(first=first, count=count, client=client, alongside=alongside, metadata=True)

    def _actions(self) -> list[Unit]:
        match self._wanted["action"]:
            case "cancel" | "cancel-own" as which:
                client = "b" if which == "cancel" else ""
                mine = self._info("f")
                put, theirs = self._put("h", client=client), self._info("h", client=client)
                cancel = DoAction(CANCEL, info=theirs.label, client=client, expect=_ANY)
                restored = self._put("h", client=client, further=True)
                units: list[Unit] = [(put, theirs), (mine,), (cancel,), (DoGet(mine.label, expect=_ANY),)]
                return [*units, (restored,), self._read("h", client=client)]
            case "renew":
                info = self._info("f")
                renew = self._renew(info.label)
                read = DoGet(info.label, endpoint="0", expect=_ANY)
                return [(info, read), (renew,), (DoGet(renew.label, expect=_ANY),)]
        return []

    def _renew(self, info: str, *, client: str = "") -> DoAction:
        return DoAction(RENEW, info=info, endpoint="0", label=self._label(), client=client, expect=_ANY)

    def _time(self) -> list[Unit]:
        """Renew endpoints, and let their time pass."""
        match self._wanted["time"]:
            case "renewed":
                return self._renewed_in_time()
            case "over":
                info = self._info("f")
                first = self._renew(info.label)
                again = self._renew(first.label)
                late = (DoGet(info.label), DoGet(first.label), again, DoGet(again.label))
                passes = Meanwhile(Happening.EXPIRY)
                return [(info,), (first,), (passes,), *[(step,) for step in late], (self._put("f", further=True),)]
            case "cancelled":
                info = self._info("f")
                first = self._renew(info.label)
                cancel = DoAction(CANCEL, info=info.label, expect=_ANY)
                again = self._renew(first.label)
                passes = Meanwhile(Happening.HALFWAY, first.label)
                void = DoGet(first.label, expect=_ANY)
                return [(info,), (first,), (cancel, void, passes, again, DoGet(again.label))]
        return []

    def _renewed_in_time(self) -> list[Unit]:
        """Renew an endpoint before its time and read it after that, twice; one of the other client is read beside it.

        A server whose infos have no expiration time gives the first one when it renews. An endpoint that is not renewed
        again expires.
        """
        once, info, theirs = self._info("f"), self._info("f"), self._info("g", client="b")
        short, first = self._renew(once.label), self._renew(info.label)
        second, beside = self._renew(first.label), self._renew(theirs.label, client="b")
        read = DoGet(self._choices.pick((second.label, first.label, info.label)))
        return [
            (once, info),
            (Meanwhile(Happening.HALFWAY, info.label),),
            (short, first),
            (Meanwhile(Happening.EXPIRY, info.label), DoGet(first.label)),
            (Meanwhile(Happening.HALFWAY, first.label),),
            (theirs, second),
            (beside,),
            (Meanwhile(Happening.EXPIRY, first.label), read),
            (DoGet(second.label),),
            (DoGet(short.label),),
            (DoGet(theirs.label, client="b"), DoGet(beside.label, client="b")),
        ]

    def _sessions(self) -> list[Sequence[Unit]]:
        """Set options in the sessions of both clients, and read them; perhaps the second closes its session."""
        if self._wanted["sessions"] == "none":
            return []
        own = [self._options("a", ""), *self._options_read("")]
        others = [self._options("b", "b"), *self._options_read("b")]
        if self._wanted["sessions"] == "closed":
            others.append((DoAction(CLOSE_SESSION, client="b", expect=_ANY),))
            return [[*own, *others, *self._options_read("")]]
        return [own, others]

    def _options(self, value: str, client: str) -> Unit:
        """Set an option of the client's own, and one that both set."""
        names = (f"conformance_{value}", "conformance_shared")
        body = b"".join(part(1, text(1, name) + part(2, text(1, f"of {value}"))) for name in names)
        return (DoAction(SET_OPTIONS, body=body, client=client, expect=_ANY),)

    def _options_read(self, client: str) -> list[Unit]:
        return [(DoAction(GET_OPTIONS, client=client, expect=_ANY),)] * self._choices.integer(1, 2)


def _patient(steps: Sequence[HistoryStep]) -> list[HistoryStep]:
    """Permit any end to the calls after time has passed: logins, sessions and flights may have ended as well."""
    first = next((at for at, step in enumerate(steps) if isinstance(step, Meanwhile)), len(steps))
    late = [step if isinstance(step, Meanwhile) else dataclasses.replace(step, expect=_ANY) for step in steps[first:]]
    return [*steps[:first], *late]
