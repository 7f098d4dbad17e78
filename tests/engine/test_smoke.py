"""Three plain cases decide whether the target, the set-up or this installation is at fault, before any verdict."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pytest

from conformance.engine import smoke as phase
from conformance.engine.corpus import load_corpus
from conformance.engine.selection import OTHER_SHARD, Plan, Selection, all_clauses, plan
from conformance.engine.session import Settings, open_session
from conformance.engine.shards import Shard
from conformance.engine.smoke import QUOTED, SMOKE, in_base, narrowed, refuse_without_tables, refused_form, smoke
from conformance.generate.forms import EVERY, in_forms
from conformance.protocols.storage_read.targets.denied import needs_table
from conformance.records import Call, Case, Exchange
from conformance.targets import TargetError, TargetKind, TargetSpec, load_target
from conformance.targets.spec import Deadlines, Endpoint, Seed, SeedPath, Start

CASES = tuple(load_corpus().values())
SPEC = TargetSpec("mine", TargetKind.SERIALIZER, file="mine.toml")
REFUSED = Call(0, "s", "CreateReadSession", b"", status="UNIMPLEMENTED", details="no such method")
EMPTY = Call(0, "r", "ReadRows", b"", status="OK")
ROWS = Call(0, "r", "ReadRows", b"", (b"rows",), status="OK")


class Answering:
    """A target that answers the smoke cases in turn with what was prepared, and the last answer from then on."""

    name, version, capabilities, remarks = "mine", "", frozenset[str](), ()

    def __init__(self, *answers: Call | str) -> None:
        self.answers = list(answers)
        self.driven: list[str] = []

    def drive(self, case: Case, table: pa.Table) -> Exchange:
        """The next answer: a call, or why nothing could be asked."""
        del table
        self.driven.append(case.id)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, str):
            return Exchange(case.id, "mine", untestable=answer)
        return Exchange(case.id, "mine", (answer,))

    def close(self) -> None:
        """Nothing to end."""


RUNNING = TargetSpec("mine", TargetKind.SERVER, file="grpc://localhost:9060", endpoint=Endpoint("localhost:9060"))


@pytest.mark.parametrize(
    ("file", "add"), [("grpc://localhost:9060", r"\?rest=http://HOST:PORT"), ("mine.toml", r"rest to \[endpoint\]")]
)
def test_a_server_without_rest_is_refused_before_the_first_case(file: str, add: str) -> None:
    """Nearly all cases need a table, drawn ones always; the sentence counts them and says what to add."""
    spec = dataclasses.replace(RUNNING, file=file)
    said = rf"{file}: no REST address: \d+ of {len(CASES) + 100} cases need tables, .* over REST; add {add} or another"

    with pytest.raises(TargetError, match=f"^{said}.* or have the other \\d+ cases judged with --no-smoke$"):
        refuse_without_tables(spec, CASES, 100)


@pytest.mark.parametrize(
    "spec",
    [
        dataclasses.replace(RUNNING, endpoint=Endpoint("localhost:9060", rest="http://localhost:9050")),
        dataclasses.replace(RUNNING, seed=Seed(paths=(SeedPath.PROGRAM,), program=Start(("make",)))),
        load_target("grpc+tcp://localhost:8815?seeding=put"),
        SPEC,
    ],
    ids=["rest", "program", "flight", "serializer"],
)
def test_a_server_in_which_tables_can_be_made_is_asked(spec: TargetSpec) -> None:
    """Over REST or in another way, and one of another protocol, which has its own."""
    refuse_without_tables(spec, CASES, 100)


def test_cases_that_need_no_table_can_be_judged_without_rest() -> None:
    """A user's own may all be such cases."""
    free = [case for case in CASES if not needs_table(case)]

    assert free
    refuse_without_tables(RUNNING, free, 0)


def test_the_smoke_cases_are_in_the_corpus() -> None:
    """They need nothing that a target may leave out."""
    chosen = [case for case in CASES if case.id in SMOKE]

    assert [case.id for case in chosen] == sorted(SMOKE)
    assert not any(case.needs or case.isolated or len(case.steps) > 2 for case in chosen)


@pytest.mark.parametrize("answers", [(ROWS,), (REFUSED, ROWS), ("cannot seed: HTTP 500", EMPTY, ROWS)])
def test_one_case_with_rows_is_enough(answers: tuple[Call | str, ...]) -> None:
    """The run goes on after as many cases as it took."""
    target = Answering(*answers)

    assert smoke(SPEC, target, CASES) == ""
    assert target.driven == [f"smoke.{case_id}" for case_id in sorted(SMOKE)][: len(answers)]


