"""Small truth packs for tests: recordings of the suite's own server, and edits of their files."""

from __future__ import annotations

import base64
import copy
import dataclasses
import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from conformance.engine.corpus import load_corpus
from conformance.engine.events import Event, ExchangeRecorded, RunEnded, RunStarted
from conformance.engine.log import LogWriter
from conformance.engine.provenance import Identity, Provenance
from conformance.generate import materialise
from conformance.records import Case, Exchange
from conformance.targets import Target, load_target, open_target
from conformance.truth.making import make_pack
from conformance.truth.pack import CONFIRMATIONS, RECORDINGS, VERDICTS, Pack, PackError, digest, read_pack
from conformance.truth.references import KINDS
from tests.engine.samples import started

FEW: Final = ("split.again-and-again", "errors.missing-table", "snapshot.time-before-append", "session.two-at-once")
"""Small cases with several streams, a refusal, an instant, and several sessions."""
SERVICE: Final = Identity("BigQuery", "", "server", ("bigquerystorage.googleapis.com:443",))


def cases(names: Sequence[str] = FEW) -> list[Case]:
    """Cases of the corpus by their ids."""
    corpus = load_corpus()
    return [corpus[name] for name in names]


def recorded(names: Sequence[str] = FEW, times: int = 2) -> list[list[ExchangeRecorded]]:
    """The exchanges of some cases with the suite's own server, several times."""
    with open_target(load_target("reference")) as target:
        return [[_driven(target, case) for case in cases(names)] for _ in range(times)]


def _driven(target: Target, case: Case) -> ExchangeRecorded:
    return ExchangeRecorded(case, target.drive(case, materialise(case.table)))


def log_of(
    path: Path,
    exchanges: Sequence[ExchangeRecorded],
    *,
    began: str = "2026-03-01T10:00:00Z",
    target: Identity = SERVICE,
) -> Path:
    """A log of a run with these exchanges, by default of the service."""
    origin = Provenance(began=began, commit="0" * 40, target=target)
    start: RunStarted = dataclasses.replace(started("calls.ok"), target=target.name, provenance=origin)
    events: list[Event] = [start, *exchanges, RunEnded(12.0)]
    with LogWriter(path) as log:
        for event in events:
            log.write(event)
    return path


def edited(one: ExchangeRecorded, change: Callable[[Exchange], Exchange]) -> ExchangeRecorded:
    """``one`` with another exchange."""
    return dataclasses.replace(one, exchange=change(one.exchange))


def pack_in(folder: Path, exchanges: Sequence[Sequence[ExchangeRecorded]]) -> Path:
    """A pack of recordings that began on consecutive days of March 2026."""
    logs = [
        log_of(folder / f"{day}.jsonl", run, began=f"2026-03-0{day}T10:00:00Z") for day, run in enumerate(exchanges, 1)
    ]
    make_pack(logs, costs=("USD 0.01",)).write(folder / "pack")
    return folder / "pack"


# --- edits ------------------------------------------------------------------------------------------

Files = dict[str, Any]
"""The files of a pack as JSON values, recordings as lists of lines."""

_REFERENCE: Final = re.compile(rf"<({'|'.join(KINDS)}):(\d+)>")


def load(folder: Path) -> Files:
    """The files of a pack."""
    files: Files = {file: json.loads((folder / file).read_text()) for file in (CONFIRMATIONS, VERDICTS)}
    for path in sorted((folder / RECORDINGS).glob("*.jsonl")):
        files[f"{RECORDINGS}/{path.name}"] = [json.loads(line) for line in path.read_text().splitlines()]
    return files


def save(files: Files, folder: Path) -> None:
    """Write the files of a pack, and no others."""
    (folder / RECORDINGS).mkdir(parents=True, exist_ok=True)
    for path in (folder / RECORDINGS).glob("*.jsonl"):
        path.unlink()
    for name, value in files.items():
        lines = value if name.startswith(RECORDINGS) else [value]
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines))


def forged(folder: Path) -> Pack:
    """The pack in ``folder`` with digests that fit, as a forger would leave it; raises PackError."""
    pack = read_pack(folder)
    confirmations = tuple(
        dataclasses.replace(one, sha256=digest(pack.recordings[one.recording]))
        if one.recording in pack.recordings
        else one
        for one in pack.confirmations.confirmations
    )
    return dataclasses.replace(pack, confirmations=dataclasses.replace(pack.confirmations, confirmations=confirmations))


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """A value inside a JSON value: what holds it, and its key or index."""

    holder: Any
    key: Any

    @property
    def value(self) -> Any:
        """The value."""
        return self.holder[self.key]


