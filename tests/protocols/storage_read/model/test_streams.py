"""Every contradiction in a session's history is found, and every freedom of a server is none."""

from __future__ import annotations

import dataclasses

import pytest

from conformance.protocols.storage_read.model import DeviationKind as Kind
from conformance.protocols.storage_read.model import ModelSplit, SessionHistory, StreamRead, deviations

ROWS = tuple("abcdef")


def history(
    *asked: StreamRead | ModelSplit, streams: tuple[str, ...] = ("s",), rows: tuple[str, ...] = ROWS
) -> SessionHistory:
    """A session with rows a to f, and what was asked of it, numbered by place."""
    numbered = [dataclasses.replace(one, call=call) for call, one in enumerate(asked, 1)]
    reads = tuple(one for one in numbered if isinstance(one, StreamRead))
    return SessionHistory(0, rows, streams, reads, tuple(one for one in numbered if isinstance(one, ModelSplit)))


def read(rows: str, offset: int = 0, stream: str = "s", *, ended: bool = True, together: bool = False) -> StreamRead:
    """A served read."""
    return StreamRead(0, stream, offset, tuple(rows), ended=ended, together=together)


def refused(offset: int, stream: str = "s", *, together: bool = False) -> StreamRead:
    """A refused read."""
    return StreamRead(0, stream, offset, refused=True, together=together)


SPLIT = ModelSplit(0, "s", "p", "r")

PERMITTED = {
    "any order": (read("fdacbe"),),
    "an offset": (read("abcdef"), read("def", 3), read("", 6)),
    "in part, and resumed": (read("ab", ended=False), read("cdef", 2)),
    "an offset first": (read("ef", 4), read("abcdef")),
    "beyond the end": (read("abcdef"), refused(7), refused(100)),
    "refused before the end is known": (refused(3), read("ab", ended=False)),
    "refused before a read has reached it": (refused(3), read("ab", ended=False), refused(3), read("abcdef")),
    "refused at the same time as the read that reaches it": (read("abcdef", together=True), refused(3, together=True)),
    "refused in a second child that nobody has read": (
        read("abcdef"),
        SPLIT,
        refused(1, "r"),
        read("ab", stream="p"),
        read("cdef", stream="r"),
    ),
    "children": (SPLIT, read("ab", stream="p"), read("cdef", stream="r"), read("abcdef")),
    "a child of a child": (
        SPLIT,
        read("abcd", stream="p"),
        ModelSplit(0, "p", "x", "y"),
        read("a", stream="x"),
        read("cd", 1, stream="y"),
        read("abcdef"),
        read("ef", stream="r"),
    ),
    "an empty child": (SPLIT, read("", stream="p"), read("abcdef", stream="r"), read("abcdef")),
    "a stream that is not divided": (ModelSplit(0, "s"), read("abcdef")),
    "an unknown stream": (read("xyz", stream="elsewhere"),),
    "nothing read out": (read("b", 1, ended=False),),
}


@pytest.mark.parametrize("name", PERMITTED)
def test_the_freedom_of_a_server_is_no_deviation(name: str) -> None:
    """What the contract leaves open contradicts nothing."""
    assert deviations(history(*PERMITTED[name])) == ()


