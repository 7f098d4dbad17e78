"""Judge substituted types: if a column has another type than it should, a clause on types must fail and no clause may
raise.

Each substitution is judged twice: as the output of a serializer and as the answer of a server. Rows come in two
batches, so that clauses that join several batches do so here.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa

from conformance.contract import proto
from conformance.contract.clause import PROFILES, Clause
from conformance.contract.judge import Judge
from conformance.contract.viewing import view_of
from conformance.engine.fates import Fate
from conformance.formats.messages import ARROW
from conformance.generate import materialise
from conformance.protocols.storage_read.reference.substitution import Substitution, substitutions
from conformance.protocols.storage_read.targets.messages import create_request, read_request
from conformance.records import Call, Case, CreateSession, Exchange, Outcome, Verdict
from conformance.reference.message import batch_message, schema_message
from conformance.targets.names import Names

__all__ = ["type_fates"]

_ON_TYPES: Final = ("types.", "framing.schema-without-dictionary")
"""Prefixes of the clauses on types; a dictionary-encoded column is detected before its type is."""
_NAMES: Final = Names("project", "dataset", "table")
_SESSION: Final = "projects/project/locations/us/sessions/one"
_NOW: Final = 1_790_000_000_000_000
_SIX_HOURS: Final = 6 * 3_600_000_000


def type_fates(clauses: Iterable[Clause], take: tuple[int, int]) -> Iterator[Fate]:
    """The fate of every substituted type; ``take`` is (first, step) and selects which substitutions to try."""
    judging = Judge(one for one in clauses if PROFILES[0] in one.profiles)
    for made in itertools.islice(substitutions(), take[0], None, take[1]):
        yield from _fates(made, judging)


def _fates(made: Substitution, judging: Judge) -> Iterator[Fate]:
    table, batch = materialise(made.case.table), made.batch()
    schema = schema_message(batch.schema, [0]).encode()
    for name, exchange in (
        ("serialized", _serialized(made.case, schema, [batch])),
        ("served", _served(made.case, schema, [batch])),
    ):
        verdicts = judging(view_of(made.case, exchange, table)).others
        rejected = tuple(one.clause for one in verdicts if _rejects(one))
        errors = tuple(f"{one.clause}: {one.reason}" for one in verdicts if one.outcome is Outcome.ERROR)
        yield Fate(f"{made.path}, {name}", f"as {made.change}", rejected, errors=errors)


def _rejects(verdict: Verdict) -> bool:
    return verdict.outcome is Outcome.FAIL and verdict.clause.startswith(_ON_TYPES)


def _serialized(case: Case, schema: bytes, batches: list[pa.RecordBatch]) -> Exchange:
    calls = [Call(0, "schema", "SerializeSchema", b"", (schema,))]
    messages = (batch_message(batch).encode() for batch in batches)
    calls += [Call(1, f"batch/{place}", "SerializeBatch", b"", (data,)) for place, data in enumerate(messages)]
    return Exchange(case.id, "types", tuple(calls))


def _served(case: Case, schema: bytes, batches: list[pa.RecordBatch]) -> Exchange:
    """A session of one stream, read from its start, correct in everything but the types."""
    step = case.steps[0]
    assert isinstance(step, CreateSession), "the steps are the usual two"
    asked, _ = create_request(step, _NAMES, now=_NOW, before_append=_NOW)
    session = proto.ReadSession()
    session.CopyFrom(proto.CreateReadSessionRequest.FromString(asked).read_session)
    session.name = _SESSION
    session.expire_time.FromMicroseconds(_NOW + _SIX_HOURS)
    ARROW.put_schema(session, schema)
    stream = session.streams.add(name=f"{_SESSION}/streams/a").name
    responses = [_response(batch) for batch in batches]
    ARROW.put_schema(responses[0], schema)
    answers = tuple(response.SerializeToString() for response in responses)
    calls = (
        Call(0, step.label, "CreateReadSession", asked, (session.SerializeToString(),)),
        Call(1, step.label, "ReadRows", read_request(stream, 0)[0], answers),
    )
    return Exchange(case.id, "types", calls, _NAMES.project, _NAMES.dataset, _NAMES.table, now=_NOW)


def _response(batch: pa.RecordBatch) -> proto.ReadRowsResponse:
    response = proto.ReadRowsResponse(row_count=batch.num_rows)
    ARROW.put_rows(response, batch_message(batch).encode())
    return response
