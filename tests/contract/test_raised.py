"""An exception costs only the clauses that need the value, and is reported: no other verdict is lost."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pytest

from conformance.contract.clause import CLAUSES, Clause, Violation, load_chapters
from conformance.contract.ipc.ipcview import IpcView
from conformance.contract.ipc.judging import ipc_clauses, judge_ipc
from conformance.contract.judge import Judge, judge, judge_view
from conformance.contract.raised import ClauseRaised, reason_of, remembered_property, sound
from conformance.contract.view import View, once_per_view
from conformance.contract.viewing import view_of
from conformance.records import BqType, Call, CallEnd, Column, Level, Outcome, Table, Verdict
from conformance.wire import Kind
from tests.contract.test_judge import CASE, exchange, rows

load_chapters()
NAMED = dataclasses.replace(CASE, clauses=("x.*",))


@dataclasses.dataclass(frozen=True)
class Thing:
    """A subject in no call."""

    call: int | None = None
    response: int | None = None


class Aspect:
    """An aspect whose state is unknown, or raises."""

    def __init__(self, *, raises: bool) -> None:
        self.raises = raises

    def state(self, _view: View) -> Hashable | None:
        """Nothing clean, if anything."""
        if self.raises:
            raise LookupError("no state")
        return None


class Over:
    """A selector of things, under an aspect."""

    def __init__(self, aspect: Aspect, select: Callable[[View], Sequence[Thing]] = lambda _view: [Thing()]) -> None:
        self.aspect = aspect
        self._select = select

    def __call__(self, view: View) -> Sequence[Thing]:
        """The things."""
        return self._select(view)

    def shown_by(self, _state: object) -> bool:
        """No state is clean."""
        return False


def made(clause_id: str, check: Callable[[Any], Any], over: Any = None) -> Clause:
    """A clause of the profile of exchanges."""
    over = Over(Aspect(raises=False)) if over is None else over
    return Clause(clause_id, Level.MUST, "Text.", "https://example.org", "", ("bq-arrow",), over, check)


def fine(_thing: Thing) -> Iterator[Violation]:
    """Nothing is wrong."""
    yield from ()


def raising(error: BaseException) -> Callable[[Thing], Iterator[Violation]]:
    """A check that raises."""

    def check(_thing: Thing) -> Iterator[Violation]:
        raise error
        yield  # a generator, as most checks are

    return check


def judged(*clauses: Clause) -> list[Verdict]:
    """The verdicts of these clauses on a clean exchange."""
    return judge_view(view_of(NAMED, exchange(rows()), rows()), clauses)


def outcomes(verdicts: Sequence[Verdict]) -> dict[str, Outcome]:
    """The outcome of each clause."""
    return {verdict.clause: verdict.outcome for verdict in verdicts}


@pytest.mark.parametrize("error", [AttributeError("x"), MemoryError(), RecursionError("deep"), pa.ArrowInvalid("no")])
def test_a_check_that_raises_costs_its_clause(error: Exception) -> None:
    """The clauses before and after it are judged."""
    verdicts = judged(made("x.a", fine), made("x.b", raising(error)), made("x.c", fine))

    assert outcomes(verdicts) == {"x.a": Outcome.PASS, "x.b": Outcome.ERROR, "x.c": Outcome.PASS}
    assert type(error).__name__ in verdicts[1].reason


def test_an_interrupt_is_no_defect_of_the_suite() -> None:
    """Ctrl-C ends the judging."""
    with pytest.raises(KeyboardInterrupt):
        judged(made("x.a", raising(KeyboardInterrupt())))


def test_a_selector_that_raises_costs_the_clauses_over_it() -> None:
    """A subject that cannot be made belongs to no clause."""

    def broken(_view: View) -> Sequence[Thing]:
        raise KeyError("nothing")

    over = Over(Aspect(raises=False), broken)

    verdicts = judged(made("x.a", fine, over), made("x.b", fine, over), made("x.c", fine))

    assert outcomes(verdicts) == {"x.a": Outcome.ERROR, "x.b": Outcome.ERROR, "x.c": Outcome.PASS}


def test_a_facet_that_raises_leaves_its_clauses_to_be_asked() -> None:
    """If one of them also raises, its error is reported, and the others are judged."""
    aspect = Aspect(raises=True)

    verdicts = judged(made("x.a", raising(LookupError()), Over(aspect)), made("x.b", fine, Over(aspect)))

    assert outcomes(verdicts) == {"x.a": Outcome.ERROR, "x.b": Outcome.PASS}


def test_a_facet_that_raises_alone_is_not_hidden() -> None:
    """Where no clause raises, none has passed: nobody knows what was wrong."""
    aspect = Aspect(raises=True)

    verdicts = judged(made("x.a", fine, Over(aspect)), made("x.b", fine))

    assert outcomes(verdicts) == {"x.a": Outcome.ERROR, "x.b": Outcome.PASS}
    assert "LookupError: no state" in verdicts[0].reason


def test_what_a_facet_hides_is_no_pass() -> None:
    """Errors are reported in full, and their clauses are not among those that passed."""
    aspect = Aspect(raises=True)
    clauses = (made("x.a", fine), made("x.b", raising(ValueError("no"))), made("x.c", fine, Over(aspect)))

    judged = Judge(clauses)(view_of(NAMED, exchange(rows()), rows()))

    assert judged.passed == ("x.a",)
    assert outcomes(judged.others) == {"x.b": Outcome.ERROR, "x.c": Outcome.ERROR}


def test_an_obstacle_that_raises_costs_the_clause_that_asked() -> None:
    """A named clause without subjects asks why it was not judged."""
    spoilt = view_of(NAMED, exchange(rows()), rows())
    spoilt.reason_not_judged = lambda: 1 // 0  # type: ignore[method-assign]
    none = Over(Aspect(raises=False), lambda _view: [])

    verdicts = judge_view(spoilt, [made("x.a", fine, none), made("x.b", fine)])

    assert outcomes(verdicts) == {"x.a": Outcome.ERROR, "x.b": Outcome.PASS}


def test_a_step_that_does_not_exist_costs_the_clauses_on_calls() -> None:
    """A record that is not a call is left out; clauses that do not need calls are judged."""
    odd = dataclasses.replace(exchange(rows()), calls=(Call(99, "", "ReadRows", b"", end=CallEnd.COMPLETE),))

    verdicts = judge(CASE, odd, rows())

    assert {verdict.outcome for verdict in verdicts} == {Outcome.ERROR}
    assert "IndexError" in verdicts[0].reason


def test_one_check_of_columns_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """A check that is cached for its schema raises for its own clause, and values are still compared."""
    aspect = CLAUSES["types.int64"].over.aspect  # type: ignore[attr-defined]
    broken = made("x.a", lambda one: one.pairing.found(one, _explode), CLAUSES["types.int64"].over)
    monkeypatch.setattr(aspect, "checks", [*aspect.checks, _explode])
    clauses = [broken, CLAUSES["types.int64"], CLAUSES["values.int64"], CLAUSES["body.node-count"]]
    unseen = dataclasses.replace(CASE, table=Table((*CASE.table.columns, Column("new", BqType.BOOL))[:3], rows=()))

    verdicts = judge_view(view_of(unseen, exchange(rows()), rows()), clauses)

    assert outcomes(verdicts) == {
        "x.a": Outcome.ERROR,
        "types.int64": Outcome.PASS,
        "values.int64": Outcome.PASS,
        "body.node-count": Outcome.PASS,
    }


def _explode(_one: object) -> Iterator[Violation]:
    raise ArithmeticError("boom")
    yield


def test_a_selector_raises_to_everybody_and_is_asked_once() -> None:
    """An exception is cached like a result."""
    asked = []

    @once_per_view
    def select(_view: View) -> list[Thing]:
        asked.append(1)
        raise MemoryError

    view = view_of(CASE, exchange(rows()), rows())
    for _ in range(3):
        with pytest.raises(MemoryError):
            select(view)

    assert len(asked) == 1


def test_a_property_raises_to_everybody_and_is_made_once() -> None:
    """And one that can be made is kept."""
    asked = []

    class Holder:
        @remembered_property
        def bad(self) -> int:
            """It cannot be made."""
            asked.append("bad")
            raise ValueError("bad")

        @remembered_property
        def good(self) -> int:
            """It can."""
            asked.append("good")
            return 1

    holder = Holder()
    for _ in range(2):
        assert holder.good == 1
        with pytest.raises(ValueError, match="bad"):
            _ = holder.bad

    assert sorted(asked) == ["bad", "good"]


def test_a_stream_that_cannot_be_read_costs_the_clauses_on_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the walk over the bytes raises becomes the reason of each clause that needs it."""

    def broken(_data: bytes, _most: int) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr("conformance.wire.read_stream", broken)

    verdicts = judge_ipc(b"\xff\xff\xff\xff", Kind.STREAM)

    assert {verdict.outcome for verdict in verdicts} == {Outcome.ERROR}
    assert {verdict.clause for verdict in verdicts} <= {clause.id for clause in ipc_clauses("ipc-stream")}
    assert len(verdicts) > 50
    assert all("RecursionError: too deep" in verdict.reason for verdict in verdicts)


