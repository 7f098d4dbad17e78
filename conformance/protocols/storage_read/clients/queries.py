"""Mutants of query results as situations: a server with one defect, and a query whose result a client reads from it.

Which mutants are put before clients is a rule, and no list. A mutant whose first clause is one on query results takes
part if a client sees it: what it answers to a query without options, and to the reads of the stream of the query's job,
differs from what the reference answers. The queries are those of the cases that were made for the clauses that the
mutant kills, then that of :data:`PLAIN`, and the first that shows a difference is the situation. So a defect that shows
only if a query names a codec or the size of a page takes no part: which options a client sets is its own affair.
Several mutants of one clause all take part, because a client that repairs one may lose rows by another.

A legal variation takes part by the same rule, with the plain query first and then every other: a client that loses rows
there has a fault of its own.

The client asks the server itself and no recording: it may ask for jobs and pages that no case asks for, and a recording
would answer these with an error that is not the server's.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any, Final

import pyarrow as pa

from conformance._globs import matches
from conformance.contain.parse import ForeignJsonError, parse_object
from conformance.contract.clientjudging import Situation
from conformance.generate import materialise
from conformance.protocols.storage_read.contract.queryview import CAPABILITY, QueriesView
from conformance.protocols.storage_read.reference.catalogue import Catalogue
from conformance.protocols.storage_read.reference.hosted import storage_target
from conformance.protocols.storage_read.reference.server import ReferenceServer, service_of
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.protocols.storage_read.targets.queries import WITH_PARAMETER, query_body
from conformance.readers.plugin import held_tables
from conformance.readers.queryread import QUERY
from conformance.records import Call, Case, Exchange, QueryStatement, ReadResult, RunQuery
from conformance.reference.freedom import ServiceVariation
from conformance.reference.register import Mutant
from conformance.targets.names import Names

__all__ = [
    "CHAPTER",
    "PLAIN",
    "QueryDeviation",
    "QuerySet",
    "Serving",
    "healthy",
    "query_mutated",
    "query_varied",
    "serving",
]

CHAPTER: Final = "query-results"
PLAIN: Final = "query-results.plain"
"""The case that shows what any result shows."""
_READS: Final = tuple(ReadResult(offset=place) for place in ("page", "0", "inside", "last", "end"))


@dataclasses.dataclass(frozen=True, slots=True)
class QuerySet:
    """One situation: the deviation that answers (empty for the reference), the case of the query, and its rows.

    ``title`` continues the sentence *…, where*. ``ordered`` says that the query names an order. ``digest`` is of what
    the server answers.
    """

    id: str
    kind: Situation
    title: str
    deviation: str
    case: Case
    expected: pa.Table
    ordered: bool
    digest: str


@dataclasses.dataclass(frozen=True, slots=True)
class QueryDeviation:
    """The situation of a mutant or of a legal variation: ``clause`` is the first that the mutant kills, and empty for a
    variation; ``text`` says what it does otherwise than the reference.
    """

    name: str
    clause: str
    text: str
    asked: QuerySet


@dataclasses.dataclass(frozen=True, slots=True)
class Serving:
    """A server that has the table of a situation, and the query that a client is to ask."""

    server: ReferenceServer
    project: str
    query: str


def query_mutated(mutants: Iterable[Mutant], cases: Mapping[str, Case]) -> Iterator[QueryDeviation]:
    """The situation of each mutant of query results that a client sees."""
    probes = _Probes(cases)
    for mutant in mutants:
        clause = mutant.kills[0]
        if clause.partition(".")[0] != CHAPTER or mutant.process or mutant.service is None:
            continue
        named = [one for one in probes if any(matches(each, one.clauses) for each in mutant.kills)]
        if (asked := probes.seen(mutant.name, [*named, probes[PLAIN]])) is not None:
            title = f"the server has a defect, and answers the query of the case {asked.case.id}: {mutant.fault}"
            made = dataclasses.replace(asked, id=f"mutant.{mutant.name}", title=title)
            yield QueryDeviation(mutant.name, clause, mutant.fault, made)


def query_varied(
    variations: Mapping[str, ServiceVariation[ReadService]], cases: Mapping[str, Case]
) -> Iterator[QueryDeviation]:
    """The situation of each legal variation of query results that a client sees: whatever it loses is its own fault."""
    probes = _Probes(cases)
    for name, variation in variations.items():
        if name.partition(".")[0] != CHAPTER:
            continue
        if (asked := probes.seen(name, [probes[PLAIN], *probes])) is not None:
            text = variation.what
            title = f"the server is right, and answers the query of the case {asked.case.id} otherwise: {text}"
            yield QueryDeviation(name, "", text, dataclasses.replace(asked, id=f"legal.{name}", title=title))


class _Probes:
    """The cases with a query that every client can ask, and what the reference answers to each."""

    def __init__(self, cases: Mapping[str, Case]) -> None:
        probes = (one for case in cases.values() if (one := _probe(case)) is not None)
        self._known = {one.id: one for one in probes}
        self._reference = functools.cache(lambda name: _healthy(self._known[name]))

    def __iter__(self) -> Iterator[Case]:
        return iter(self._known.values())

    def __getitem__(self, name: str) -> Case:
        return self._known[name]

    def seen(self, name: str, cases: Iterable[Case]) -> QuerySet | None:
        """The first of the cases in which a deviation shows, as its situation; None if a client sees it in none."""
        for case in cases:
            exchange, _ = _driven(name, case)
            asked = self._reference(case.id)
            if (digest := _digest(exchange)) != asked.digest:
                return dataclasses.replace(asked, kind=Situation.MUTATED, deviation=name, digest=digest)
        return None


def healthy(cases: Mapping[str, Case], name: str = PLAIN) -> QuerySet:
    """The query of a case, which the reference answers."""
    case = _probe(cases[name])
    assert case is not None, "it has a query"
    return _healthy(case)


@contextmanager
def serving(asked: QuerySet) -> Iterator[Serving]:
    """The server of a situation, with its table; no client has asked it before."""
    _, service = _driven(asked.deviation, dataclasses.replace(asked.case, steps=()))
    (table,) = service.catalogue.kept().tables
    names = Names(table.project, table.dataset, table.table)
    body = json.loads(query_body(_query(asked.case), names))
    with ReferenceServer(service=service) as server:
        yield Serving(server, names.project, body["query"])


def _probe(case: Case) -> Case | None:
    """The case with its query as every client can ask it, and reads of its stream; None if it has no query."""
    step = next((one for one in case.steps if isinstance(one, RunQuery)), None)
    if step is None or case.isolated or step.statement in (*WITH_PARAMETER, QueryStatement.UNQUALIFIED):
        return None  # a client gets the text of the query alone
    # A job is optional, because Google's client leaves it to the server.
    query = RunQuery(statement=step.statement, optional_job=True)
    return dataclasses.replace(case, steps=(query, *_READS), needs=(CAPABILITY,))


def _query(case: Case) -> RunQuery:
    """The query of a probe."""
    return next(step for step in case.steps if isinstance(step, RunQuery))


def _healthy(case: Case) -> QuerySet:
    exchange, _ = _driven("", case)
    query = _query(case)
    held = held_tables(QueriesView(case, exchange, materialise(case.table)))
    return QuerySet(
        id=case.id,
        kind=Situation.HEALTHY,
        title=f"the server answers the query of the case {case.id} correctly",
        deviation="",
        case=case,
        # A statement without a result has no columns.
        expected=held.get(query.label, pa.table({})),
        ordered=query.statement is QueryStatement.ORDERED,
        digest=_digest(exchange),
    )


def _driven(deviation: str, case: Case) -> tuple[Exchange, ReadService]:
    """What a mutant or a variation answers to a case, and its service, which has the table of the case then."""
    made: list[ReadService] = []

    def make(catalogue: Catalogue) -> ReadService:
        made.append(service_of(deviation or None, catalogue))
        return made[-1]

    with closing(storage_target(make=make)) as target:
        exchange = target.drive(case, materialise(case.table))
    return exchange, made[-1]


def _digest(exchange: Exchange) -> str:
    """A digest of what is answered, without the names of jobs and pages."""
    made = hashlib.sha256()
    for call in exchange.calls:
        answers = call.responses if call.method != QUERY else map(_nameless, call.responses)
        for part in (call.method.encode(), call.status.encode(), _details(call), b"%d" % len(call.responses), *answers):
            made.update(len(part).to_bytes(8, "little") + part)
    return made.hexdigest()[:16]


def _details(call: Call) -> bytes:
    """The text of an error of a query, which has no name in it; that of a stream names the job."""
    return call.details.encode() if call.method == QUERY else b""


def _nameless(body: bytes) -> bytes:
    """An answer of jobs.query without the names of its job and of the next page; other bytes stay as they are."""
    try:
        answer: dict[str, Any] = parse_object(body)
    except ForeignJsonError:
        return body
    reference = answer.get("jobReference")
    if isinstance(reference, dict):
        answer["jobReference"] = reference | {"jobId": ""}
    if "pageToken" in answer:
        answer["pageToken"] = ""
    return json.dumps(answer, sort_keys=True).encode()
