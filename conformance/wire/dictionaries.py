"""Judging of dictionary batches against the schema, and of indices against their dictionaries.

This module decides which dictionaries a stream has defined at each of its messages; it does not read framing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from conformance.contain.text import many
from conformance.wire.batch import BatchMessage, judge_data
from conformance.wire.compression import DecompressionBudget
from conformance.wire.faults import Fault, Rule, report
from conformance.wire.layout import Op
from conformance.wire.liveness import live
from conformance.wire.messages import Frame
from conformance.wire.types import Field, Schema

__all__ = ["Dictionaries", "DictionaryMessage"]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class DictionaryMessage:
    """A dictionary batch: the id of its dictionary, whether it is a delta, and its values as a one-column batch."""

    id: int
    delta: bool
    batch: BatchMessage


class Dictionaries:
    """The dictionaries that the messages of one stream have defined so far."""

    def __init__(self, schema: Schema, frame: Frame, faults: list[Fault]) -> None:
        self._sizes: dict[int, int] = {}
        self._schemas: dict[int, Schema] = {}
        self._pending: list[BatchMessage] = []
        fields: dict[int, Field] = {}
        for path, field in schema.walk():
            if field.dictionary is None:
                continue
            first = fields.setdefault(field.dictionary.id, field)
            if _shape(first) != _shape(field):
                place = frame.message.metadata_start, frame.message.metadata_end
                observed = f"{field}, which shares the dictionary with {first}"
                report(faults, Rule.DICTIONARY_TYPES_DIFFER, place, path, observed)
        for number, field in fields.items():
            # Only the indices decide which slots of the field are null; the values of a dictionary may always be null
            # (https://arrow.apache.org/docs/format/Columnar.html#dictionary-encoded-layout).
            values = dataclasses.replace(field, dictionary=None, nullable=True)
            self._schemas[number] = dataclasses.replace(schema, fields=(values,))

    def define(self, frame: Frame, faults: list[Fault], budget: DecompressionBudget) -> DictionaryMessage | None:
        """Judge a dictionary batch and record its length; None if the schema names no such dictionary."""
        header, message = frame.header, frame.message
        if header is None:
            return None
        number, data, delta = header["id"], header["data"], bool(header["isDelta"])
        place = message.metadata_start, message.metadata_end
        schema = self._schemas.get(number)
        if data is None and header.place("data") == header.start:
            report(
                faults, Rule.DICTIONARY_DATA_MISSING, place, "DictionaryBatch.data", f"no data for dictionary {number}"
            )
        if schema is None:
            known = ", ".join(map(str, list(self._schemas)[:16])) or "none"
            observed = f"a batch for dictionary {number}, where the schema names {known}"
            report(faults, Rule.DICTIONARY_ID_UNKNOWN, place, "DictionaryBatch.id", observed)
            return None
        made = DictionaryMessage(number, delta, BatchMessage(faults, message, (), schema))
        judge_data(made.batch, frame, data, budget)
        if delta and number not in self._sizes:
            observed = f"a delta for dictionary {number}, which is not defined"
            report(faults, Rule.DICTIONARY_DELTA_WITHOUT_BASE, place, "DictionaryBatch.isDelta", observed)
        self._take(made)
        self._judge_inner(made.batch)
        return made

    def settle(self, made: Sequence[DictionaryMessage]) -> None:
        """Record all dictionary batches of a file, then judge the indices among their values.

        Each batch has been judged on its own already; ``made`` is in the order in which the batches apply.
        """
        for each in made:
            self._take(each)
        for each in made:
            self._judge(each.batch)

    def _take(self, made: DictionaryMessage) -> None:
        """Record the length of a dictionary: a delta appends to it, any other batch replaces it."""
        size = max(made.batch.length or 0, 0)
        self._sizes[made.id] = size + (self._sizes.get(made.id, 0) if made.delta else 0)

    def _judge_inner(self, batch: BatchMessage) -> None:
        """Judge the indices among a dictionary's own values, now or before the next record batch.

        The format does not order a dictionary after the dictionaries that its own values use.
        """
        if all(number in self._sizes for number in _used(batch)):
            self._judge(batch)
        else:
            self._pending.append(batch)

    def judge(self, batch: BatchMessage) -> list[Fault]:
        """Judge the indices of a record batch; returns the faults of dictionary batches that waited for this moment."""
        waited: list[Fault] = []
        for waiting in self._pending:
            before = len(waiting.faults)
            self._judge(waiting)
            waited += waiting.faults[before:]
        self._pending.clear()
        self._judge(batch)
        return waited

    def _judge(self, batch: BatchMessage) -> None:
        body = batch.body
        if body is None:
            return
        for op in body.plan.ops:
            encoding = op.field.dictionary
            if encoding is None or op.index in body.broken or body.contents[body.starts[op.index] + 1] is None:
                continue
            self._judge_indices(batch, op, self._sizes.get(encoding.id))

    def _judge_indices(self, batch: BatchMessage, op: Op, size: int | None) -> None:
        body, encoding = batch.body, op.field.dictionary
        if body is None or encoding is None:
            return
        number, length = body.starts[op.index] + 1, body.nodes[2 * op.index]
        content = body.contents[number]
        kind = f"<{'i' if encoding.index_type.signed else 'u'}{op.width}"
        indices = np.frombuffer(content or b"", kind, length if content else 0)
        # A negative index breaks a rule of its own, which the judging of values reports.
        wrong = indices >= (size or 0)
        if size is not None and not wrong.any():
            return
        mask = live(body, op, len(indices))
        if mask is None:
            return
        if size is None:
            wrong = mask
            # A dictionary that only null slots use may come after the batch
            # (https://arrow.apache.org/docs/format/Columnar.html#ipc-streaming-format).
            rule = Rule.DICTIONARY_MISSING if wrong.any() else Rule.DICTIONARY_LATE
            observed = f"dictionary {encoding.id} without a definition"
            body.fault(rule, op, number, f"{observed}, and {many(int(wrong.sum()), 'value')} that point into it")
            return
        wrong = wrong & mask
        if wrong.any():
            slot = int(wrong.argmax())
            such = many(int(wrong.sum()), "such slot")
            observed = f"the index {int(indices[slot])} in slot {slot}, of {many(size, 'value')} ({such})"
            body.fault(Rule.DICTIONARY_INDEX_RANGE, op, number, observed, element=(slot, op.width))


def _used(batch: BatchMessage) -> set[int]:
    """The ids of the dictionaries that a batch's columns use."""
    ops = batch.body.plan.ops if batch.body is not None else ()
    return {op.field.dictionary.id for op in ops if op.field.dictionary is not None}


def _shape(field: Field) -> tuple[object, ...]:
    """The type of a field's values, without names and metadata."""
    # The indices of a dictionary-encoded child refer to one dictionary, so that both fields must name the same id.
    below = tuple((child.dictionary and child.dictionary.id, _shape(child)) for child in field.children)
    return field.type, below
