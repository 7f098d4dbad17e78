"""Run decoders in this very process: only a sandbox does that, because any of them may end the process.

The readings are those of :class:`conformance.readers.ReaderPool`, without the transfer of a table between processes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import pyarrow as pa

from conformance.contract.comparing.differences import Floats, floats_of, identical
from conformance.contract.view import View
from conformance.readers.fullread import FullRead, bare_read
from conformance.readers.info import Read, ReaderInfo, Takes
from conformance.readers.plugin import held_tables, reads_of
from conformance.readers.registry import MODULES, reader_module
from conformance.readers.tables import to_stream_bytes, validate
from conformance.records import Case, Exchange, Reading, ReadingOutcome

__all__ = ["Decoders", "Ended"]

Ended = tuple[ReadingOutcome, str]
"""The outcome for a reader that ended its process, and the reason as text."""

MAX_ERROR_TEXT: Final = 1024
"""The longest error text in characters; a decoder may quote its input."""


class Decoders:
    """Reads exchanges with the decoders ``names``.

    ``mark`` is called with a reader's name before it gets the bytes, so that the end of the process can be
    attributed to it. ``ended`` are readers that are known to end the process on the current case; they are not run
    again.
    """

    def __init__(self, names: Sequence[str], mark: Callable[[str], None]) -> None:
        self._infos: Mapping[str, ReaderInfo] = {name: reader_module(MODULES[name]).INFO for name in names}
        self._mark = mark
        self._loaded: dict[str, Read | str] = {}
        self.ended: Mapping[str, Ended] = {}

    def read(self, case: Case, exchange: Exchange) -> list[Reading]:
        """The readings of every full read in ``exchange``, grouped by full read, in the order of the decoders."""
        found = ((whole, name, info) for whole in reads_of(case, exchange) for name, info in self._infos.items())
        return [self._reading(name, whole) for whole, name, info in found if info.takes_read(whole)]

    @staticmethod
    def prepare(view: View) -> None:
        """Parse the messages of an exchange and decode their contents before :meth:`agree` needs them."""
        if _well_formed(view):
            held_tables(view)

    def agree(self, view: View) -> list[Reading] | None:
        """The readings if each simply has the rows that the bytes contain; None if a closer look is needed.

        These readings carry no table: nothing differs, and the table of a reading is used only if something does.
        The messages are well-formed, so a table that equals the judge's own decoding is as valid as that decoding.
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
                if not info.takes_read(whole):
                    continue
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
        """The full reads of an exchange; for a serializer without protobuf, if every decoder takes bytes and
        supports any type.
        """
        if not view.calls and all(info.takes is not Takes.SERVER and not info.cannot for info in self._infos.values()):
            bare = bare_read(view.case, view.exchange)
            return [] if bare is None else [bare]
        return reads_of(view.case, view.exchange, view)

    def _is_locked(self, name: str, read: Read, whole: FullRead, held: pa.Table, floats: Floats) -> bool:
        self._mark(name)
        try:
            table = read(whole)
            return bool(table.schema.equals(held.schema)) and identical(held, table, floats)
        except BaseException:  # noqa: BLE001  # the closer look reports the error
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
        """The function that reads, or a text with the reason why it is missing."""
        if name not in self._loaded:
            try:
                self._loaded[name] = reader_module(MODULES[name]).load()
            except ImportError as error:
                self._loaded[name] = f"not installed here: {error}"
        return self._loaded[name]


def _well_formed(view: View) -> bool:
    """True if no message has a fault."""
    return not any(schema.faults for schema in view.schemas) and not any(batch.faults for batch in view.batches)


def _unavailable(name: str, whole: FullRead, reason: str) -> Reading:
    return Reading(name, whole.case_id, whole.label, ReadingOutcome.UNAVAILABLE, error_text=reason)
