"""Decoders run in this very process: only a lab does that, which may die under any of them.

The readings are those of :class:`conformance.readers.ReaderPool`, without a table's way between two processes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import pyarrow as pa

from conformance.contract.comparing.differences import Floats, floats_of, identical
from conformance.contract.view import View
from conformance.readers.fullread import FullRead, bare_read, full_reads
from conformance.readers.held import held_tables
from conformance.readers.info import Read, ReaderInfo, Takes
from conformance.readers.registry import MODULES, reader_module
from conformance.readers.tables import to_stream_bytes, validate
from conformance.records import Case, Exchange, Reading, ReadingOutcome

__all__ = ["Decoders", "Ended"]

Ended = tuple[ReadingOutcome, str]
"""How a reader ended the process that it ran in, and the reason in words."""

MAX_ERROR_TEXT: Final = 1024
"""Bound in characters on an error's text; a decoder may quote its input."""


class Decoders:
    """Reads exchanges with the decoders ``names``.

    ``mark`` is called with a reader's name before it gets the bytes, so that it can be blamed should the process die.
    ``ended`` are readers that are known to end the process on the case in hand; they are not asked again.
    """

    def __init__(self, names: Sequence[str], mark: Callable[[str], None]) -> None:
        self._infos: Mapping[str, ReaderInfo] = {name: reader_module(MODULES[name]).INFO for name in names}
        self._mark = mark
        self._loaded: dict[str, Read | str] = {}
        self.ended: Mapping[str, Ended] = {}

    def read(self, case: Case, exchange: Exchange) -> list[Reading]:
        """The readings of every whole read in ``exchange``, by whole read and then in the decoders' order."""
        return [self._reading(name, whole) for whole in full_reads(case, exchange) for name in self._infos]

    @staticmethod
    def prepare(view: View) -> None:
        """Have the messages of an exchange parsed, and what they hold decoded, ahead of :meth:`agree`."""
        if _well_formed(view):
            held_tables(view)

    def agree(self, view: View) -> list[Reading] | None:
        """The readings where each is simply the rows that the bytes hold; None where it takes a closer look.

        Such readings carry no table: nothing differs, and a reading's table is only looked at where something does.
        They are those of well-formed messages, so what equals the judge's own decoding of them is as valid as it.
        """
        if not _well_formed(view):
            return None
        held = held_tables(view)
        readings = []
        for whole in self._wholes(view):
            if whole.label not in held:
                return None
            table = held[whole.label]
            floats = floats_of(table.schema)
            for name, info in self._infos.items():
                read = self._load(name)
                if name in self.ended or isinstance(read, str):
                    return None
                if whole.bare is None and (reason := info.refusal(whole)):
                    readings.append(_unavailable(name, whole, reason))
                    continue
                if info.rewrites or not self._is_locked(name, read, whole, table, floats):
                    return None
                readings.append(Reading(name, whole.case_id, whole.label, ReadingOutcome.TABLE, camp="all"))
        return readings

    def _wholes(self, view: View) -> list[FullRead]:
        """The whole reads of an exchange; those of a serializer bare, where all decoders take bytes and any type."""
        if not view.calls and all(info.takes is not Takes.SERVER and not info.cannot for info in self._infos.values()):
            bare = bare_read(view.case, view.exchange)
            return [] if bare is None else [bare]
        return full_reads(view.case, view.exchange)

    def _is_locked(self, name: str, read: Read, whole: FullRead, held: pa.Table, floats: Floats) -> bool:
        self._mark(name)
        try:
            table = read(whole)
            return bool(table.schema.equals(held.schema)) and identical(held, table, floats)
        except BaseException:  # noqa: BLE001  # what it is, the closer look will tell
            return False
        finally:
            self._mark("")

    def _reading(self, name: str, whole: FullRead) -> Reading:
        if name in self.ended:
            outcome, text = self.ended[name]
            return Reading(name, whole.case_id, whole.label, outcome, error_class=outcome, error_text=text)
        reason = self._infos[name].refusal(whole)
        read = self._load(name)
        if reason or isinstance(read, str):
            return _unavailable(name, whole, reason or str(read))
        self._mark(name)
        try:
            table = read(whole)
            validate(table)
            return Reading(name, whole.case_id, whole.label, ReadingOutcome.TABLE, to_stream_bytes(table))
        except BaseException as error:  # noqa: BLE001  # a Rust panic arrives as a BaseException
            kind, text = type(error).__qualname__, str(error)[:MAX_ERROR_TEXT]
            return Reading(name, whole.case_id, whole.label, ReadingOutcome.ERROR, error_class=kind, error_text=text)
        finally:
            self._mark("")

    def _load(self, name: str) -> Read | str:
        """The function that reads, or why there is none."""
        if name not in self._loaded:
            try:
                self._loaded[name] = reader_module(MODULES[name]).load()
            except ImportError as error:
                self._loaded[name] = f"not installed here: {error}"
        return self._loaded[name]


def _well_formed(view: View) -> bool:
    """Whether nothing is wrong with any message."""
    return not any(schema.faults for schema in view.schemas) and not any(batch.faults for batch in view.batches)


def _unavailable(name: str, whole: FullRead, reason: str) -> Reading:
    return Reading(name, whole.case_id, whole.label, ReadingOutcome.UNAVAILABLE, error_text=reason)