def places(value: Any) -> Iterator[Place]:
    """Every place inside a JSON value."""
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield Place(value, key)
        yield from places(value[key])


def edit(files: Files, draw: random.Random) -> tuple[str, Files]:
    """``files`` with one random inconsistent edit in one place, and what it was."""
    while True:
        changed = copy.deepcopy(files)
        name = draw.choice(sorted(EDITS))
        said = EDITS[name](changed, draw)
        if said and changed != files:
            return f"{name}: {said}", changed


def _among(
    files: Files, wanted: Callable[[Place], bool], draw: random.Random, *, recordings: bool = True
) -> Place | None:
    names = sorted(name for name in files if name.startswith(RECORDINGS) or not recordings)
    found = [place for place in places(files[draw.choice(names)]) if wanted(place)]
    return draw.choice(found) if found else None


def _renumber_one(files: Files, draw: random.Random) -> str:
    place = _among(files, lambda one: isinstance(one.value, str) and bool(_REFERENCE.search(one.value)), draw)
    if place is None:
        return ""
    match = draw.choice(list(_REFERENCE.finditer(place.value)))
    other = draw.choice([number for number in range(1, 6) if number != int(match[2])])
    before = place.value
    line = next(one for name in files if name.startswith(RECORDINGS) for one in files[name] if _holds(one, place))
    if json.dumps(line).count(match[0]) == 1 and f"<{match[1]}:{other}>" not in json.dumps(line):
        return ""  # the only place of a reference: this would be a consistent renumbering
    place.holder[place.key] = f"{before[: match.start(2)]}{other}{before[match.end(2) :]}"
    return f"{before} -> {place.value}"


def _holds(line: Any, place: Place) -> bool:
    return line is place.holder or any(one.holder is place.holder for one in places(line))


def _drop(files: Files, draw: random.Random) -> str:
    place = _among(files, lambda one: isinstance(one.holder, list) and bool(one.holder), draw, recordings=False)
    if place is None:
        return ""
    said = f"item {place.key} of {len(place.holder)}: {place.value!r:.60}"
    del place.holder[place.key]
    return said


def _repeat(files: Files, draw: random.Random) -> str:
    place = _among(files, lambda one: isinstance(one.holder, list) and bool(one.holder), draw, recordings=False)
    if place is None:
        return ""
    place.holder.insert(place.key, copy.deepcopy(place.value))
    return f"item {place.key} of {len(place.holder) - 1}: {place.value!r:.60}"


def _drop_key(files: Files, draw: random.Random) -> str:
    place = _among(files, lambda one: isinstance(one.holder, dict), draw, recordings=False)
    if place is None or place.key == "sha256":
        return ""
    said = f"{place.key}: {place.value!r:.60}"
    del place.holder[place.key]
    return said


def _status(files: Files, draw: random.Random) -> str:
    place = _among(files, lambda one: isinstance(one.value, dict) and "method" in one.value, draw)
    if place is None:
        return ""
    call, before = place.value, place.value.get("status", "OK")
    call["status"] = draw.choice(
        [code for code in ("OK", "NOT_FOUND", "INVALID_ARGUMENT", "INTERNAL") if code != before]
    )
    return f"{before} -> {call['status']}"


def _swap(files: Files, draw: random.Random) -> str:
    """Two values of one kind that differ, such as the streams of two reads, exchanged."""
    place = _among(files, lambda one: isinstance(one.value, str) and bool(_REFERENCE.search(one.value)), draw)
    if place is None:
        return ""
    other = _among(files, lambda one: one.key == place.key and isinstance(one.value, str), draw)
    if other is None or other.value == place.value:
        return ""
    said = f"{place.value} <-> {other.value}"
    place.holder[place.key], other.holder[other.key] = other.value, place.value
    return said


def _swap_lines(files: Files, draw: random.Random) -> str:
    place = _among(files, lambda one: isinstance(one.holder, list) and len(one.holder) > 1, draw, recordings=False)
    if place is None:
        return ""
    other = draw.randrange(len(place.holder))
    place.holder[place.key], place.holder[other] = place.holder[other], place.holder[place.key]
    return f"items {place.key} and {other}"