def test_a_corpus_without_the_cases_has_no_smoke_phase() -> None:
    """A user's own cases are theirs to judge by."""
    target = Answering(REFUSED)

    assert smoke(SPEC, target, [case for case in CASES if case.id not in SMOKE]) == ""
    assert target.driven == []


def test_a_long_status_is_cut_in_the_sentence() -> None:
    """It is in the log and the report in full, and the reason why a run ends is one sentence."""
    refused = dataclasses.replace(REFUSED, details="no " * 4000)

    assert len(smoke(SPEC, Answering(refused), CASES)) < 2 * QUOTED


def test_a_target_that_answers_without_rows_is_at_fault() -> None:
    """The suite's own target serves the same cases here; each observation is quoted once."""
    assert smoke(SPEC, Answering(REFUSED, EMPTY), CASES) == (
        "no row came for rows.one-row or session.plain or types.int64 (CreateReadSession ended in UNIMPLEMENTED: no"
        " such method; ReadRows ended in OK, and no row came), which pyarrow serves here, so they were not asked; fix"
        " this first, or go on with --no-smoke"
    )


def test_a_target_that_cannot_be_asked_is_an_unusable_input() -> None:
    """No table could be made in it: that is the set-up, and nothing is said about its answers."""
    with pytest.raises(TargetError) as error:
        smoke(SPEC, Answering("cannot seed: HTTP 500"), CASES)

    assert str(error.value) == (
        "mine.toml: no table can be made in mine: cannot seed: HTTP 500; the same tables can be made in the suite's own"
        " target pyarrow, so change the target or the server, or go on with --no-smoke"
    )


@pytest.mark.parametrize(
    ("own", "said"), [(Answering(EMPTY), "ReadRows ended in OK, and no row came"), (None, "pyarrow is not here")]
)
def test_an_installation_that_cannot_serve_its_own_target_is_at_fault(
    monkeypatch: pytest.MonkeyPatch, own: Answering | None, said: str
) -> None:
    """Then nothing is known of the target."""

    @contextmanager
    def opened(spec: TargetSpec) -> Iterator[Answering]:
        if own is None:
            raise TargetError(f"{spec.name} is not here")
        yield own

    monkeypatch.setattr(phase, "open_target", opened)
    with pytest.raises(TargetError) as error:
        smoke(SPEC, Answering(REFUSED), CASES)

    assert str(error.value) == (
        f"expected rows from the suite's own target pyarrow, but got none ({said}), and none from mine"
        " (CreateReadSession ended in UNIMPLEMENTED: no such method): nothing can be judged with this installation of"
        " the suite; install it again"
    )


def test_a_target_that_hangs_costs_one_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other cases would hang as well."""
    monkeypatch.setattr(phase, "PATIENCE", -1.0)
    target = Answering("cannot seed: no answer within 30 s")

    with pytest.raises(TargetError):
        smoke(SPEC, target, CASES)

    assert len(target.driven) == 1


@pytest.mark.parametrize("code", ["UNIMPLEMENTED", "INVALID_ARGUMENT"])
def test_a_target_that_has_no_such_form_says_so(code: str) -> None:
    """One plain case decides it, so that hundreds need not be refused."""
    target = Answering(dataclasses.replace(REFUSED, status=code, details="no"))

    assert refused_form(target, CASES) == (
        f"no case is put to the target in the form avro, which it refuses: CreateReadSession ended in {code}: no"
    )
    assert target.driven == ["smoke.rows.one-row@avro"]


@pytest.mark.parametrize("answer", [ROWS, EMPTY, dataclasses.replace(REFUSED, status="INTERNAL"), "cannot seed"])
def test_any_other_answer_is_for_the_cases_to_judge(answer: Call | str) -> None:
    """An error that does not say that the form is not there is a defect."""
    assert refused_form(Answering(answer), CASES) == ""


def test_a_corpus_without_the_cases_asks_for_no_form() -> None:
    """Whether a user's own cases are served in a form, they show themselves."""
    target = Answering(REFUSED)

    assert refused_form(target, [case for case in CASES if case.id not in SMOKE]) == ""
    assert target.driven == []


def test_the_plan_in_the_base_is_that_of_a_run_without_forms() -> None:
    """So the log of the run can be checked as any other."""
    selection = Selection(cases=("types.int*", "rows.avro"))
    chosen = plan(CASES, all_clauses(), dataclasses.replace(selection, form=EVERY))

    left = in_base(chosen, "why")

    plain = plan(CASES, all_clauses(), selection)
    assert (left.cases, left.left_out) == (plain.cases, plain.left_out)
    assert left.remarks == (*plain.remarks, "why")


