"""The append-only log of a run: one JSON object per line, flushed per event, readable after any crash.

A crash of the suite or a full disk may cut the last line short; such a line is dropped. Anything else that is not an
event is refused with its line number. The last event holds the digest of all lines before it, so a line that was cut,
moved, repeated, removed or edited later is noticed. The digest is no signature: a person who edits a log can make it
again.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, cast

import conformance
from conformance._jsonschema import tagged_schema
from conformance.contain.parse import ForeignJsonError, parse_object
from conformance.contain.text import safe, safe_values
from conformance.disk.files import DiskError, reading
from conformance.disk.jsonlines import LineFile, line_of
from conformance.disk.pipes import kept
from conformance.engine.events import EVENTS, CaseJudged, Event, ExchangeRecorded, RunEnded, RunStarted
from conformance.generate.casefile import check_foreign
from conformance.records import FORMAT, Exchange, RecordError, from_json, to_json
from conformance.records.times import MOST_SECONDS, is_instant

__all__ = ["MOST_GENERATED", "TAG_KEY", "LogChangedError", "LogError", "LogWriter", "is_log", "log_schema", "read_log"]

TAG_KEY: Final = "event"
"""The JSON key that names the kind of an event."""

LONGEST: Final = 64 << 20
"""The longest line, in bytes, that is read; the longest of real runs are below 1 MiB."""

MOST_GENERATED: Final = 10**7
"""The most generated cases that a run may have: a report names those of other shards one by one. Campaigns handle
more.
"""

_BY_TAG: Final[dict[str, type]] = {kind.TAG: kind for kind in EVENTS}  # type: ignore[attr-defined]  # each has a TAG


_JUDGED: Final = re.compile(rb'{"event":"case-judged","case_id":"((?:[^"\\]|\\.)*)"')
"""The beginning of the line of a case that was judged."""


class LogError(ValueError):
    """A file is not the log of a run; the message names the line and says what to do."""


class LogChangedError(LogError):
    """The lines of a log are not those that the run wrote; the message says how that shows."""


def event_to_json(event: Event) -> dict[str, Any]:
    """The JSON form of ``event``: one line of a log."""
    return {TAG_KEY: event.TAG, **to_json(event)}


class LogWriter:
    """Writes events to ``path`` as they happen; an event that was written is never changed.

    Use it as a context manager. Entering takes the lock of ``path``, so that no other run writes there. The first
    event, not the entering, replaces the log of an earlier run; with ``keep``, that log gets the name :attr:`before`,
    unless the log there judged more cases: the log of a whole run takes minutes to make again. Leaving closes the file
    and releases the lock.

    Raises:
        InUseError: another run writes this log; the text names its process.
        DiskError: the file cannot be written.
        LogError: an event is longer than any that is read.
    """

    def __init__(self, path: Path, *, keep: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        self.path = path
        self.before: Path | None = None
        """The file with the log of the run before, or of an earlier one; None if there is none."""
        self.earlier = False
        """True if :attr:`before` is not the log of the run before, which judged fewer cases and is gone."""
        self._keep = keep
        self._clock = clock
        self.failure: DiskError | None = None
        """The reason why :meth:`copy` ended before its events did; None if it did not."""
        self._file = LineFile(path, advice="wait until it ends, or name another log with --log")
        self._written = 0
        self._digest = hashlib.sha256()

    def write(self, event: Event) -> None:
        """Append ``event`` and pass it to the operating system, so that a crash of the suite does not lose it."""
        if isinstance(event, RunEnded):
            event = dataclasses.replace(event, digest=self._digest.hexdigest())
        line = line_of(event_to_json(event))
        if len(line) > LONGEST:
            raise LogError(f"{self.path}: expected events of at most {LONGEST >> 20} MiB, got {len(line) >> 20} MiB")
        self._digest.update(line)
        if not self._written:
            self._begin()
        self._file.append(line)
        self._written += 1
        if isinstance(event, RunEnded):
            self._file.check()

    def _begin(self) -> None:
        """Make room for this log: the one of an earlier run is set aside or removed."""
        aside = self.path.with_name(f"{self.path.name}.before")
        if self._keep and self.path.is_file() and is_log(self.path) and _judged(aside) > _judged(self.path):
            self.before, self.earlier = aside, True
        elif self._keep and self._file.set_aside(aside):
            self.before = aside
        self._file.truncate(0)

    def copy(self, events: Iterable[Event]) -> Iterator[Event]:
        """Write each event to the log, then yield it; a judged case gets the time at which that was.

        If the disk becomes full, the current event is the last one, and :attr:`failure` says why. The cases judged by
        then can be reported as a run that was cut short.

        Raises:
            DiskError: not even the first event could be written.
        """
        began: float | None = None
        for one in events:
            began = self._clock() if began is None else began
            event = one
            if isinstance(one, CaseJudged) and not one.at:  # a shard has noted the time already
                event = dataclasses.replace(one, at=self._clock() - began)
            try:
                self.write(event)
            except DiskError as error:
                if not self._written:
                    raise
                self.failure = error
                yield event
                return
            yield event

    def __enter__(self) -> Self:
        self._file.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.__exit__(kind, error, trace)


def _judged(path: Path) -> int:
    """The number of cases that were judged in the log at ``path``; 0 if there is none."""
    if not path.is_file():
        return 0
    with reading(path), path.open("rb") as file:
        return len({found[1] for line in file if (found := _JUDGED.match(line))})


_START: Final = f'{{"{TAG_KEY}":'.encode()
"""The beginning of a log: a tagged event, without a space."""


def is_log(path: Path) -> bool:
    """True if the file at ``path`` begins as a log does: with a tagged event, without a space."""
    with reading(path), path.open("rb") as file:
        return file.read(len(_START)) == _START


def read_log(path: Path) -> Iterator[Event]:
    """The events of the log at ``path``.

    Raises:
        LogError: a line is not an event, the file does not begin with ``run-started``, or it contains no event.
        LogChangedError: the lines are not those that the run wrote.
        OSError: the file cannot be read.
    """
    suite = ended = ""
    digest = hashlib.sha256()
    with kept(path).open("rb") as file:
        for number in count(1):
            with reading(path):
                line = file.readline(LONGEST + 1)
            if len(line) > LONGEST:
                raise LogError(f"{path}, line {number}: expected an event of at most {LONGEST >> 20} MiB, got more")
            if not line.endswith(b"\n"):
                if number == 1 and not _START.startswith(line[: len(_START)]):
                    raise LogError(f"{path}: expected a log, whose first line is an event in JSON, got {line[:60]!r}")
                if number == 1:
                    raise LogError(f"{path} contains no event: the run was cut short before it began")
                return
            event = _read_line(line, f"{path}, line {number}", suite)
            if isinstance(event, RunStarted) != (number == 1):
                wanted, when = ("a log that begins with", "first") if number == 1 else ("only one", "again")
                raise LogError(f"{path}, line {number}: expected {wanted} 'run-started', got {event.TAG!r} {when}")
            if ended:
                raise LogChangedError(f"{path}, line {number}: expected no line after 'run-ended', got {event.TAG!r}")
            suite = event.suite if isinstance(event, RunStarted) else suite
            ended = event.digest if isinstance(event, RunEnded) else ""
            if ended and ended != digest.hexdigest():
                raise LogChangedError(
                    f"{path}, line {number}: the lines before it are not those that the run wrote: a line was cut,"
                    " moved, repeated, removed or edited"
                )
            digest.update(line)
            yield event


def _read_line(line: bytes, place: str, suite: str) -> Event:
    wanted = f"{place}: expected a JSON object whose {TAG_KEY!r} is one of {', '.join(_BY_TAG)}"
    try:
        data = parse_object(line)
    except ForeignJsonError as error:
        raise LogError(f"{wanted}: {error}") from None
    kind = _BY_TAG.get(str(data.pop(TAG_KEY, "")))
    suite = suite or safe(str(data.get("suite", "")), limit=40)
    if isinstance(form := data.get("format"), int) and form > FORMAT:
        raise LogError(f"{place}: expected a log of format {FORMAT} or an earlier one, got {form}{_version(suite)}")
    if kind is None:
        raise LogError(f"{wanted}, got {line[:60]!r}{_version(suite)}")
    try:
        # Rows, requests and answers stay unchanged; the code that shows them makes them safe.
        kept = data if kind is ExchangeRecorded else safe_values(data, blocks=("traceback",))
        event = cast(Event, from_json(kind, kept, path=place))
    except (RecordError, RecursionError) as error:
        said = str(error) or "too many levels"
        said = said if said.startswith(place) else f"{place}: {said}"  # a record that refuses its fields knows no line
        raise LogError(safe(f"{said}{_version(suite)}")) from None
    if isinstance(event, ExchangeRecorded):
        try:
            check_foreign(event.case)
        except ValueError as error:
            raise LogError(safe(f"{place}: {error}")) from None
        _check_instants(event.exchange, place)
    if isinstance(event, RunStarted):
        _check_drawn(event, place)
    if isinstance(event, CaseJudged) and any(verdict.case_id != event.case_id for verdict in event.verdicts):
        raise LogError(f"{place}: expected verdicts on {safe(event.case_id, limit=200)!r} alone")
    return event


def _check_instants(exchange: Exchange, place: str) -> None:
    """Refuse a time that no clock shows: clauses compute with it, and a client's calls are in order by its sum with
    theirs. The suite's own clock may show a time before 1970.
    """
    shown = abs(exchange.now) <= MOST_SECONDS * 1e6
    if not exchange.driven:
        shown = all(is_instant(exchange.now, call.started) for call in exchange.calls)
    if not shown:
        until = f"0 to {MOST_SECONDS * 1e6:g} microseconds, together with the start of each call"
        raise LogError(safe(f"{place}: exchange.now: expected {until}, got {exchange.now}", limit=300))


def _check_drawn(start: RunStarted, place: str) -> None:
    for drawn, words in ((start.generated, "generated cases"), (start.scenarios, "scenarios")):
        if not 0 <= drawn <= MOST_GENERATED:
            raise LogError(f"{place}: expected 0 to {MOST_GENERATED} {words}, got {drawn}")


def _version(suite: str) -> str:
    """The end of a sentence about a log that another version of the suite may have written."""
    if suite in ("", conformance.__version__):
        return "; was this log written by another version of the suite?"
    return f"; the log was written by version {suite} of the suite, and this is {conformance.__version__}"


def log_schema() -> dict[str, Any]:
    """The JSON Schema of one line of a log."""
    return tagged_schema(EVENTS, tag=TAG_KEY, title="One event in the log of a run of the Arrow conformance suite")
