"""The nouns of the suite: Case, Exchange, Finding, Reading, Verdict.

Each is a small immutable record with a JSON form and an Arrow row (see :mod:`conformance._codec`), so that a file in
``cases/``, a Parquet row of a campaign and an object in memory hold the same data. The constructors make every text
of a target, a client or a reader safe (:mod:`conformance.contain.text`): no record holds a text that could not be
printed, stored or put into XML. Foreign bytes are kept unchanged. This package defines the records; it knows nothing
of bytes, servers or reports.
"""

from conformance._codec import Json, RecordError, arrow_schema, from_json, from_row, to_json, to_row
from conformance.records.case import Case
from conformance.records.closed import (
    AskerKind,
    BqType,
    CallEnd,
    FaultKind,
    GivingUp,
    Happening,
    Level,
    Mode,
    NullPattern,
    Outcome,
    QueryStatement,
    ReadingOutcome,
    Turn,
    ValueProfile,
)
from conformance.records.exchange import FORMAT, SET_UP, Asker, Call, Exchange, MetadataEntry
from conformance.records.faultplan import FaultPlan, PlannedFault
from conformance.records.judged import CANNOT, Finding, Reading, Verdict
from conformance.records.plugin import RecordsPlugin, described, steps_of
from conformance.records.step import CallStep, Expect, RowsStep, Step
from conformance.records.steps import (
    AlteredColumn,
    AppendRows,
    ChangeColumns,
    CreateSession,
    Meanwhile,
    ReadResult,
    ReadRows,
    RunQuery,
    SplitStream,
    StorageReadStep,
)
from conformance.records.table import (
    ROW_ID,
    ArrowField,
    ArrowTable,
    Column,
    KeyValue,
    Recipe,
    Table,
    is_row_id,
    types_in,
)

__all__ = [
    "CANNOT",
    "FORMAT",
    "ROW_ID",
    "SET_UP",
    "AlteredColumn",
    "AppendRows",
    "ArrowField",
    "ArrowTable",
    "Asker",
    "AskerKind",
    "BqType",
    "Call",
    "CallEnd",
    "CallStep",
    "Case",
    "ChangeColumns",
    "Column",
    "CreateSession",
    "Exchange",
    "Expect",
    "FaultKind",
    "FaultPlan",
    "Finding",
    "GivingUp",
    "Happening",
    "Json",
    "KeyValue",
    "Level",
    "Meanwhile",
    "MetadataEntry",
    "Mode",
    "NullPattern",
    "Outcome",
    "PlannedFault",
    "QueryStatement",
    "ReadResult",
    "ReadRows",
    "Reading",
    "ReadingOutcome",
    "Recipe",
    "RecordError",
    "RecordsPlugin",
    "RowsStep",
    "RunQuery",
    "SplitStream",
    "Step",
    "StorageReadStep",
    "Table",
    "Turn",
    "ValueProfile",
    "Verdict",
    "arrow_schema",
    "described",
    "from_json",
    "from_row",
    "is_row_id",
    "steps_of",
    "to_json",
    "to_row",
    "types_in",
]
