"""Tables of other kinds over REST: views and partitioned tables, made by ``tables.insert`` of a case's table.

Of which kind a table is, is taken from ``tables.get``: a server may answer OK and make a plain table.
Source: https://cloud.google.com/bigquery/docs/reference/rest/v2/tables.
"""

from __future__ import annotations

import dataclasses

from conformance.records import BqType, Happening, Mode
from conformance.targets.names import Names
from conformance.targets.restway import RestTables
from conformance.targets.seeds import Row, SeededTable
from conformance.targets.sql import select_statement
from conformance.targets.targeterrors import CannotSeed

__all__ = ["make_kind"]


def make_kind(tables: RestTables, table: SeededTable, what: Happening, until: float) -> Names | None:
    """Make a table of a kind with the rows that ``table`` has; None if the server refuses it, or does not say then that
    it is of that kind.

    Once it is made, it is among the ``results`` of ``table``, which are removed with it.

    Raises:
        CannotSeed: the server does not answer, or refuses the rows.
    """
    names = dataclasses.replace(table.names, table=f"{table.names.table}_{what.replace('-', '_')}")
    kind = _kind(table, what)
    try:
        tables.create(names, table.columns, until, kind)
        table.results.append(names)
        answer = tables.get(tables.path(names), {}, until=until, shown=0)
    except CannotSeed as error:
        if not error.answered:
            raise
        return None
    if not _says(answer, kind):
        return None
    if rows := () if what is Happening.VIEW else table.rows[: table.inserted]:
        table.way.append(dataclasses.replace(table, names=names, results=[]), rows, until)
    return names


def _partition_column(table: SeededTable) -> str:
    """The name of the first column of type DATE."""
    return next(one.name for one in table.columns if one.type is BqType.DATE and one.mode is not Mode.REPEATED)


def _kind(table: SeededTable, what: Happening) -> Row:
    if what is Happening.VIEW:
        return {"view": {"query": select_statement(table.names), "useLegacySql": False}}
    if what is Happening.INGESTION_TIME:
        return {"timePartitioning": {"type": "DAY"}}
    return {"timePartitioning": {"type": "DAY", "field": _partition_column(table)}, "requirePartitionFilter": True}


def _says(answer: Row, kind: Row) -> bool:
    """Whether a table resource has what was asked for. The filter's requirement may be in ``timePartitioning``, where
    the API had it first; a view may have its query in another spelling.
    """
    if "view" in kind:
        return answer.get("type") == "VIEW"
    asked, has = kind["timePartitioning"], answer.get("timePartitioning")
    if not isinstance(has, dict) or has.get("type") != "DAY" or has.get("field") != asked.get("field"):
        return False
    required = answer.get("requirePartitionFilter") or has.get("requirePartitionFilter")
    return bool(required) == bool(kind.get("requirePartitionFilter"))
