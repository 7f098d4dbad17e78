"""The boards, the page and the JSON file of each report, and the page of each product."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from conformance.report.html import html as report_html
from conformance.report.matrixtable import Matrix
from conformance.report.series import Series, series_of
from conformance.report.site import html as matrix_html
from publish.site.frame import LIBRARIES, Site, clause_path
from publish.site.published import Board, Product, Published, Result

__all__ = ["write_boards", "write_products"]

_ASKED: Final = {"readers": "read --reader", "writers": "write --writer"}
"""The command and the option that name an implementation of a board; all others are targets."""


def write_boards(site: Site, published: Published) -> None:
    """Write every board with its reports, and the page about libraries."""
    for board, matrix in published.matrices.items():
        _write_board(site, board, matrix, published)
    boards = [(board, matrix) for board, matrix in published.matrices.items() if board.slug in LIBRARIES]
    site.show("libraries/index.html", "libraries", boards=boards, runs=published.runs_of(*LIBRARIES))


def _write_board(site: Site, board: Board, matrix: Matrix, published: Published) -> None:
    here = f"{board.slug}/index.html"
    data = {item.slug: path for item, path in zip(matrix.implementations, board.files(published.reports), strict=True)}
    results = {item.slug: Result(board, item) for item in matrix.implementations}
    links = {
        slug: [
            ("report", f"{slug}.html"),
            ("JSON", f"{slug}.json"),
            ("versions and start", f"../{published.products[result.product].page}"),
        ]
        for slug, result in results.items()
    }
    crumbs = [("all libraries", "libraries/index.html")] if board.slug in LIBRARIES else []
    site.write(
        here,
        matrix_html(
            matrix,
            links,
            texts=lambda clause: f"../{clause_path(clause)}" if clause in site.clauses else "../clauses/index.html",
            fill=site.fill(here, [*crumbs, ("all clauses", "clauses/index.html")]),
            title=board.title,
        ),
    )
    for slug, result in results.items():
        site.write(f"{board.slug}/{slug}.json", data[slug].read_bytes())
        related = [
            (board.title, here),
            ("versions, and how to start it", published.products[result.product].page),
            ("this report as JSON", f"{board.slug}/{slug}.json"),
        ]
        site.write(result.page, report_html(result.item.report, fill=site.fill(result.page, related)))


def write_products(site: Site, published: Published) -> None:
    """Write a page for each product."""
    for product in published.products.values():
        boards = dict.fromkeys((result.board.title, f"{result.board.slug}/index.html") for result in product.results)
        site.show(
            product.page,
            "product",
            crumbs=list(boards),
            product=product,
            homepage=next(iter([*_homepages(published, product)][::-1]), ""),
            starts=list(_starts(published, product)),
            series=dict(_series(product)),
        )


def _homepages(published: Published, product: Product) -> Iterator[str]:
    for result in product.results:
        address = str(published.target(result)[1].get("homepage", ""))
        if address.startswith("https://"):
            yield address


def _starts(published: Published, product: Product) -> Iterator[Mapping[str, Any]]:
    """For each report the command that judges it, and the target file with what is installed and started."""
    for result in product.results:
        run = result.item.report.run
        text, _ = published.target(result)
        yield {
            "result": result,
            "command": f"conformance {_ASKED.get(result.board.slug, 'run --target')} {run.target_file}",
            "start": " ".join(run.provenance.target.command),
            "file": Path(run.target_file).name if text else "",
            "text": text,
        }


def _series(product: Product) -> Iterator[tuple[Board, Series]]:
    """What changed between the versions of the product on a board that has several."""
    by_board: dict[Board, list[Result]] = {}
    for result in product.results:
        by_board.setdefault(result.board, []).append(result)
    for board, results in by_board.items():
        if len({result.item.title[1] for result in results}) > 1:
            yield board, series_of([result.item.report for result in results])
