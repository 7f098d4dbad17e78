"""The front page, and the page on which everything is found."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import conformance
from conformance.contain.text import many
from conformance.engine.selection import all_clauses
from publish.site.consequences import KINDS, Mapped, picture
from publish.site.files import CHANGES, LICENCE, file_path, write_files
from publish.site.frame import Site, clause_path
from publish.site.published import Published

__all__ = ["Found", "write_front", "write_search"]


@dataclasses.dataclass(frozen=True, slots=True)
class Door:
    """Who a visitor is, the command that is for them, and where it leads."""

    who: str
    command: str
    links: tuple[tuple[str, str], ...]


DOORS: Final[tuple[Door, ...]] = (
    Door(
        "You write a BigQuery emulator",
        "conformance run --target 'grpc://localhost:9060?rest=http://localhost:9050'",
        (
            ("Storage Read servers", "servers/index.html"),
            ("Storage Write servers", "storage-write/index.html"),
            ("guide", "docs/implementers.html"),
        ),
    ),
    Door(
        "You write an Arrow Flight server",
        "conformance run --target 'grpc+tcp://localhost:8815?seeding=put'",
        (("Flight servers", "flight/index.html"), ("guide", "docs/flight.html")),
    ),
    Door(
        "You write or choose an Arrow library",
        "conformance check file.arrow",
        (("libraries", "libraries/index.html"), ("guide", "docs/ipc.html")),
    ),
    Door(
        "You write a client",
        "conformance clients",
        (("clients before faulty servers", "clients/index.html"), ("guide", "docs/clients.html")),
    ),
    Door(
        "You upgrade pyarrow",
        "conformance drift --from 18.1.0 --to 26.0.1",
        (("drift of seven versions", "drift/index.html"), ("guide", "docs/drift.html")),
    ),
    Door(
        "You sell a server",
        "conformance statement",
        (("all clauses", "clauses/index.html"), ("guide", "docs/statement.html")),
    ),
)
"""The doors, by what a visitor does."""
INSTALL: Final = "python3 -m venv .venv && . .venv/bin/activate && pip install '.[run,readers]'"
"""The command of the README, in a checkout."""
FIRST: Final = "conformance run --select types.int64 --no-readers"
"""The first command of the README, which needs no server."""


def write_front(site: Site, published: Published, mapped: Sequence[Mapped]) -> None:
    """Write the front page; without the guides there are no links to them."""
    doors = DOORS
    if not site.docs:
        doors = tuple(
            dataclasses.replace(door, links=tuple(link for link in door.links if not link[1].startswith("docs/")))
            for door in DOORS
        )
    site.show(
        "index.html",
        "front",
        doors=doors,
        matrices=published.matrices,
        implementations=len(published.results),
        clauses=len(all_clauses()),
        pictures=[(one, picture(one)) for one in mapped],
        kinds=KINDS.values(),
        suite=conformance.__version__,
        runs=published.runs_of(),
        install=INSTALL,
        first=FIRST,
        changes=file_path(CHANGES),
        licence=file_path(LICENCE),
    )
    write_files(site, (CHANGES, LICENCE))


@dataclasses.dataclass(frozen=True, slots=True)
class Found:
    """One thing that the search finds."""

    kind: str
    name: str
    text: str
    place: str


def write_search(site: Site, published: Published, mapped: Sequence[Mapped], guides: Iterable[Found]) -> None:
    """Write the page of everything: implementations, clients, guides and clauses."""
    found = [*_found(published, mapped), *guides, *_clauses(site)]
    kinds = [(kind, many(count, kind)) for kind, count in Counter(one.kind for one in found).items()]
    site.show("search.html", "search", found=found, kinds=kinds)


def _found(published: Published, mapped: Sequence[Mapped]) -> Iterator[Found]:
    for product in published.products.values():
        roles = ", ".join(dict.fromkeys(result.board.title for result in product.results))
        yield Found("implementation", product.name, roles, product.page)
    for result in published.results:
        yield Found("report", result.item.report.run.target, result.board.title, result.page)
    for one in mapped:
        for client in one.clients:
            yield Found("client", f"{client.name} {client.version}", client.package, client.page)


def _clauses(site: Site) -> Iterator[Found]:
    for clause in (clause for clause in all_clauses().values() if clause.id in site.clauses):
        sentence = " ".join(clause.explanation.split("\n\n")[0].split())
        yield Found("clause", clause.id, sentence, clause_path(clause.id))
