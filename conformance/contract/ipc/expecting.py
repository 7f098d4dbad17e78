"""Working an expectation out: bytes to what readers may make of them, by this package's own reading alone.

Where one message breaks several rules, the first breach that has to be refused decides: a reader stops there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

import pyarrow as pa

from conformance import wire
from conformance.contract.closed import Tier, Validity
from conformance.contract.ipc.expectation import Expectation
from conformance.contract.ipc.features import LEVEL_OF, asked_of, features
from conformance.contract.ipc.tiers import REFUSED, ROWS_STAND, UNDECIDED
from conformance.contract.ipc.view import IpcView
from conformance.records import Level
from conformance.wire import DecodingError, Fault, Header, Kind, PlainError, PlainTable, Rule, Severity, sniff
from conformance.wire.decoding import decode
from conformance.wire.plain import MAX_VALUES

__all__ = ["batches_of", "expect", "true_rows"]


def expect(data: bytes, kind: Kind | None = None, *, rows: PlainTable | None = None) -> Expectation:
    """What readers may make of ``data``, a stream, file or tensor.

    ``rows`` are the true rows where the caller knows them from elsewhere; else they are decoded here, if they can be.
    """
    view = IpcView(data, sniff(data) if kind is None else kind)
    violations = [fault for fault in view.found if fault.severity is Severity.VIOLATION]
    met = [fault for fault in violations if _is_met(view, fault)]
    refused = next((fault for fault in met if fault.rule in REFUSED and not _is_passed_over(view, fault)), None)
    if refused is not None:
        return Expectation(Validity.INVALID, None, Tier.STRUCTURE, (REFUSED[refused.rule],), _said(refused))
    if rows is None and all(fault.rule in ROWS_STAND | UNDECIDED for fault in met):
        rows = true_rows(view)
    beyond = next((fault for fault in violations if fault.rule not in UNDECIDED), None)
    if beyond is not None:
        return Expectation(Validity.INVALID, rows, Tier.CONTENT, (), _said(beyond))
    undecided = next((fault for fault in view.found if fault.rule in UNDECIDED and not _is_harmless(fault)), None)
    if undecided is not None:
        return Expectation(Validity.PERMITTED, rows, Tier.OPTIONAL, (), _said(undecided))
    asked = asked_of(features(view))
    tier = Tier.CORE if all(LEVEL_OF[each] is Level.MUST for each in asked) else Tier.OPTIONAL
    return Expectation(Validity.VALID, rows, tier, tuple(each.clause for each in asked), f"legal: {', '.join(asked)}")


def batches_of(view: IpcView) -> list[pa.RecordBatch]:
    """The record batches of a stream, or of a file in the order of its footer; none of a tensor.

    Raises:
        DecodingError: faults leave no safe way to decode them, or the installed pyarrow lacks a type.
    """
    if view.file is not None:
        # In a file, every dictionary batch applies to every record batch, in the order of the footer.
        defined = [len(view.file.dictionaries)] * len(view.file.batches)
        return list(decode(view.file.dictionaries, view.file.batches, defined))
    return [] if view.stream is None else view.stream.to_batches()


def _of_tensor(data: bytes) -> PlainTable | None:
    reading = wire.read_tensor(data)
    if not isinstance(reading.tensor, wire.Tensor):
        return None
    try:
        values = reading.to_numpy()
    except DecodingError:
        return None
    # With strides of 0, a few bytes are as many values as a shape can say.
    if values.dtype.kind not in "iuf" or values.size > MAX_VALUES:
        return None
    shape, names = list(reading.tensor.shape), [name or None for name in reading.tensor.names]
    return PlainTable(
        ("shape", "names", "values"), ([shape], [names], [wire.plain_values(pa.array(values.reshape(-1)))]), 1
    )


_ILLEGIBLE: Final = frozenset({Header.UNKNOWN, Header.STRAY})
"""What may have been a batch to another reader: the rows before it are not all there are."""


def true_rows(view: IpcView) -> PlainTable | None:
    """The rows of a stream, file or dense tensor by this package's own decoding; None where it cannot decode them all.

    A tensor is one row: its shape, the names of its dimensions (none for an empty one), its values in row-major order.
    """
    if view.kind is Kind.TENSOR:
        return _of_tensor(view.data)
    reading = view.stream if view.file is None else view.file
    schema = None if reading is None else reading.schema
    if reading is None or schema is None or any(message.header in _ILLEGIBLE for message in view.messages):
        return None
    if not reading.batches:
        return PlainTable(tuple(field.name for field in schema.fields), tuple([] for _ in schema.fields), 0)
    try:
        return wire.plain_table(batches_of(view))
    except (DecodingError, PlainError):
        return None


def _is_met(view: IpcView, fault: Fault) -> bool:
    """Whether every reader meets the fault: who goes by a file's footer never sees what it does not lead to."""
    if view.file is None or view.file.footer is None:
        return True
    group = fault.rule.partition(".")[0]
    if group in ("file", "footer", "block", "dictionary") or fault.start >= view.file.footer.start:
        return True
    listed: Iterable[wire.Message | None] = (
        *(made.batch.message for made in view.file.dictionaries),
        *(batch.message for batch in view.file.batches),
    )
    starts = {message.start for message in listed if message is not None}
    # What follows a listed message, or begins inside of it, belongs to the stream alone.
    return max((one.start for one in view.messages if one.start <= fault.start), default=-1) in starts


def _is_passed_over(view: IpcView, fault: Fault) -> bool:
    """Whether a reader finds its way all the same: more is there than it asks for, or a dictionary's rows are counted.

    Nodes, buffers and children beyond those of the schema are malformed, and no text tells readers to look for them.
    The length of a dictionary is that of its one column, as most readers take it.
    """
    if fault.rule is Rule.BATCH_COLUMN_LENGTH:
        dictionaries = (message for message in view.messages if message.header is Header.DICTIONARY_BATCH)
        return any(message.start <= fault.start < message.end for message in dictionaries)
    counted = _COUNTED.fullmatch(fault.observed) if fault.rule in _COUNTS else None
    return counted is not None and int(counted["found"]) > int(counted["wanted"])


_COUNTS: Final = frozenset({Rule.BATCH_NODE_COUNT, Rule.BATCH_BUFFER_COUNT, Rule.SCHEMA_CHILD_COUNT})
_COUNTED: Final = re.compile(r"(?P<found>\d+) (?:nodes, |buffers, |children of .*, not )(?P<wanted>\d+)(?: needed)?")
"""What the wire observes of a count: how many there are, and how many belong there."""


def _is_harmless(fault: Fault) -> bool:
    """Whether only the order of dictionaries that nothing is appended to is in question: it changes no row."""
    return fault.rule is Rule.BLOCK_ORDER and fault.path.startswith("Footer.dictionaries")


def _said(fault: Fault) -> str:
    return f"{fault.rule}: expected {fault.required}; found {fault.observed}"