def test_smoke_cases_keep_their_part_in_another_form() -> None:
    """A target that serves this form alone is judged by it."""
    target = Answering(ROWS)

    assert smoke(SPEC, target, in_forms(CASES, "avro")) == ""
    assert target.driven == ["smoke.rows.one-row@avro"]


def test_only_the_smoke_cases_are_left() -> None:
    """The reason is that of every other case that was chosen; what the user left out keeps its own."""
    chosen = plan(CASES, all_clauses(), Selection(cases=("types.*", "rows.one-row")))

    left = narrowed(chosen, CASES, "nothing came", None)

    assert sorted(case.id for case in left.cases) == sorted(SMOKE)
    assert left.corpus == chosen.corpus != ""
    reasons = {one.id: one.reason for one in left.left_out if one.kind == "case"}
    assert len(reasons) + len(left.cases) == len(CASES)
    assert (reasons["types.bool"], reasons["split.children"]) == ("nothing came", "no --select pattern matches it")


def test_shards_divide_the_smoke_cases() -> None:
    """So that a merged run has each of them once."""
    everything = Plan(CASES, (), ())
    parts = [narrowed(everything, CASES, "nothing came", Shard(index, 2)) for index in (1, 2)]

    assert sorted(case.id for part in parts for case in part.cases) == sorted(SMOKE)
    assert all({one.reason for one in part.left_out} <= {"nothing came", OTHER_SHARD} for part in parts)


PROGRAM = """\
import json, sys

for line in sys.stdin:
    asked = json.loads(line)
    answer = {"id": asked["id"], "status": "unsupported"}
    if asked["op"] == "hello":
        answer |= {"status": "ok", "protocol": 1, "name": "none", "version": "1", "capabilities": [], "input": "rows"}
    print(json.dumps(answer), flush=True)
"""


def test_a_run_that_ends_after_the_smoke_phase_is_incomplete(tmp_path: Path) -> None:
    """It judges the smoke cases, so that its report shows them; with --no-smoke, it asks for everything."""
    (tmp_path / "none.py").write_text(PROGRAM)
    file = tmp_path / "none.toml"
    file.write_text('name = "none"\nkind = "program"\n[start]\ncommand = ["{python}", "{here}/none.py"]\n')
    selection = Selection(cases=("types.bool",))
    chosen, spec = plan(CASES, all_clauses(), selection), load_target(file)
    tags = []
    for asked in (True, False):
        settings = Settings(readers=False, smoke=asked)
        with open_session(spec, chosen, selection, settings, corpus=CASES) as session:
            tags.append([event.TAG for event in session.events()])

    assert tags == [["run-started", *["case-judged"] * 3], ["run-started", "case-judged", "run-ended"]]


def test_a_dead_port_ends_the_run_before_the_smoke_phase() -> None:
    """Connecting fails at once; no case is tried."""
    dead = TargetSpec("dead", TargetKind.SERVER, endpoint=Endpoint("127.0.0.1:1", "http://127.0.0.1:1"), file="d.toml")

    with (
        pytest.raises(TargetError, match=r"cannot reach 127\.0\.0\.1:1: nothing listens there"),
        open_session(dead, Plan(CASES, (), ()), Selection(), Settings(readers=False), corpus=CASES),
    ):
        pytest.fail("it opened")


class Late(Answering):
    """A target whose sessions show rows some seconds after REST has listed them."""

    lag = 0.0

    def __init__(self, after: float) -> None:
        super().__init__(EMPTY)
        self.after = after

    def drive(self, case: Case, table: pa.Table) -> Exchange:
        """Rows, if the target has waited for them."""
        self.answers = [ROWS if self.lag >= self.after else EMPTY]
        return super().drive(case, table)


def test_rows_that_reach_sessions_late_are_waited_for() -> None:
    """The run goes on, and waits that long in each case."""
    target = Late(1.5)

    assert smoke(SPEC, target, CASES) == ""
    assert target.lag == 2.0


def test_rows_that_never_reach_sessions_end_the_run() -> None:
    """After a bounded wait, within the time of one request of seeding."""
    target = Late(100.0)
    spec = dataclasses.replace(SPEC, deadlines=Deadlines(seed=1.0))

    assert "ReadRows ended in OK, and no row came" in smoke(spec, target, CASES)
    assert (target.lag, len(target.driven)) == (0.0, 5)
