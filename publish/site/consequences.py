"""The effects of faulty servers on clients: a heat map, a page with the paths of each client, and the picture of both
on the front page.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from typing import Any, Final

from conformance.clients.consequences import Consequence
from conformance.contain.text import many
from publish.site.frame import Site, clause_path
from publish.site.published import Published
from publish.tables.consequences import BEFORE, LEGAL, MARKS, classes_of

__all__ = ["Client", "Mapped", "picture", "write_clients"]


@dataclasses.dataclass(frozen=True, slots=True)
class Kind:
    """How a class is shown: a class of the style sheet that is its colour, a sign that needs none, and words."""

    key: str
    sign: str
    words: str
    means: str


_SHOWN: Final[Mapping[Consequence, tuple[str, str, str]]] = {
    Consequence.CRASH: ("crash", "✖", "crash"),
    Consequence.WRONG: ("bad", "≠", "wrong values"),
    Consequence.LOSS: ("bad", "−", "silent loss"),  # noqa: RUF001  # a minus sign
    Consequence.DUPLICATES: ("bad", "2", "rows twice"),
    Consequence.HANG: ("hang", "∞", "hang"),
    Consequence.MEMORY: ("hang", "M", "memory"),
    Consequence.REFUSED: ("error", "e", "error"),
    Consequence.UNHARMED: ("fine", "·", "fine"),
    Consequence.UNABLE: ("na", "", "not asked"),
}
KINDS: Final = {one: Kind(key, sign, words, MARKS[one][1]) for one, (key, sign, words) in _SHOWN.items()}
"""The classes, the gravest first."""
UNMEASURED: Final = Kind("na", "?", "not measured", "not measured: the fault is new or has changed since")
_GRAVITY: Final = [*KINDS]


@dataclasses.dataclass(frozen=True, slots=True)
class Client:
    """A client library with its paths."""

    name: str
    package: str
    version: str
    paths: tuple[tuple[str, str], ...]
    """Each path as the report names it, with its title."""

    @property
    def title(self) -> str:
        """Its name without the protocol."""
        return self.name.partition("-")[2]

    @property
    def page(self) -> str:
        """The page with its paths."""
        return f"clients/{self.name}.html"


@dataclasses.dataclass(frozen=True)
class Mapped:
    """One matrix of consequences; ``slug`` is the name of its page."""

    slug: str
    title: str
    report: Mapping[str, Any]

    @cached_property
    def clients(self) -> list[Client]:
        """The client libraries, each with all of its paths."""
        found: dict[str, list[Mapping[str, str]]] = {}
        for one in self.report["clients"]:
            found.setdefault(one["name"].partition(".")[0], []).append(one)
        return [
            Client(name, paths[0]["package"], paths[0]["version"], tuple((one["name"], one["title"]) for one in paths))
            for name, paths in found.items()
        ]

    @property
    def asked(self) -> str:
        """The faults and the legal variations that clients were put before, in words."""
        legal = sum(row["group"] == LEGAL for row in self.report["situations"])
        faults = f"{len(self.report['situations']) - legal} faults"
        return f"{faults} and {many(legal, 'legal variation')}" if legal else faults

    @cached_property
    def groups(self) -> list[tuple[str, list[Mapping[str, Any]]]]:
        """The faults by chapter: those of plans first, then the chapters by their names."""
        place = {name: at for at, name in enumerate(BEFORE)}
        rows = sorted(self.report["situations"], key=lambda row: (place.get(row["group"], len(place)), row["group"]))
        return [(name, list(members)) for name, members in groupby(rows, key=lambda row: str(row["group"]))]

    def worst(self, row: Mapping[str, Any], client: Client) -> Kind:
        """The worst effect of a fault on the paths of a client."""
        found = [one for path, _ in client.paths for one in _classes(row, path)]
        return KINDS[min(found, key=_GRAVITY.index)] if found else UNMEASURED

    def of(self, row: Mapping[str, Any], path: str) -> Kind:
        """The effect of a fault on one path; the worse of two rounds that differ."""
        found = _classes(row, path)
        return KINDS[min(found, key=_GRAVITY.index)] if found else UNMEASURED

    def shares(self, client: Client) -> list[tuple[Kind, int]]:
        """The faults by their worst effect on the client, the gravest first; without those not asked."""
        counts = Counter(self.worst(row, client) for _, rows in self.groups for row in rows)
        return [(kind, counts[kind]) for kind in KINDS.values() if counts[kind] and kind.key != "na"]

    def shares_of(self, path: str) -> list[tuple[Kind, int]]:
        """The same of one path."""
        counts = Counter(self.of(row, path) for _, rows in self.groups for row in rows)
        return [(kind, counts[kind]) for kind in KINDS.values() if counts[kind] and kind.key != "na"]

    def gravest_first(self) -> list[Client]:
        """The clients by the share of faults that harm them without an error."""

        def rank(client: Client) -> float:
            shares = self.shares(client)
            quiet = sum(count for kind, count in shares if kind.key in ("crash", "bad", "hang"))
            return -quiet / (sum(count for _, count in shares) or 1)

        return sorted(self.clients, key=rank)


def _classes(row: Mapping[str, Any], path: str) -> Sequence[Consequence]:
    cell = row["cells"].get(path)
    return () if cell is None else classes_of(cell)


def write_clients(site: Site, published: Published) -> list[Mapped]:
    """Write the heat map of each protocol and of query results, and the page of each client."""
    made = [
        Mapped("index", "Faulty servers and BigQuery clients", published.loaded("clients.json")),
        Mapped("queries", "Faulty servers and clients of query results", published.loaded("query-clients.json")),
        Mapped("flight", "Faulty servers and Flight clients", published.loaded("flight-clients.json")),
    ]
    between = [
        ("Storage Read clients", "clients/index.html"),
        ("query results", "clients/queries.html"),
        ("Flight clients", "clients/flight.html"),
    ]
    for mapped, data in zip(made, ("clients.json", "query-clients.json", "flight-clients.json"), strict=True):
        shared = {"mapped": mapped, "kinds": _legend(), "path": clause_path, "has": site.clauses}
        crumbs = [*between, ("these measurements as JSON", f"clients/{data}")]
        site.write(f"clients/{data}", (published.reports / data).read_bytes())
        site.show(f"clients/{mapped.slug}.html", "consequences", crumbs=crumbs, **shared)
        for client in mapped.clients:
            site.show(client.page, "client", crumbs=between, client=client, **shared)
    return made


def _legend() -> list[Kind]:
    return [*KINDS.values(), UNMEASURED]


WIDE, HIGH, GAP = 4, 16, 6
"""The size of a cell of the picture, and the space between chapters, in units of the picture."""
NAMED, APART = 0.0155, 0.05
"""The share of the width that the name of a chapter needs on a wide screen and on a narrow one."""


def picture(mapped: Mapped) -> dict[str, Any]:
    """The small form: a row for each client, a column for each fault; a path of rectangles for each colour."""
    clients, place, columns = mapped.gravest_first(), 0, list[tuple[int, Mapping[str, Any]]]()
    begins: list[tuple[str, int]] = []
    pitch = round(sum(len(rows) * WIDE + GAP for _, rows in mapped.groups) * NAMED)
    for name, rows in mapped.groups:
        begins.append((name, place))
        for row in rows:
            columns.append((place, row))
            place += WIDE
        place += max(GAP, pitch - len(rows) * WIDE)
    drawn: dict[str, list[str]] = {}
    for at, client in enumerate(clients):
        for key, begin, end in _runs(mapped, columns, client):
            drawn.setdefault(key, []).append(f"M{begin} {at * (HIGH + 2)}h{end - begin}v{HIGH}h-{end - begin}z")
    width = columns[-1][0] + WIDE
    return {
        "width": width,
        "names": list(_names(begins, width)),
        "longest": max(len(name) for name, _ in begins),
        "height": len(clients) * (HIGH + 2) - 2,
        "row": HIGH + 2,
        "clients": clients,
        "drawn": {key: "".join(parts) for key, parts in drawn.items()},
    }


def _names(begins: Sequence[tuple[str, int]], width: int) -> Iterator[tuple[str, float, bool]]:
    """The name of each chapter, its place in percent, and whether a narrow screen has no room for it."""
    shown = -width
    for name, place in begins:
        close = place - shown < width * APART
        yield name, round(100 * place / width, 2), close
        shown = shown if close else place


def _runs(
    mapped: Mapped, columns: Sequence[tuple[int, Mapping[str, Any]]], client: Client
) -> Iterator[tuple[str, int, int]]:
    """Cells of one colour next to each other, as one."""
    key, begin, end = "", 0, 0
    for place, row in columns:
        found = mapped.worst(row, client).key
        if found == key and place == end:
            end += WIDE
            continue
        if key:
            yield key, begin, end
        key, begin, end = found, place, place + WIDE
    if key:
        yield key, begin, end