def _date(files: Files, draw: random.Random) -> str:
    dated = re.compile(r"\d{4}-\d\d-\d\d")
    place = _among(
        files, lambda one: isinstance(one.value, str) and bool(dated.match(one.value)), draw, recordings=False
    )
    if place is None:
        return ""
    before = place.value
    place.holder[place.key] = before.replace("2026", draw.choice(("2025", "2027"))).replace(
        "-03-", f"-0{draw.randint(3, 9)}-"
    )
    return f"{before} -> {place.value}"


def _byte(files: Files, draw: random.Random) -> str:
    place = _among(files, lambda one: isinstance(one.key, str) and one.key.startswith("serialized_"), draw)
    if place is None:
        return ""
    data = bytearray(base64.b64decode(place.value))
    if not data:
        return ""
    at = draw.randrange(len(data))
    data[at] ^= draw.randint(1, 255)
    place.holder[place.key] = base64.b64encode(data).decode()
    return f"{place.key}, byte {at} of {len(data)}"


def _confirmation(files: Files, draw: random.Random) -> str:
    del files[CONFIRMATIONS]["confirmations"][draw.randrange(len(files[CONFIRMATIONS]["confirmations"]))]
    return "one is gone"


def _recording(files: Files, draw: random.Random) -> str:
    name = draw.choice([name for name in files if name.startswith(RECORDINGS)])
    if draw.random() < 0.5:
        del files[name]
        return f"{name} is gone"
    other = draw.choice([one for one in files if one.startswith(RECORDINGS) and one != name])
    files[name] = copy.deepcopy(files[other])  # one recording twice
    return f"{name} is {other}"


def _leaf(files: Files, draw: random.Random) -> str:
    """Any value of any file, changed to another one of its type."""
    leaf = _among(files, lambda one: not isinstance(one.value, dict | list), draw, recordings=False)
    if leaf is None or leaf.key == "sha256":  # a forger makes the digests again
        return ""
    before = leaf.value
    if isinstance(before, bool):
        leaf.holder[leaf.key] = not before
    elif isinstance(before, int | float):
        leaf.holder[leaf.key] = before + draw.choice((-1, 1, 7))
    elif isinstance(before, str) and before:
        at = draw.randrange(len(before))
        leaf.holder[leaf.key] = before[:at] + draw.choice("aZ0-") + before[at + 1 :]
    elif isinstance(before, str):
        leaf.holder[leaf.key] = "x"
    return f"{leaf.key}: {before!r:.60} -> {leaf.value!r:.60}"


def _move(files: Files, draw: random.Random) -> str:
    """A whole case from one recording to the other, in place of its own."""
    names = draw.sample([name for name in files if name.startswith(RECORDINGS)], 2)
    index = draw.randrange(1, len(files[names[0]]))
    other = draw.choice([one for one in range(1, len(files[names[1]])) if one != index])
    files[names[0]][index] = copy.deepcopy(files[names[1]][other])
    return f"line {index} of {names[0]} is line {other} of {names[1]}"


EDITS: Final[dict[str, Callable[[Files, random.Random], str]]] = {
    "one reference": _renumber_one,
    "drop": _drop,
    "drop a key": _drop_key,
    "repeat": _repeat,
    "status": _status,
    "swap": _swap,
    "swap lines": _swap_lines,
    "date": _date,
    "byte": _byte,
    "confirmation": _confirmation,
    "recording": _recording,
    "leaf": _leaf,
    "move": _move,
}


def noticed(files: Files, folder: Path) -> str:
    """The first problem of an edited pack whose digests fit; empty if none is noticed."""
    from conformance.truth.checking import problems  # noqa: PLC0415  # only here

    save(files, folder)
    try:
        return next(problems(forged(folder)), "")
    except PackError as error:
        return str(error)


def renumbered(files: Files, draw: random.Random, *, recordings: Sequence[str] = ()) -> Files:
    """``files`` with other numbers for all references of some recordings (all), in the same way in every place of an
    exchange.
    """
    changed = copy.deepcopy(files)
    for name in recordings or [name for name in files if name.startswith(RECORDINGS)]:
        changed[name] = [changed[name][0], *(_renamed(line, draw) for line in changed[name][1:])]
    return changed


def _renamed(line: Any, draw: random.Random) -> Any:
    text = json.dumps(line)
    numbers: dict[str, str] = {}
    taken: set[str] = set()
    for match in _REFERENCE.finditer(text):
        if match[0] not in numbers:
            free = [name for number in range(1, 99) if (name := f"<{match[1]}:{number}>") not in taken]
            numbers[match[0]] = draw.choice(free)
            taken.add(numbers[match[0]])
    return json.loads(_REFERENCE.sub(lambda match: numbers[match[0]], text))
