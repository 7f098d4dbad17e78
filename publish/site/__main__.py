"""The command ``python -m publish.site``: make the site, and check it as a whole."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from conformance.report.driftpages import html as drift_html
from publish.generated import ROOT
from publish.site.boards import write_boards, write_products
from publish.site.checking import faults
from publish.site.clauses import clause_ids, write_clauses
from publish.site.consequences import write_clients
from publish.site.frame import Site
from publish.site.front import write_front, write_search
from publish.site.guides import write_guides
from publish.site.published import Published

__all__ = ["main", "make"]

OF_A_SITE: Final = ("index.html", "search.html", "clauses/index.html")
"""Files that every site has: a folder with other things in it is not removed."""


def make(into: Path, published: Published, *, docs: bool = True, clauses: frozenset[str] | None = None) -> None:
    """Write the site into the folder ``into``, which holds nothing else afterwards.

    Without ``docs`` it has no guides; ``clauses`` are those that get a page, all by default.

    Raises:
        FileExistsError: ``into`` has something that is no site; it is left as it is.
    """
    taken = into.exists() and (not into.is_dir() or any(into.iterdir()))
    if taken and not all((into / name).is_file() for name in OF_A_SITE):
        raise FileExistsError(f"expected an empty folder or a site, which is made anew, got {into}")
    into.parent.mkdir(parents=True, exist_ok=True)
    # Made next to it, so that what was there stays until all of the site is.
    with tempfile.TemporaryDirectory(dir=into.parent, prefix=f".{into.name}-") as folder:
        made = Path(folder) / "site"
        _write(Site(made, clause_ids() if clauses is None else clauses, docs=docs), published)
        if into.exists():
            shutil.rmtree(into)
        made.rename(into)


def _write(site: Site, published: Published) -> None:
    write_boards(site, published)
    write_products(site, published)
    write_clauses(site, published)
    mapped = write_clients(site, published)
    drift = published.loaded("drift.json")
    site.write("drift/drift.json", (published.reports / "drift.json").read_bytes())
    site.write(
        "drift/index.html",
        drift_html(drift, fill=site.fill("drift/index.html", [("this comparison as JSON", "drift/drift.json")])),
    )
    write_search(site, published, mapped, write_guides(site, published) if site.docs else ())
    write_front(site, published, mapped)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status: 1 if a link, an anchor or the size of a page is wrong,
    2 if the folder has something else in it.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, default=ROOT / "site", help="the folder, which is made anew")
    parser.add_argument("--no-docs", action="store_true", help="leave the guides out, which need mkdocs-material")
    options = parser.parse_args(arguments)
    began = time.monotonic()
    try:
        make(options.into, Published(), docs=not options.no_docs)
    except FileExistsError as error:
        print(error, file=sys.stderr)
        return 2
    pages = [*options.into.rglob("*.html")]
    wrong = [*faults(options.into)]
    for text in wrong:
        print(text, file=sys.stderr)
    print(f"{len(pages)} pages in {options.into} after {time.monotonic() - began:.0f} s, {len(wrong)} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