CONTRADICTIONS = {
    "a row of no session": ((read("abXdef"),), Kind.STRANGE, 1),
    "a row of no session in part": ((read("X", 4, ended=False),), Kind.STRANGE, 1),
    "a row twice in a read": ((read("aabcdef"),), Kind.REPEATED, 1),
    "a row is missing": ((read("abcde"),), Kind.MISSING, 1),
    "a row is missing from the parts": ((read("ab", ended=False), read("cde", 2)), Kind.MISSING, 2),
    "an offset is ignored": ((read("abcdef"), read("abcdef", 3)), Kind.MOVED, 2),
    "two partial reads differ": ((read("ab", ended=False), read("ba", ended=False)), Kind.MOVED, 2),
    "readers at once differ": ((read("abcdef"), read("bacdef", together=True)), Kind.MOVED_TOGETHER, 2),
    "a resumed read is short": ((read("abcdef"), read("cde", 2)), Kind.END, 2),
    "a resumed read is long": ((read("abcde"), read("def", 3)), Kind.END, 2),
    "nothing comes from a known row": ((read("abcd", ended=False), read("", 3)), Kind.END, 2),
    "a row comes after the end": ((read("", 4), read("abcdef")), Kind.END, 2),
    "children lose a row": ((read("abcdef"), SPLIT, read("ab", stream="p"), read("def", stream="r")), Kind.DIVIDED, 4),
    "children swap": ((read("abcdef"), SPLIT, read("def", stream="p"), read("abc", stream="r")), Kind.DIVIDED, 3),
    "a child of a child has a row of another stream": (
        (read("abc"), SPLIT, ModelSplit(0, "r", "x", "y"), read("f", stream="y", ended=False)),
        Kind.DIVIDED,
        4,
    ),
    "children share a row": (
        (read("abcdef"), SPLIT, read("b", 1, stream="p", ended=False), read("b", stream="r", ended=False)),
        Kind.DIVIDED,
        4,
    ),
    "a child resumes elsewhere": ((read("abcdef"), SPLIT, read("c", 1, stream="p", ended=False)), Kind.DIVIDED, 3),
    "a resumed read is refused": ((read("abcdef"), refused(6)), Kind.REFUSED, 2),
    "a read is refused where a partial one has ended": (
        (read("ab", ended=False), refused(2), read("abcdef")),
        Kind.REFUSED,
        2,
    ),
    "a first child is refused where its parent was read": (
        (read("abcd", ended=False), SPLIT, refused(1, "p"), read("ab", stream="p")),
        Kind.REFUSED,
        3,
    ),
    "a read from the start is refused": ((refused(0),), Kind.REFUSED, 1),
    "a split is refused": ((ModelSplit(0, "s", refused=True),), Kind.REFUSED, 1),
    "beyond the end is served": ((read("abcdef"), read("", 7)), Kind.BEYOND, 2),
    "beyond the child is served": (
        (SPLIT, read("ab", stream="p"), read("cdef", stream="r"), read("", 3, stream="p")),
        Kind.BEYOND,
        4,
    ),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_a_contradiction_is_found_at_the_call_that_shows_it(name: str) -> None:
    """The kind is the broken law, and the call is the one that breaks it."""
    asked, kind, call = CONTRADICTIONS[name]

    found = deviations(history(*asked))

    assert [(one.kind, one.call) for one in found] == [(kind, call)]


def test_streams_share_the_rows_of_a_session() -> None:
    """A row in two streams is repeated; rows in none are missing."""
    both = ("s", "t")

    assert deviations(history(read("abc"), read("fed", stream="t"), streams=both)) == ()
    assert [one.kind for one in deviations(history(read("abcd"), read("def", stream="t"), streams=both))] == [
        Kind.REPEATED
    ]
    assert [one.kind for one in deviations(history(read("abc"), read("ef", stream="t"), streams=both))] == [
        Kind.MISSING
    ]


def test_equal_rows_are_several_rows() -> None:
    """A row of which the table has two may come twice, and has to."""
    assert deviations(history(read("aab"), rows=("a", "b", "a"))) == ()
    assert [one.kind for one in deviations(history(read("ab"), rows=("a", "b", "a")))] == [Kind.MISSING]


def test_a_session_without_streams_has_no_rows() -> None:
    """No stream is enough for no row, and not for six."""
    assert deviations(history(streams=(), rows=())) == ()
    assert [one.kind for one in deviations(history(streams=()))] == [Kind.MISSING]


def test_a_deviating_read_contradicts_no_later_one() -> None:
    """One wrong read is one finding: later reads are compared with what was right."""
    found = deviations(history(read("abcdef"), read("abcdef", 3), read("def", 3)))

    assert [one.call for one in found] == [2]
