"""What the clauses on streams, files and tensors are asked about.

As with messages, the selectors know at a glance whether the wire found anything wrong with the whole at all.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Final, Generic, TypeVar

from conformance.contract.clause import Subject
from conformance.contract.ipc.messages import Container, is_noise
from conformance.contract.ipc.view import IpcView
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
    """The whole of a stream, file or tensor; it is clean if the wire has nothing to remark on it."""

    def state(self, view: View) -> Hashable | None:
        """The selectors that it shows, where it is clean."""
        if not isinstance(view, IpcView):
            return frozenset()
        if view.whole.faults:
            return None
        return view.once(WholeAspect, lambda: frozenset(name for name, shown in _SHOWS.items() if shown(view)))


_SHOWS: Final[dict[str, Callable[[IpcView], bool]]] = {}
_ASPECT: Final = WholeAspect()


class Wholes:
    """A selector of wholes that show something: a stream, dictionaries, a file's footer, a tensor."""

    aspect = _ASPECT

    def __init__(self, name: str, shows: Callable[[IpcView], bool]) -> None:
        self.name = name
        _SHOWS[name] = shows

    def __call__(self, view: View) -> Sequence[Container]:
        """The whole, if it shows that."""
        return [view.whole] if isinstance(view, IpcView) and _SHOWS[self.name](view) else []

    def shown_by(self, state: frozenset[str]) -> bool:
        """Whether a whole in this clean state shows it."""
        return self.name in state


class DataAspect:
    """What a stream or file says, whether or not its form is sound: each clause is asked."""

    def state(self, view: View) -> Hashable | None:
        """Something where there is nothing to ask about."""
        return None if isinstance(view, IpcView) else "no stream"


class AsData(Generic[S]):
    """A selector of what a stream or file says."""

    aspect = DataAspect()

    def __init__(self, select: Callable[[IpcView], Sequence[S]]) -> None:
        self._select = select

    def __call__(self, view: View) -> Sequence[S]:
        """The subjects in a stream or file; none in anything else."""
        return self._select(view) if isinstance(view, IpcView) else []

    def shown_by(self, _state: object) -> bool:
        """A clean state of this facet is one without a stream."""
        return False


def _encodes(view: IpcView) -> bool:
    """Whether a stream has anything to do with dictionaries."""
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
"""Any bytes that should be a stream, file or tensor."""
begun: Final = Wholes("begun", lambda view: bool(view.messages) and not is_noise(view.messages[0]))
"""Bytes that begin with a message, be it a broken one."""
streams: Final = Wholes("streams", lambda view: view.stream is not None and view.legible)
"""A stream, or the one in a file, with at least one message that could be followed."""
encoded: Final = Wholes("encoded", _encodes)
"""A stream, or the one in a file, that has dictionaries."""
files: Final = Wholes("files", lambda view: view.kind is Kind.FILE)
"""Bytes that should be a file."""
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
