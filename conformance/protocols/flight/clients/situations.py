"""The situations of Flight clients: one covering array over methods, kinds of messages, ends of calls and places.

Every two values of different factors occur together in at least one situation, unless one of the two rules it out: a
message that is illegal comes in a call that ends well, so that what a client makes of it is seen.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Hashable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import grpc
import pyarrow as pa

from conformance.contract.clientjudging import Situation
from conformance.contract.rpcstatus import retry_status
from conformance.engine.outcomes import answer_that
from conformance.generate.covering import Combination, Factors, Row, covering
from conformance.protocols.flight.clients.answers import (
    LISTS,
    LOCATIONS,
    METHODS,
    UNARY,
    AnswerKind,
    expected_of,
    plain,
    ticket,
)
from conformance.protocols.flight.clients.script import OK, EndOfCall, Reply, Script, Trailers
from conformance.protocols.flight.clients.streams import BATCHES, STREAMS, StreamKind, made, table
from conformance.readers.info import ReaderInfo

__all__ = ["FACTORS", "FlightSet", "default_script", "permitted", "put_to", "scripted", "unusual"]

STREAMING: Final = ("DoGet", "DoExchange")
LISTING: Final = ("ListFlights", "ListActions", "DoAction", "DoPut")
SINGLE: Final = ("GetFlightInfo", "PollFlightInfo", "GetSchema", "Handshake")
_CODES: Final = ("NOT_FOUND", "INTERNAL", "UNAVAILABLE", "CANCELLED", "OUT_OF_RANGE", "RESOURCE_EXHAUSTED", "UNKNOWN")
_BREAKS: Final = ("reset", "inside", "goaway")
_TRAILERS: Final[Mapping[str, Trailers]] = {
    "none": (),
    "text": (("x-conformance", "text"),),
    "binary": (("x-conformance-bin", b"\xff\x00\xfe"),),
    "details": (),
    "details-noise": (("grpc-status-details-bin", b"\xff\xff\xff"),),
    "arrow-status": (("x-arrow-status", "0"), ("x-arrow-status-message-bin", b"fine")),
}

FACTORS: Final[Factors] = {
    "method": (*STREAMING, *LISTING, *SINGLE),
    "message": tuple(dict.fromkeys([*STREAMS, *LISTS, *UNARY])),
    "place": ("first", "middle", "last"),
    "end": ("OK", *_CODES, *_BREAKS),
    "when": ("before", "between", "behind"),
    "trailers": tuple(_TRAILERS),
    "endpoints": (1, 3),
    "location": tuple(LOCATIONS),
}
"""The factors of the array."""


def kinds_of(method: str) -> Mapping[str, AnswerKind] | Mapping[str, StreamKind]:
    """The kinds of answers of a method."""
    if method in STREAMING:
        # Either side of an exchange may send nothing.
        return {name: kind for name, kind in STREAMS.items() if method == "DoGet" or name != "no-message"}
    of_shape = LISTS if method in LISTING else UNARY
    return {name: kind for name, kind in of_shape.items() if not kind.only or method in kind.only}


def _situation(method: str, message: str) -> Situation:
    if method in STREAMING:
        return STREAMS[message].situation
    return (LISTS if method in LISTING else UNARY)[message].situation


def _is_legal(message: Hashable) -> bool:
    """True if a kind is legal for every method that has it."""
    of = [kinds[str(message)].situation for kinds in (STREAMS, LISTS, UNARY) if message in kinds]
    return all(one is Situation.HEALTHY for one in of)


def _is_placed(message: Hashable) -> bool:
    return message in STREAMS and STREAMS[str(message)].placed and message not in LISTS and message not in UNARY


_USUAL: Final[Row] = {
    "place": "first", "end": "OK", "when": "before", "trailers": "none", "endpoints": 1, "location": "none"
}  # fmt: skip
"""What an illegal message goes with."""
_ENDING: Final = ("DoGet", "DoExchange", "DoAction", "DoPut")
"""Methods whose plain streams end in each way by itself."""
_INFOS: Final = ("GetFlightInfo", "PollFlightInfo")
"""The methods that give endpoints."""


@functools.cache
def permitted(pair: Combination) -> bool:
    """True if two values of different factors can be in one situation."""
    held = {**dict.fromkeys(FACTORS), **dict(pair)}
    method, message = held["method"], held["message"]
    unusual = {name for name, value in pair if name in _USUAL and value != _USUAL[name]}
    if method is not None and message is not None and message not in kinds_of(str(method)):
        return False
    infos = unusual.isdisjoint({"endpoints", "location"}) or _fits_infos(method, message, unusual)
    return infos and not any((*_lost_places(held, unusual), *_lost_ends(held, unusual)))


def _lost_places(held: Mapping[str, Hashable], unusual: set[str]) -> Iterator[bool]:
    """Whether no client would see where the message is, or which location it names."""
    method, message = held["method"], held["message"]
    if "place" in unusual:
        yield held["place"] != "first" and not (message is None or _is_placed(message))
        yield method not in (None, *STREAMING)
    yield message is not None and not _is_legal(message) and bool(unusual - {"place"})
    yield held["location"] is not None and not _is_usable(str(held["location"])) and message not in (None, "plain")


def _lost_ends(held: Mapping[str, Hashable], unusual: set[str]) -> Iterator[bool]:
    """Whether no client would see how or when the call ends, or its trailers."""
    method, message, end, when = (held[name] for name in ("method", "message", "end", "when"))
    yield when == "between" and (method in SINGLE or not (message is None or message in STREAMS or message in LISTS))
    yield end == "OK" and "when" in unusual
    yield end == "inside" and when == "behind"
    # A login reads one answer, and need not see what follows.
    yield method == "Handshake" and "when" in unusual
    if str(held["trailers"]).startswith("details"):
        yield end == "OK" or (message is not None and not _is_legal(message))
        yield held["trailers"] == "details" and end in _BREAKS
    yield end in _BREAKS and "trailers" in unusual


def _fits_infos(method: Hashable, message: Hashable, unusual: set[str]) -> bool:
    """True if endpoints and their locations can be seen: in the answers of two methods, if the call ends well."""
    return (
        unusual.isdisjoint({"place", "end", "when", "trailers"})
        and method in (None, *_INFOS)
        and message in (None, "plain", "unknown-field")
    )


def _is_usable(location: str) -> bool:
    return LOCATIONS[location][0] is Situation.HEALTHY


@functools.cache
def rows() -> Sequence[Row]:
    """The rows of the array."""
    return covering(FACTORS, permitted)


@dataclasses.dataclass(frozen=True, slots=True)
class FlightSet:
    """One situation: what the server answers, and the rows that a client gives, by what its path asks for.

    ``title`` continues the sentence *…, where*. ``methods`` are those in which the situation is to be seen.
    ``asks`` is set once a client is put into it; ``message`` is the kind of stream or answer, empty for a mutant's, and
    ``tries`` how often a client that gives an error is asked.
    """

    id: str
    kind: Situation
    title: str
    script: Script
    methods: tuple[str, ...]
    rows: Mapping[str, pa.Table]
    asks: str = ""
    message: str = ""
    tries: int = 1

    @property
    def expected(self) -> pa.Table:
        """The rows that this client has to give."""
        return self.rows[self.asks]

    @property
    def ordered(self) -> bool:
        """True if the order of the rows is known: endpoints have none between them."""
        return not (self.asks in ("flight", "poll") and len(self.script.tickets) > 1)


def put_to(info: ReaderInfo, asked: FlightSet) -> tuple[FlightSet, str]:
    """The situation for a path of a client, and the reason why it does not see it, if it does not.

    A legal stream of a kind that its maintainers say it does not support is open: all rows, or an error.
    """
    asks = info.asks
    if not set(METHODS[asks]) & set(asked.methods):
        return asked, f"this path does not call {' or '.join(asked.methods)}"
    if asks not in asked.rows:
        return asked, "the texts do not say what this path gives"
    if asked.kind is Situation.HEALTHY and asked.message in info.gaps:
        title = f"{asked.title}, which its maintainers say it does not support"
        return dataclasses.replace(asked, asks=asks, kind=Situation.OPEN, title=title), ""
    return dataclasses.replace(asked, asks=asks), ""


@functools.cache
def default_script(endpoints: int = 1, location: str = "none", header: bytes = b"") -> Mapping[str, Reply]:
    """The plain reply of every method; ``header`` is that of the data's schema, if it is not the table's."""
    stream = tuple(piece.message for piece in made(STREAMS["plain"], 0))
    of_lists = {name: Reply(tuple(plain(name))) for name in (*LISTING, "GetSchema", "Handshake")}
    of_infos = {
        name: Reply(tuple(plain(name, endpoints=endpoints, location=location, header=header)))
        for name in ("GetFlightInfo", "PollFlightInfo")
    }
    return MappingProxyType({"DoGet": Reply(stream), "DoExchange": Reply(stream), **of_lists, **of_infos})


@functools.cache
def scripted() -> Sequence[FlightSet]:
    """The rows of the array, and what should be seen by itself: every kind of message of each method at each place, and
    every end of a plain stream.
    """
    made: dict[str, FlightSet] = {}
    for one in map(_of, (*_usual(), *rows())):
        made.setdefault(one.id, one)
    return tuple(made.values())


def _of(row: Row) -> FlightSet:
    return _set(**{name: str(value) for name, value in row.items() if name != "endpoints"}, endpoints=row["endpoints"])


def unusual() -> Iterator[FlightSet]:
    """What is not simply served in DoGet: streams with one unusual message, and plain ones that end otherwise."""
    seen = {Situation.OPEN, Situation.BROKEN, Situation.INTERRUPTED, Situation.REFUSED}
    for row in _usual():
        one = _of(row)
        if row["method"] == "DoGet" and one.kind in seen:
            yield one


def _usual() -> Iterator[Row]:
    for method in FACTORS["method"]:
        for message in kinds_of(str(method)):
            for place in FACTORS["place"] if method in STREAMING and _is_placed(message) else ("first",):
                yield {**_USUAL, "method": method, "message": message, "place": place}
    for method, end, when in itertools.product(_ENDING, FACTORS["end"], FACTORS["when"]):
        if permitted((("end", end), ("when", when))):
            yield {**_USUAL, "method": method, "message": "plain", "end": end, "when": when}


def _set(  # the factors
    *, method: str, message: str, place: str, end: str, when: str, trailers: str, endpoints: Hashable, location: str
) -> FlightSet:
    count = int(str(endpoints))
    # An info has the schema of its data, which differs where a column has a dictionary.
    stream = STREAMS[message] if method in STREAMING else STREAMS["plain"]
    header = stream.start()[0].header if stream.start is not None else b""
    replies = dict(default_script(count, location, header))
    at = ("first", "middle", "last").index(place) * (BATCHES - 1) // 2
    messages, title, answers = _answers(method, message, at, count, location)
    tickets = {}
    if count > 1:
        schema, *batches = (piece.message for piece in made(STREAMS["plain"], 0))
        tickets = {ticket(one): Reply((schema, batches[one])) for one in range(count)}
    replies[method] = Reply(tuple(messages), _end(end, when, trailers, len(messages)))
    kind = _kind(_situation(method, message), LOCATIONS[location][0], end)
    if kind is Situation.HEALTHY and all(not one.num_rows for one in answers.values()):
        kind = Situation.EMPTY
    name = [_kebab(method), message, *([place] if _is_placed(message) else [])]
    name += [end.lower().replace("_", "-"), when] if end != "OK" else []
    name += [f"trailers-{trailers}"] if trailers != "none" else []
    name += [f"endpoints-{count}"] if count > 1 else []
    name += [f"location-{location}"] if location != "none" else []
    said = answer_that(method, title) if end == "OK" else answer_that(method, title, end, when)
    said += "" if location == "none" else f", and the locations {list(LOCATIONS[location][1])}"
    script = Script(replies, MappingProxyType(tickets))
    tries = stream.tries if kind is Situation.OPEN else 1
    return FlightSet(".".join(name), kind, said, script, (method,), answers, message=message, tries=tries)


def _answers(
    method: str, message: str, at: int, endpoints: int, location: str
) -> tuple[Sequence[bytes], str, dict[str, pa.Table]]:
    """The messages of a method, what they have, and the rows that they are, by what a path asks for."""
    asking = [asks for asks, called in METHODS.items() if method in called]
    if method in STREAMING:
        stream = STREAMS[message]
        pieces = made(stream, at)
        known = {asks: table() for asks in asking if not asks.endswith("metadata")}
        metadata = [piece.metadata for piece in pieces if piece.metadata]
        if stream.metadata_known:
            known |= {
                asks: pa.table({"app_metadata": pa.array(metadata, pa.binary())})
                for asks in asking
                if asks.endswith("metadata")
            }
        return [piece.message for piece in pieces], stream.title, known
    kind = (LISTS if method in LISTING else UNARY)[message]
    messages = kind.change(plain(method, message, endpoints=endpoints, location=location))
    return messages, kind.title, {asks: kind.rows(expected_of(asks)) for asks in asking}


def _kind(of_message: Situation, of_location: Situation, end: str) -> Situation:
    if end in _BREAKS:
        return Situation.INTERRUPTED
    if end != "OK":
        return Situation.REFUSED
    return of_message if of_location is Situation.HEALTHY else of_location


def _end(end: str, when: str, trailers: str, count: int) -> EndOfCall:
    if end == "OK":
        return dataclasses.replace(OK, trailers=_TRAILERS[trailers])
    after = {"before": 0, "between": count // 2, "behind": count}[when]
    if end in _BREAKS:
        return EndOfCall(end, after=after)
    details = "a fault of the script"
    sent = _TRAILERS[trailers]
    if trailers == "details":
        number = grpc.StatusCode[end].value[0]
        sent = (("grpc-status-details-bin", retry_status(number, details, retry=1.0)),)
    return EndOfCall("status", end, details, sent, after)


def _kebab(method: str) -> str:
    return "".join(f"-{one.lower()}" if one.isupper() else one for one in method).removeprefix("-")
