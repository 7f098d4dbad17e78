"""The subjects of the clauses on Flight: calls, infos, streams and puts. There are none in another exchange."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias, TypeVar

import pyarrow as pa

from conformance.contract.comparing.columnlists import names_differ, names_listed
from conformance.contract.comparing.matching import shape
from conformance.contract.raised import remembered_property
from conformance.contract.view import View, once_per_view
from conformance.protocols.flight.contract.decoding import read_data
from conformance.protocols.flight.contract.view import FlightCall, FlightView, GetView, InfoSeen, gave_up
from conformance.protocols.flight.records import Damage, DoExchange, DoPut, FlightMethod

__all__ = [
    "CODES",
    "LARGE",
    "LIMITS",
    "REFUSALS",
    "PutTable",
    "about",
    "answered_calls",
    "asked_for",
    "columns_differ",
    "columns_of",
    "infos",
    "is_damaged",
    "listed",
    "look_alike",
    "of_method",
    "reads",
    "refusals",
    "sent_rows",
    "stored",
    "together",
    "without_dictionaries",
]

T = TypeVar("T")
_Column: TypeAlias = tuple[str, object]

CODES: Final = frozenset(
    {
        "UNKNOWN", "INTERNAL", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS", "CANCELLED",
        "UNAUTHENTICATED", "PERMISSION_DENIED", "UNIMPLEMENTED", "UNAVAILABLE",
    }
)  # fmt: skip
"""The gRPC statuses of the error codes of Flight; TIMED_OUT is DEADLINE_EXCEEDED, and UNAUTHORIZED is
PERMISSION_DENIED.
"""

REFUSALS: Final = frozenset({"NOT_FOUND", "INVALID_ARGUMENT", "UNIMPLEMENTED", "UNAUTHENTICATED", "PERMISSION_DENIED"})
"""The statuses of an error that a client has made, or that the server cannot avoid for this client."""


LIMITS: Final = frozenset(
    {
        "UNAUTHENTICATED", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "UNIMPLEMENTED", "ABORTED", "CANCELLED",
        "DEADLINE_EXCEEDED",
    }
)  # fmt: skip
"""The statuses that say nothing of a flight: this client may not read it, or not at this time."""

LARGE: Final = "large"
"""The reason of a request that a server may find too large."""


def about(select: Callable[[FlightView], Sequence[T]]) -> Callable[[View], Sequence[T]]:
    """Return a selector that has no subjects in an exchange of another protocol, or of another party's calls."""

    @functools.wraps(select)
    def selected(view: View) -> Sequence[T]:
        return select(view) if isinstance(view, FlightView) else ()

    return once_per_view(selected)


@about
def answered_calls(view: FlightView) -> list[FlightCall]:
    """Return every call that the target ended itself, with any status."""
    return [call for call in view.flight_calls if call.answered]


@about
def infos(view: FlightView) -> list[InfoSeen]:
    """Return every FlightInfo of a call that ended in OK."""
    return list(view.infos)


@about
def reads(view: FlightView) -> list[GetView]:
    """Return every DoGet that ended in OK."""
    return [get for get in view.gets if get.ok]


@about
def refusals(view: FlightView) -> list[FlightCall]:
    """Return every call that the target ended in a status other than OK."""
    return [call for call in view.flight_calls if call.answered and not call.ok]


def asked_for(*reasons: str) -> Callable[[FlightView], list[FlightCall]]:
    """Return a selector of the answered calls whose step has one of these reasons for a refusal."""

    def select(view: FlightView) -> list[FlightCall]:
        return [call for call in view.flight_calls if call.answered and call.step.expect.reason in reasons]

    return select


class PutTable:
    """A table that DoPut accepted, and the reads of every endpoint of the info that was asked for afterwards."""

    response: None = None

    def __init__(self, put: FlightCall, seen: InfoSeen) -> None:
        self.call = put.index
        self.put = put
        self.seen = seen

    @property
    def table(self) -> pa.Table:
        """The rows that were sent."""
        return sent_rows(self.put)

    @remembered_property
    def rows(self) -> pa.Table | None:
        """The rows of all endpoints together; None if not all of them were read, or if their schemas differ."""
        whole = self.seen.whole
        if whole is None:
            return None
        return together([read.table for read in whole if read.table is not None]) if whole else self.table.slice(0, 0)


def together(tables: Sequence[pa.Table]) -> pa.Table | None:
    """The rows of the endpoints of one flight; None if there are none, or if their columns differ."""
    plain = list(map(without_dictionaries, tables))
    if not plain or any(columns_of(one.schema) != columns_of(plain[0].schema) for one in plain):
        return None
    return pa.concat_tables([one.cast(plain[0].schema) for one in plain])


