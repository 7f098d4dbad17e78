"""The subjects of the clauses on streams, files and tensors.

As with messages, the selectors check first whether the wire found any fault of the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Final, Generic, TypeVar

from conformance.contract.clause import Subject
from conformance.contract.ipc.ipcview import IpcView
from conformance.contract.ipc.messages import Container, is_noise
from conformance.contract.view import View
from conformance.wire import Header, Kind

__all__ = [
    "AsData",
    "Wholes",
    "anything",
    "begun",
    "blocks",
    "dense",
    "encoded",
    "encoded_files",
    "files",
    "footers",
    "sparse",
    "streams",
    "whole_tensors",
]

S = TypeVar("S", bound=Subject)


class WholeAspect:
    """The aspect of the whole of a stream, file or tensor; clean if the wire found no fault of the whole."""

    def state(self, view: View) -> Hashable | None:
        """Return the names of the selectors that have this whole as a subject, None if it is not clean."""
        if not isinstance(view, IpcView):
            return frozenset()
        if view.whole.faults:
            return None
        return view.once(WholeAspect, lambda: frozenset(name for name, shown in _SHOWS.items() if shown(view)))


_SHOWS: Final[dict[str, Callable[[IpcView], bool]]] = {}
_ASPECT: Final = WholeAspect()


class Wholes:
    """A selector of wholes with certain contents: a stream, dictionaries, a file's footer, a tensor."""

    aspect = _ASPECT

    def __init__(self, name: str, shows: Callable[[IpcView], bool]) -> None:
        self.name = name
        _SHOWS[name] = shows

    def __call__(self, view: View) -> Sequence[Container]:
        """Return the whole, if it has these contents."""
        return [view.whole] if isinstance(view, IpcView) and _SHOWS[self.name](view) else []

    def shown_by(self, state: frozenset[str]) -> bool:
        """True if a whole in this clean state has these contents."""
        return self.name in state


class DataAspect:
    """The aspect of the content of a stream or file, whether or not its form is valid: every clause runs."""

    def state(self, view: View) -> Hashable | None:
        """Return a clean state if the view has no stream, else None."""
        return None if isinstance(view, IpcView) else "no stream"


class AsData(Generic[S]):
    """A selector of subjects in the content of a stream or file."""

    aspect = DataAspect()

    def __init__(self, select: Callable[[IpcView], Sequence[S]]) -> None:
        self._select = select

    def __call__(self, view: View) -> Sequence[S]:
        """Return the subjects in a stream or file; none in anything else."""
        return self._select(view) if isinstance(view, IpcView) else []

    def shown_by(self, _state: object) -> bool:
        """False: in a clean state of this aspect the view has no stream."""
        return False


def _encodes(view: IpcView) -> bool:
    """True if a stream has a dictionary-encoded field or a dictionary batch."""
    if view.stream is None:
        return False
    schema = view.stream.schema
    fields = () if schema is None else schema.walk()
    return any(field.dictionary is not None for _, field in fields) or any(
        message.header is Header.DICTIONARY_BATCH for message in view.messages
    )


def _lists(view: IpcView) -> bool:
    footer = None if view.file is None else view.file.footer
    return footer is not None and bool(footer.dictionaries or footer.batches or view.batches)


def _headed(view: IpcView, header: Header) -> bool:
    return view.kind is Kind.TENSOR and any(message.header is header for message in view.messages)


anything: Final = Wholes("anything", lambda _view: True)
"""Any bytes that are judged as a stream, file or tensor."""
begun: Final = Wholes("begun", lambda view: bool(view.messages) and not is_noise(view.messages[0]))
"""Bytes that begin with a message, even a broken one."""
streams: Final = Wholes("streams", lambda view: view.stream is not None and view.legible)
"""A stream, or the stream in a file, with at least one message that could be followed."""
encoded: Final = Wholes("encoded", _encodes)
"""A stream, or the stream in a file, that has dictionaries."""
files: Final = Wholes("files", lambda view: view.kind is Kind.FILE)
"""Bytes that are judged as a file."""
footers: Final = Wholes("footers", lambda view: view.file is not None and view.file.footer is not None)
"""A file whose footer could be read."""
blocks: Final = Wholes("blocks", _lists)
"""A file whose footer lists messages, or whose stream has some that it could list."""
encoded_files: Final = Wholes("encoded files", lambda view: view.kind is Kind.FILE and _encodes(view))
"""A file that has dictionaries."""
whole_tensors: Final = Wholes("tensors", lambda view: view.kind is Kind.TENSOR and view.legible)
"""A tensor of either kind whose message could be followed."""
dense: Final = Wholes("dense tensors", lambda view: _headed(view, Header.TENSOR))
"""A dense tensor."""
sparse: Final = Wholes("sparse tensors", lambda view: _headed(view, Header.SPARSE_TENSOR))
"""A sparse tensor."""
