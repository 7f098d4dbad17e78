"""Numbered references in place of the values that differ from run to run, and canonical values in place of references.

A reference has a kind and a number, in the order in which the values occur: ``<stream:2>``. Equal values have equal
references, in every call of an exchange, so that a pack still shows that a read asked for the stream that the session
named. No reference stands for any value: it is resolved to one value everywhere before the exchange is judged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from conformance.contract import proto
from conformance.protocol import DEFAULT_PROTOCOL
from conformance.records import Call, Case, Exchange, to_json
from conformance.truth.plainmessages import RAW, PlainFormError, from_plain, to_plain
from conformance.truth.records import TruthCall, TruthExchange

__all__ = ["KINDS", "REFERENCE", "UnresolvedError", "kept", "normalised", "resolved", "undefined"]

KINDS: Final = ("project", "dataset", "table", "location", "session", "stream", "trace", "time", "id")
REFERENCE: Final = re.compile(rf"<({'|'.join(KINDS)}):([1-9]\d{{0,5}})>")

_COLLECTIONS: Final = {
    "projects": "project",
    "locations": "location",
    "sessions": "session",
    "streams": "stream",
}
_NAMES: Final = frozenset({"name", "parent", "table", "read_stream"})
"""The fields that hold resource names."""
_INSTANTS: Final = frozenset({"expire_time", "snapshot_time"})
_TRACE: Final = "trace_id"
_VOLATILE: Final = re.compile(
    r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"  # a UUID
    r"|\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d| UTC)?"  # an instant
    r"|(?<![\w.+-])\d{10,}(?![\w.])"  # the number of a project, or an instant since the epoch
)
"""What differs from run to run in the text of a status."""
NOW: Final = 1_600_000_020_000_000
"""The canonical beginning of an exchange, in microseconds since the Unix epoch: a whole minute."""
_MINUTE: Final = 60_000_000
_OFFSET: Final = re.compile(r"[+-](?:0|[1-9]\d*) min")


class UnresolvedError(ValueError):
    """An exchange cannot be given references, or references cannot be resolved; the text says where."""


def normalised(case: Case, exchange: Exchange) -> TruthExchange:
    """``exchange`` with references.

    Raises:
        UnresolvedError: a private value is left where no reference can stand, or the protocol is another.
    """
    return _Normaliser(case, exchange).made()


class _Normaliser:
    def __init__(self, case: Case, exchange: Exchange) -> None:
        if case.protocol != DEFAULT_PROTOCOL or not exchange.driven:
            raise UnresolvedError(f"{case.id}: expected calls of the suite's driver in the Storage Read API")
        self.case, self.exchange = case, exchange
        self.numbers: dict[tuple[str, object], str] = {}
        self.counts = dict.fromkeys(KINDS, 0)
        self.whole: dict[str, str] = {}
        self.parts: dict[str, str] = {}
        self.times: dict[str, str] = {}
        self.asked: set[str] = set()
        self.written: set[str] = set()

    def made(self) -> TruthExchange:
        one = self.exchange
        project, dataset, table = (self._part(kind, getattr(one, kind)) for kind in ("project", "dataset", "table"))
        return TruthExchange(
            self.case,
            tuple(self._call(index, call) for index, call in enumerate(one.calls)),
            project,
            dataset,
            table,
            one.skipped_steps,
            self.times,
        )

    def _reference(self, kind: str, value: object) -> str:
        if (kind, value) not in self.numbers:
            self.counts[kind] += 1
            self.numbers[kind, value] = f"<{kind}:{self.counts[kind]}>"
        return self.numbers[kind, value]

    def _part(self, kind: str, value: str) -> str:
        """A reference for a part of names, which is replaced in requests and texts from now on."""
        if not value or (kind == "project" and value in self.written):
            return value  # the case has written it, so it is the same in every run
        reference = self._reference(kind, value)
        if kind != "location":  # "us" is a word, and a part of names that the case has written
            self.parts.setdefault(value, reference)
        return reference

    def _call(self, index: int, call: Call) -> TruthCall:
        if call.more_requests or call.order:
            raise UnresolvedError(f"{self.case.id}: call {index} has several requests")
        place = f"call {index}, {call.method}"
        request = self._message(proto.REQUESTS.get(call.method), call.request, place, self._asked)
        responses = [
            self._message(proto.RESPONSES.get(call.method), data, f"{place}, response {number}", self._answered)
            for number, data in enumerate(call.responses)
        ]
        details = _VOLATILE.sub(lambda found: self._reference("id", found[0]), self._replaced(call.details))
        label = self._replaced(call.label)
        return TruthCall(call.step, label, call.method, request, tuple(responses), call.status, details, call.end)

    def _message(self, kind: Any, data: bytes, place: str, name: Callable[[str, str], str]) -> Any:
        plain = to_plain(None if kind is None else kind.DESCRIPTOR, data)
        if set(plain) != {RAW}:
            plain = self._walked(plain, name, "")
        left = from_plain(None if kind is None else kind.DESCRIPTOR, _without_instants(plain))
        for value, reference in self.parts.items():
            if len(value) >= _LONG and value.encode() in left:
                raise UnresolvedError(f"{place}: the value of {reference} is in a field that no reference can replace")
        return plain

    def _walked(self, value: Any, name: Callable[[str, str], str], owner: str) -> Any:
        if isinstance(value, list):
            return [self._walked(item, name, owner) for item in value]
        if not isinstance(value, dict):
            return value
        found = {}
        for key, item in value.items():
            if key in _INSTANTS and isinstance(item, dict):
                found[key] = self._instant(item)
            elif key in _NAMES and isinstance(item, str):
                found[key] = name(item, "stream" if "stream" in owner else "session")
            elif key == _TRACE and isinstance(item, str):
                found[key] = self._trace(item, asked=name == self._asked)
            else:
                found[key] = self._walked(item, name, key)
        return found

    def _asked(self, text: str, _kind: str) -> str:
        found = self.whole.get(text) or self._replaced(text)
        self.written |= set(found.split("/"))
        return found

    def _answered(self, text: str, kind: str) -> str:
        """A name that the server gave: its parts are defined here."""
        if text in self.whole or "/tables/" in text or not text:
            return self._asked(text, kind)
        words = text.split("/")
        collections = [_COLLECTIONS.get(word) for word in words[::2]]
        if len(words) % 2 == 0 and all(collections):
            pairs = zip(words[::2], collections, words[1::2], strict=True)
            name = "/".join(f"{word}/{self._part(str(part), id_)}" for word, part, id_ in pairs)
        else:
            name = self._part(kind, text)
        self.whole[text] = name
        return name

    def _trace(self, text: str, *, asked: bool) -> str:
        if asked:
            self.asked.add(text)
        return text if text in self.asked or not text else self._reference("trace", text)

    def _instant(self, value: dict[str, Any]) -> Any:
        seconds, nanos = value.get("seconds", 0), value.get("nanos", 0)
        if set(value) - {"seconds", "nanos"} or not 0 <= nanos < 10**9:
            return value
        reference = self._reference("time", (seconds, nanos))
        minutes = round((seconds * 10**6 + nanos // 1000 - self.exchange.now) / _MINUTE)
        self.times[reference] = f"{minutes:+d} min"
        return reference

    def _replaced(self, text: str) -> str:
        """``text`` with references for the names and parts that are known by now, where they are whole words."""
        for value, reference in sorted({**self.parts, **self.whole}.items(), key=lambda item: -len(item[0])):
            if value in text:
                text = re.sub(rf"(?<![\w-]){re.escape(value)}(?![\w-])", lambda _: reference, text)  # noqa: B023  # called at once
        return text


_LONG: Final = 6
"""Shorter values also occur by chance in the bytes of rows."""


def _without_instants(plain: Any) -> Any:
    """A message without its instants, which are references now and no messages."""
    if isinstance(plain, list):
        return [_without_instants(item) for item in plain]
    if not isinstance(plain, dict):
        return plain
    return {key: _without_instants(item) for key, item in plain.items() if key not in _INSTANTS}


# --- back to values -------------------------------------------------------------------------------


def resolved(one: TruthExchange) -> Exchange:
    """``one`` with the canonical value of every reference: of the proper form, and equal where references are.

    Raises:
        UnresolvedError: a reference has no instant, or a message is not one of the API.
    """
    calls = tuple(_resolved_call(one, index, call) for index, call in enumerate(one.calls))
    project, dataset, table = map(_value, (one.project, one.dataset, one.table))
    return Exchange(one.case.id, "truth", calls, project, dataset, table, skipped_steps=one.skipped_steps, now=NOW)


def _resolved_call(one: TruthExchange, index: int, call: TruthCall) -> Call:
    place = f"calls[{index}]"

    def message(kind: Any, plain: Any, where: str) -> bytes:
        try:
            return from_plain(None if kind is None else kind.DESCRIPTOR, _resolved(one, plain, where), where)
        except PlainFormError as error:
            raise UnresolvedError(str(error)) from None

    kind = proto.RESPONSES.get(call.method)
    responses = [message(kind, plain, f"{place}.responses[{number}]") for number, plain in enumerate(call.responses)]
    return Call(
        step=call.step,
        label=_value(call.label),
        method=call.method,
        request=message(proto.REQUESTS.get(call.method), call.request, f"{place}.request"),
        responses=tuple(responses),
        status=call.status,
        details=_value(call.details),
        end=call.end,
    )


def _resolved(one: TruthExchange, value: Any, place: str) -> Any:
    if isinstance(value, list):
        return [_resolved(one, item, f"{place}[{index}]") for index, item in enumerate(value)]
    if isinstance(value, dict):
        return {
            key: _moment(one, item, f"{place}.{key}")
            if key in _INSTANTS and isinstance(item, str)
            else _resolved(one, item, f"{place}.{key}")
            for key, item in value.items()
        }
    return _value(value) if isinstance(value, str) else value


def _moment(one: TruthExchange, reference: str, place: str) -> dict[str, int]:
    offset = one.times.get(reference, "")
    if not _OFFSET.fullmatch(offset):
        raise UnresolvedError(f"{place}: expected a reference whose minutes are in 'times', got {reference!r}")
    return {"seconds": NOW // 10**6 + int(offset.split()[0]) * 60}


def _value(text: str) -> str:
    return REFERENCE.sub(lambda found: f"{found[1]}{'_' if found[1] in ('dataset', 'table') else '-'}{found[2]}", text)


# --- comparing and checking -----------------------------------------------------------------------


def kept(one: TruthExchange) -> dict[str, Any]:
    """The JSON form of ``one`` with its references numbered in the order in which they occur: equal for every
    consistent renumbering.
    """
    numbers: dict[tuple[str, str], str] = {}
    counts = dict.fromkeys(KINDS, 0)

    def renumbered(found: re.Match[str]) -> str:
        if (found[1], found[2]) not in numbers:
            counts[found[1]] += 1
            numbers[found[1], found[2]] = f"<{found[1]}:{counts[found[1]]}>"
        return numbers[found[1], found[2]]

    def walked(value: Any) -> Any:
        if isinstance(value, str):
            return REFERENCE.sub(renumbered, value)
        if isinstance(value, list):
            return [walked(item) for item in value]
        if isinstance(value, dict):
            return {walked(key): walked(item) for key, item in value.items()}
        return value

    form = to_json(one)
    case = form.pop("case")  # a case is no text of the service
    first = {key: walked(form.pop(key)) for key in ("project", "dataset", "table") if key in form}
    times = form.pop("times", {})
    rest = walked(form)
    ordered = {walked(key): item for key, item in times.items()}
    return {"case": case, **first, **rest, "times": dict(sorted(ordered.items()))}


def undefined(one: TruthExchange) -> Iterator[str]:
    """A sentence for each reference that is used before the server gave its value, or that has no use."""
    known = {found[0] for text in (one.project, one.dataset, one.table) for found in REFERENCE.finditer(text)}
    used: set[str] = set()
    for index, call in enumerate(one.calls):
        asked = [*_strings(call.request), call.label]
        for reference in _in(asked):
            if reference not in known and not reference.startswith("<time:"):
                yield f"calls[{index}].request: {reference} is used before an answer has given its value"
            used.add(reference)
        answered = set(_in([text for response in call.responses for text in _strings(response)]))
        known |= answered
        used |= answered
        for reference in _in([call.details]):
            if reference not in known and not reference.startswith("<id:"):
                yield f"calls[{index}].details: {reference} is used before an answer has given its value"
            known.add(reference)
    instants = {reference for reference in used if reference.startswith("<time:")}
    for reference in sorted(instants ^ set(one.times)):
        yield f"times: expected exactly the references to instants that the calls have; see {reference}"
    yield from (
        f"times.{reference}: expected whole minutes such as '+360 min', got {offset!r}"
        for reference, offset in one.times.items()
        if not _OFFSET.fullmatch(offset)
    )


def _in(texts: list[str]) -> Iterator[str]:
    return (found[0] for text in texts for found in REFERENCE.finditer(text))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)