def is_damaged(call: FlightCall) -> bool:
    """Return whether something is wrong with the messages that a client sends in a call."""
    return isinstance(call.step, DoPut | DoExchange) and call.step.damage is not Damage.NONE


def sent_rows(call: FlightCall) -> pa.Table:
    """The rows that a client sends in a call: those that the step names, or all of the case."""
    rows, table = call.step.expect.rows, call.view.table
    if isinstance(call.step, DoPut | DoExchange):
        table = table.slice(call.step.first, call.step.count)
    return without_dictionaries(table if rows is None else table.take(pa.array(rows, pa.int64())))


@about
def _read_back(view: FlightView) -> list[PutTable]:
    found = [(seen, seen.put) for seen in view.infos]
    made = [PutTable(put, seen) for seen, put in found if put is not None and isinstance(put.step, DoPut)]
    whole = [one for one in made if not is_damaged(one.put) and one.rows is not None]
    return [one for one in whole if not _is_a_further_one(one.put)]


def _is_a_further_one(put: FlightCall) -> bool:
    """True for a DoPut after another one that was accepted under its descriptor: whether it appends or replaces is left
    open, and :mod:`conformance.protocols.flight.contract.histories` judges it.
    """
    return any(call.ok and not gave_up(call) for call in put.view.puts_before(put.step, put.index))


def stored(view: View) -> list[PutTable]:
    """Return every table that was put, accepted and asked for again, if all that was given out was read.

    A table whose path looks like that of another one is left out: :func:`look_alike`.
    """
    return [one for one in _read_back(view) if not _alike(one)]


def look_alike(view: View) -> list[PutTable]:
    """Return every table that was put, accepted and read, where another one was accepted under a path like its own."""
    return [one for one in _read_back(view) if _alike(one)]


def _alike(one: PutTable) -> bool:
    """True if another path, of other elements, is the same after slashes join its elements that are not empty."""
    own = _path(one.put)
    paths = _paths_alike(one.put.view).get(_joined(own), {})
    return bool(own) and any(path != own and call < one.seen.call for path, call in paths.items())


def _paths_alike(view: FlightView) -> Mapping[str, Mapping[tuple[str, ...], int]]:
    """For each joined path, the paths under which a DoPut was accepted, with the index of the first such call."""

    def find() -> Mapping[str, Mapping[tuple[str, ...], int]]:
        found: dict[str, dict[tuple[str, ...], int]] = {}
        for call in view.flight_calls:
            if isinstance(call.step, DoPut) and call.ok:
                path = _path(call)
                found.setdefault(_joined(path), {}).setdefault(path, call.index)
        return found

    return view.once(_paths_alike, find)


def _path(put: FlightCall) -> tuple[str, ...]:
    data = read_data(put.raw.request)
    return () if data is None or data.descriptor is None else data.descriptor[2]


def _joined(path: tuple[str, ...]) -> str:
    return "/".join(filter(None, path))


def columns_of(schema: pa.Schema) -> list[_Column]:
    """Return names and types of the columns; nullability, metadata and dictionary encoding are left out."""
    return [(field.name, shape(_value_type(field.type))) for field in schema]


def listed(schema: pa.Schema) -> str:
    """Return names and types of the columns for people; in braces, so that they are no part of a class of failure."""
    shown = ", ".join(f"{field.name!r}: {field.type}" for field in schema)
    return f"{{{shown}}}" if shown else "no columns"


def columns_differ(wanted: pa.Schema, came: pa.Schema) -> str:
    """Return what tells the columns that came from those wanted, and then all of them; "" if nothing does.

    What :func:`columns_of` leaves out is no difference.
    """
    one, other = columns_of(wanted), columns_of(came)
    if one == other:
        return ""
    said = names_differ(wanted.names, came.names)
    if not said:
        said = f"with another type of {names_listed(name for (name, _), _ in _unequal(one, other))}"
    return f"{said}: {listed(came)}"


def _unequal(one: Sequence[_Column], other: Sequence[_Column]) -> Iterator[tuple[_Column, _Column]]:
    return ((left, right) for left, right in zip(one, other, strict=True) if left != right)


def _value_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def of_method(*methods: FlightMethod) -> Callable[[View], list[FlightCall]]:
    """Return a selector of the calls of some methods that ended in OK."""

    def select(view: View) -> list[FlightCall]:
        return [call for call in answered_calls(view) if call.ok and call.raw.method in methods]

    return select


def _plain(table: pa.Table) -> Iterator[pa.ChunkedArray]:
    for column in table.columns:
        yield column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def without_dictionaries(table: pa.Table) -> pa.Table:
    """Return the table with the values of its dictionary-encoded columns in their place."""
    plain = list(_plain(table))
    fields = [field.with_type(column.type) for field, column in zip(table.schema, plain, strict=True)]
    return pa.Table.from_arrays(plain, schema=pa.schema(fields))
