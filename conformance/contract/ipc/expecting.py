"""Computing an expectation: from bytes to the permitted results of readers, using only this package's own parsing.

If a message breaks several rules, the first one that requires a refusal decides: a reader stops there.
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
from conformance.contract.ipc.ipcview import IpcView
from conformance.contract.ipc.tiers import REFUSED, ROWS_CERTAIN, UNDECIDED
from conformance.records import Level
from conformance.wire import DecodingError, Fault, Header, Kind, PlainError, PlainTable, Rule, Severity, TypeKind, sniff
from conformance.wire.decoding import decode
from conformance.wire.plain import MAX_VALUES

__all__ = ["batches_of", "expect", "true_rows"]


def expect(data: bytes, kind: Kind | None = None, *, rows: PlainTable | None = None) -> Expectation:
    """Return the expectation for ``data``, a stream, file or tensor.

    ``rows`` are the true rows if the caller knows them from elsewhere; else they are decoded here, if possible.
    """
    view = IpcView(data, sniff(data) if kind is None else kind)
    violations = [fault for fault in view.found if fault.severity is Severity.VIOLATION]
    met = [fault for fault in violations if _is_met(view, fault)]
    refused = next((fault for fault in met if fault.rule in REFUSED and not _is_passed_over(view, fault)), None)
    if refused is not None:
        return Expectation(Validity.INVALID, None, Tier.STRUCTURE, (REFUSED[refused.rule],), _in_words(refused))
    if rows is None and all(fault.rule in ROWS_CERTAIN | UNDECIDED for fault in met):
        rows = true_rows(view)
    beyond = next((fault for fault in violations if fault.rule not in UNDECIDED), None)
    if beyond is not None:
        return Expectation(Validity.INVALID, rows, Tier.CONTENT, (), _in_words(beyond))
    undecided = next((fault for fault in view.found if fault.rule in UNDECIDED and not _is_harmless(fault)), None)
    if undecided is not None:
        return Expectation(Validity.PERMITTED, rows, Tier.OPTIONAL, (), _in_words(undecided))
    if _has_runs_of_v4(view):
        return Expectation(Validity.PERMITTED, None, Tier.OPTIONAL, (), "open: no text says what V4 gives to runs")
    asked = asked_of(features(view))
    if view.excess is not None:
        return Expectation(Validity.PERMITTED, rows, Tier.OPTIONAL, (), f"not judged: {view.excess.observed}")
    tier = Tier.CORE if all(LEVEL_OF[each] is Level.MUST for each in asked) else Tier.OPTIONAL
    return Expectation(Validity.VALID, rows, tier, tuple(each.clause for each in asked), f"legal: {', '.join(asked)}")


def batches_of(view: IpcView) -> list[pa.RecordBatch]:
    """Return the record batches of a stream, or of a file in the order of its footer; none for a tensor.

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
    # With strides of 0, a few bytes can declare any number of values.
    if values.dtype.kind not in "iuf" or values.size > MAX_VALUES:
        return None
    shape, names = list(reading.tensor.shape), [name or None for name in reading.tensor.names]
    return PlainTable(
        ("shape", "names", "values"), ([shape], [names], [wire.plain_values(pa.array(values.reshape(-1)))]), 1
    )


def _has_runs_of_v4(view: IpcView) -> bool:
    """True if V4 comes with runs, whose layout in V4 no text gives: a reader may refuse, or read other buffers."""
    schema = None if view.stream is None else view.stream.schema
    runs = schema is not None and any(field.type.kind is TypeKind.RUN_END_ENCODED for _, field in schema.walk())
    return runs and any(message.version == "V4" for message in view.messages)


_ILLEGIBLE: Final = frozenset({Header.UNKNOWN, Header.STRAY})
"""Headers of messages that another reader may have read as a batch: the rows before them may not be all."""


def true_rows(view: IpcView) -> PlainTable | None:
    """Return the rows of a stream, file or dense tensor as the suite decodes them; None if it cannot decode all.

    A tensor is one row: its shape, the names of its dimensions (None for an empty name), its values in row-major
    order.
    """
    if view.kind is Kind.TENSOR:
        return _of_tensor(view.data)
    reading = view.stream if view.file is None else view.file
    schema = None if reading is None else reading.schema
    if reading is None or schema is None or any(message.header in _ILLEGIBLE for message in view.messages):
        return None
    if view.excess is not None:  # there are messages behind those that the suite reads
        return None
    if not reading.batches:
        return PlainTable(tuple(field.name for field in schema.fields), tuple([] for _ in schema.fields), 0)
    try:
        return wire.plain_table(batches_of(view))
    except (DecodingError, PlainError):
        return None


def _is_met(view: IpcView, fault: Fault) -> bool:
    """True if every reader meets the fault: a reader that uses a file's footer never sees messages that it does not
    list.
    """
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
    # Bytes after a listed message, or a message that begins inside of one, are seen only by readers of the stream.
    return max((one.start for one in view.messages if one.start <= fault.start), default=None) in starts


def _is_passed_over(view: IpcView, fault: Fault) -> bool:
    """True if readers can ignore the fault: a surplus that they never read, or a wrong length of a dictionary.

    Nodes, buffers, counts of data buffers and children beyond those of the schema are malformed, but no text requires
    readers to look for them. Most readers take the length of a dictionary from its one column.
    """
    if fault.rule is Rule.BATCH_COLUMN_LENGTH:
        dictionaries = (message for message in view.messages if message.header is Header.DICTIONARY_BATCH)
        return any(message.start <= fault.start < message.end for message in dictionaries)
    counted = _COUNTED.fullmatch(fault.observed) if fault.rule in _COUNTS else None
    return counted is not None and int(counted["found"]) > int(counted["wanted"])


_COUNTS: Final = frozenset(
    {Rule.BATCH_NODE_COUNT, Rule.BATCH_BUFFER_COUNT, Rule.BATCH_VARIADIC_COUNT, Rule.SCHEMA_CHILD_COUNT}
)
_COUNTED: Final = re.compile(
    r"(?P<found>\d+) (?:(?:field nodes?|buffers?), where the schema needs |"
    r"child(?:ren)? of .*, where the type requires |counts? for )(?P<wanted>\d+)(?: view fields?: .*)?"
)
"""The wire's observation of a count: the number found, and the number required."""


def _is_harmless(fault: Fault) -> bool:
    """True if only the order of dictionaries without deltas is in question: it changes no row."""
    return fault.rule is Rule.BLOCK_ORDER and fault.path.startswith("Footer.dictionaries")


def _in_words(fault: Fault) -> str:
    return f"{fault.rule}: expected {fault.required}; found {fault.observed}"