def test_a_view_of_a_stream_is_read_when_it_is_asked() -> None:
    """To make one costs nothing, and cannot fail."""
    assert IpcView(b"", Kind.FILE).data == b""


class TestReason:
    """One line that finds the place."""

    def test_it_names_class_text_and_place(self) -> None:
        """The place is the innermost of the suite's own modules."""
        try:
            CLAUSES["no such clause"]
        except KeyError as error:
            text = reason_of(error)
        (verdict,) = judged(made("x.a", lambda _thing: View.reason_not_judged(None)))  # type: ignore[arg-type]

        assert text == "the suite raised KeyError: 'no such clause' (a defect of the suite, please report)"
        assert " at conformance.contract.view, line " in verdict.reason
        assert verdict.reason.endswith("(a defect of the suite, please report)")

    def test_foreign_text_in_it_is_safe_and_short(self) -> None:
        """An exception may quote the bytes that led to it."""
        text = reason_of(ValueError("\x1b[2J\n::error::x\ud800" + "y" * 1000))

        assert text.isprintable()
        assert len(text) < 320

    def test_an_exception_that_cannot_say_what_it_is_has_a_class(self) -> None:
        """Its text is left out."""

        class MuteError(Exception):
            def __str__(self) -> str:
                raise RuntimeError

        assert reason_of(MuteError()) == "the suite raised MuteError (a defect of the suite, please report)"

    def test_the_place_is_in_the_suite_whatever_else_raised(self) -> None:
        """The last line of the suite is named, and no line of a library below it."""
        library: dict[str, Any] = {"__name__": "aaa.library"}
        exec("def fail():\n    raise ValueError('no')", library)  # a module with a name of our choice
        ours: dict[str, Any] = {"__name__": "conformance.made", "fail": library["fail"]}

        with pytest.raises(ValueError, match="no") as raised:
            exec("fail()", ours)  # as above

        assert " at conformance.made, line 1 (" in reason_of(raised.value)

    def test_the_traceback_is_kept_for_the_log(self) -> None:
        """Once, however many clauses it cost."""
        view = view_of(NAMED, exchange(rows()), rows())

        judge_view(view, [made("x.a", raising(ValueError("no")))])

        (traceback,) = view.broke
        assert "ValueError: no" in traceback


def test_whoever_looks_for_failures_alone_is_stopped_by_an_error() -> None:
    """The suite must be able to judge its own inputs."""
    good = Verdict("c", "x.a", Outcome.FAIL)

    assert sound([good]) == [good]
    with pytest.raises(ClauseRaised, match=r"x\.b: it raised"):
        sound([good, Verdict("c", "x.b", Outcome.ERROR, reason="it raised")])
