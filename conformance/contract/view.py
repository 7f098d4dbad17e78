"""An exchange as the clauses see it: every byte parsed once, on demand, and offered as subjects.

A view judges nothing: it passes the Arrow bytes to :mod:`conformance.wire`, and links each call to the step of the
case that made it. It never raises on foreign bytes: data that cannot be decoded is a subject with a reason, or no
subject at all (:meth:`View.reason_not_judged` gives the reason). What a call means is for the view of its protocol.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import pyarrow as pa

from conformance.contract.budget import STANDARD, Budget, Excess
from conformance.contract.bytefields import BatchBytes, SchemaBytes
from conformance.contract.raised import JudgingEnded, attempt, raise_or_give, remembered_property
from conformance.records import Call, CallEnd, CallStep, Case, Column, Exchange, Outcome, Reading, to_json
from conformance.wire.compression import DecompressionBudget as Decompression

if TYPE_CHECKING:
    from conformance.history import History

__all__ = [
    "NOTHING_SHOWN",
    "BatchBytes",
    "CallView",
    "DeclaredSchema",
    "ReadTable",
    "SchemaBytes",
    "View",
    "once_per_view",
]

NOTHING_SHOWN: Final = "nothing in the exchange shows it"
"""Why a clause is not judged on a case that names it and went through to its end."""

T = TypeVar("T")


class CallView:
    """A call; ``index`` is its place in the exchange.

    ``step`` is the step of the case that made the call; the attribute is missing if a client made it.
    """

    def __init__(self, view: View, index: int, call: Call) -> None:
        self.view = view
        self.index = index
        self.raw = call
        if view.exchange.driven:
            self.step = view.case.steps[call.step]

    @property
    def call(self) -> int:
        """The call's index, as the subject's place."""
        return self.index

    @property
    def response(self) -> None:
        """None: a call as a whole has no single response."""

    @property
    def ok(self) -> bool:
        """True if the target sent the status OK."""
        return self.raw.end is CallEnd.COMPLETE and self.raw.status == "OK"

    @property
    def expected_codes(self) -> tuple[str, ...]:
        """The permitted statuses of the step that made the call."""
        return self.step.expect.codes if isinstance(self.step, CallStep) else ()


def _never() -> str:
    return ""


@dataclasses.dataclass(frozen=True, slots=True)
class DeclaredSchema:
    """A schema in the exchange, and the columns that it has to describe; ``selected`` if a request selected these."""

    schema: SchemaBytes
    columns: Sequence[Column]
    selected: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class ReadTable:
    """Rows that a client read as a whole, in any order, and the expected ones; ``call`` began the read.

    ``batches`` gives the messages that hold the rows of ``got``, in their order, if they are messages of Arrow.
    """

    call: int
    columns: Sequence[Column]
    expected: pa.Table
    got: pa.Table
    batches: Callable[[], Sequence[BatchBytes]]


class View:
    """An exchange as subjects; ``table`` holds the case's rows, ``readings`` the results of readers on the exchange.

    ``memo`` caches values of the view that several clauses need; ``broke`` holds the distinct tracebacks of
    exceptions that clauses raised on it, for the suite's maintainers. ``work`` is the work done so far, which
    ``budget`` limits. ``given_up`` gives the reason why judging ends here, "" while it goes on.
    """

    budget: Budget = STANDARD

    def __init__(self, case: Case, exchange: Exchange, table: pa.Table, readings: Iterable[Reading] = ()) -> None:
        self.case = case
        self.exchange = exchange
        self.table = table
        self._readings: Callable[[], Iterable[Reading]] = lambda: readings
        self.memo: dict[object, Any] = {}
        self.broke: dict[str, None] = {}
        self.work = 0
        self.given_up: Callable[[], str] = _never

    def release(self) -> None:
        """Forget everything: the view is not used any more.

        A view and its calls refer to one another. The garbage collector frees such objects late, because it counts
        them and not their bytes.
        """
        self.__dict__.clear()

    def once(self, key: object, compute: Callable[[], T]) -> T:
        """Return the result of ``compute``, which is computed at the first call with ``key``."""
        if key not in self.memo:
            self.memo[key] = compute()
        value: T = self.memo[key]
        return value

    def go_on(self) -> None:
        """Raise :class:`~conformance.contract.raised.JudgingEnded` if judging ends here; long work asks repeatedly."""
        if reason := self.given_up():
            raise JudgingEnded(reason)

    def unjudgeable(self) -> str:
        """Return why nothing of the exchange can be judged, empty if it can."""
        return ""

    @remembered_property
    def readings(self) -> tuple[Reading, ...]:
        """The results of readers on the exchange; raises the exceptions of the function given to
        :meth:`compare_readings`.
        """
        return tuple(self._readings())

    def compare_readings(self, compare: Callable[[], Iterable[Reading]]) -> None:
        """Set the function that computes the readings, which may need this view; the clauses on readings call it."""
        self._readings = compare

    @remembered_property
    def served(self) -> tuple[CallView, ...]:
        """The calls to a server in order, whichever party made them."""
        return tuple(CallView(self, index, call) for index, call in enumerate(self.exchange.calls))

    @property
    def calls(self) -> tuple[CallView, ...]:
        """The calls to a server that carry out a step, in order; none if a client made the calls."""
        return self.served if self.exchange.driven else ()

    @property
    def calls_read(self) -> Mapping[str, int]:
        """The place of the call that begins what a reader reads, by the label of its readings."""
        return {}

    @remembered_property
    def schemas(self) -> list[SchemaBytes]:
        """The Arrow schemas in the exchange that are messages of their own."""
        return self.serialized_schemas

    @remembered_property
    def batches(self) -> list[BatchBytes]:
        """The record batches in the exchange that are messages of their own."""
        return self.serialized

    def declared_schemas(self) -> Iterator[DeclaredSchema]:
        """Yield every schema for known columns that the target did not have to refuse."""
        return (DeclaredSchema(schema, self.case.table.columns) for schema in self.serialized_schemas)

    def read_tables(self) -> Iterator[ReadTable]:
        """Yield what was read as a whole under the schema of known columns."""
        return iter(())

    def stream_counts(self) -> Mapping[int, int]:
        """The number of streams that the server chose for an answer, by the step that it answers."""
        return {}

    def history(self) -> History | None:
        """The history of the rows that were written and read; None if the protocol or the rows have none."""
        return None

    @remembered_property
    def serialized_schemas(self) -> list[SchemaBytes]:
        """The schemas of a serializer; empty for a server."""
        return [
            SchemaBytes(index, 0, call.responses[0], "serializer")
            for index, call in enumerate(self.exchange.calls)
            if call.method == "SerializeSchema" and call.responses
        ]

    @remembered_property
    def _serialized_batches(self) -> list[BatchBytes]:
        schemas = self.serialized_schemas
        schema = schemas[0].message.schema if schemas else None
        return [
            BatchBytes(index, 0, call.responses[0], schema, self.decompression)
            for index, call in enumerate(self.exchange.calls)
            if call.method == "SerializeBatch" and call.responses
        ]

    @property
    def serialized(self) -> list[BatchBytes]:
        """The batches of a serializer, in order; empty for a server."""
        return self._serialized_batches

    def reason_not_judged(self) -> tuple[Outcome, str]:
        """Return why a clause that the case names had no subject: the outcome and text of the first thing that went
        wrong.
        """
        try:
            return self._reason_not_judged
        except JudgingEnded as ended:
            return Outcome.UNTESTABLE, str(ended)

    @remembered_property
    def inflation(self) -> int | None:
        """The number of bytes to which the batches may decompress, None if there is no table to derive a limit from."""
        return self.budget.of_bytes(self.exchange, self.table.nbytes) if self.case.table.columns else None

    @remembered_property
    def decompression(self) -> Decompression | None:
        """The part of that limit that is left; the batches share it."""
        if not self.case.table.columns:
            return None
        # Few batches are compressed, and to sum up a table's size takes a tenth of the time that a small one is judged.
        budget, exchange, table = self.budget, self.exchange, self.table
        return Decompression(0, lambda: budget.of_bytes(exchange, table.nbytes))

    @remembered_property
    def excess(self) -> Excess | None:
        """The first excess over the budget, else None; a view with an excess is not judged further."""
        exchange, rows = self.exchange, self.table.num_rows
        # Nobody knows how many responses a table of unknown rows takes: a proxy recorded a client that read it.
        known = bool(self.case.table.columns)
        return (
            self._excess_of_received()
            or (self.budget.of_responses(exchange, rows) if known else None)
            or self.budget.of_schemas(exchange, self._schema_messages())
            or self._excess_of_rows()
        )

    def _excess_of_rows(self) -> Excess | None:
        """Return an excess of rows or of decompressed bytes for the table; nothing is decoded to find it."""
        if not self.case.table.columns:
            return None
        if (excess := self._excess_of_sizes()) is not None:
            return excess
        try:
            counts = [(batch.call, batch.rows) for batch in self.batches]
        except Exception:  # noqa: BLE001  # the clauses on batches compute the same, and report the error
            return None
        return self.budget.of_rows(self.exchange, counts, self.table.num_rows)

    def _excess_of_received(self) -> Excess | None:
        """Return an excess of the bytes of answers, none of which is parsed to find it."""
        return None

    def _excess_of_sizes(self) -> Excess | None:
        """Return an excess of the sizes that answers declare for what is compressed in them."""
        return None

    def _schema_messages(self) -> Iterator[tuple[int, bytes]]:
        """Yield every schema message with its call, unparsed."""
        for index, call in enumerate(self.exchange.calls):
            if call.method == "SerializeSchema":
                yield from ((index, data) for data in call.responses[:1])

    @remembered_property
    def _reason_not_judged(self) -> tuple[Outcome, str]:
        if (ended := self._ended_early()) is not None:
            return ended
        if self.excess is not None:
            return Outcome.HANG, f"call {self.excess.call}: {self.excess.observed}"
        if unreadable := next(self._unreadable(), ""):
            return Outcome.DEPENDENCY_FAILED, f"{unreadable}; see the findings on them"
        return Outcome.UNTESTABLE, self._too_large() or self._left_out() or NOTHING_SHOWN

    def _left_out(self) -> str:
        """Return the step from which on the case was left out, since the target offers no way to carry it out; in
        words, empty without one.
        """
        skipped = frozenset(self.exchange.skipped_steps)
        first = len(self.case.steps)
        while first - 1 in skipped:
            first -= 1
        if first == len(self.case.steps) or isinstance(step := self.case.steps[first], CallStep):
            return ""
        said = " ".join((step.TAG, *map(_in_words, to_json(step).values())))
        return f"the target offers no way to carry out the step {said}"

    def _too_large(self) -> str:
        """Return what was sent, can be read, and is more than the suite compares; in words, empty without such data."""
        return ""

    def _unreadable(self) -> Iterator[str]:
        """Yield what was sent and cannot be read, in words: what lies behind it cannot be judged."""
        yield from self._unreadable_schemas()
        yield from self._unreadable_batches()

    def _unreadable_schemas(self) -> Iterator[str]:
        for schema in self.schemas:
            if schema.message.schema is None:
                yield f"call {schema.call}: the bytes of a schema cannot be read"

    def _unreadable_batches(self) -> Iterator[str]:
        for batch in self.batches:
            if batch.arrow() is None:
                yield f"call {batch.call}, response {batch.response}: the bytes of a record batch cannot be decoded"

    def _ended_early(self) -> tuple[Outcome, str] | None:
        """Return the outcome and text of the first call that did not end as its step requires, or was not made."""
        for index, call in enumerate(self.exchange.calls):
            where = f"call {index}, {call.method}"
            if call.end is CallEnd.CRASH:
                return Outcome.CRASH, f"{where}: the target died: {call.details}"
            if call.end in (CallEnd.DEADLINE, CallEnd.OVER_BUDGET):
                return Outcome.HANG, f"{where}: no end within its limits ({call.end}): {call.details}"
            if not self.exchange.driven:
                continue
            step = self.case.steps[call.step] if call.step < len(self.case.steps) else None
            codes = step.expect.codes if isinstance(step, CallStep) else ("OK",)
            if call.end is CallEnd.COMPLETE and call.status == "OK" and "OK" not in codes:
                return Outcome.DEPENDENCY_FAILED, f"{where}: ended in OK and had to be refused; see its findings"
            if call.end is CallEnd.COMPLETE and call.status not in codes and not self._is_open(index):
                return Outcome.REFUSED, f"{where}: ended in {call.status}: {call.details}"
        return (Outcome.UNTESTABLE, self.exchange.stopped) if self.exchange.stopped else None

    def _is_open(self, _index: int) -> bool:
        """True if a call may end in a status that its step does not name."""
        return False


def _in_words(value: Any) -> str:
    """A key of a step: its text, those of a list, or the name of a column."""
    if isinstance(value, list):
        return ", ".join(map(_in_words, value))
    return str(value.get("name", "")) if isinstance(value, dict) else str(value)


ViewT = TypeVar("ViewT", bound=View)


def once_per_view(select: Callable[[ViewT], T]) -> Callable[[ViewT], T]:
    """Return a selector that computes its subjects once per view; an exception is cached too and raised in every
    caller.
    """

    @functools.wraps(select)
    def remembered(view: ViewT) -> T:
        if select not in view.memo:
            view.memo[select] = attempt(lambda: select(view))
        found: T = raise_or_give(view.memo[select])
        return found

    return remembered
