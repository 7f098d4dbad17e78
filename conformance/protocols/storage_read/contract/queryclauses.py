"""What registers the clauses on query results: they are for servers that declare to answer queries in Arrow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from conformance.contract.clause import Violation, clause
from conformance.contract.sources import Sources
from conformance.protocols.storage_read.contract.queryview import QueriesView

__all__ = ["registering"]

Check: TypeAlias = Callable[[Any], Iterable[Violation]]


def registering(source: Sources) -> Callable[..., Callable[[Check], Check]]:
    """Return what registers a clause with this source, on servers that declare to answer queries in Arrow."""

    def register(
        clause_id: str, *, over: Callable[[QueriesView], Sequence[Any]], **more: Any
    ) -> Callable[[Check], Check]:
        def of_queries(view: QueriesView) -> Sequence[Any]:
            return over(view) if isinstance(view, QueriesView) and view.judges_results else ()

        return clause(clause_id, over=of_queries, **{"source": source, **more})

    return register
