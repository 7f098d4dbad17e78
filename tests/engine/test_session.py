"""A session says what it judges, by one name."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import closing, nullcontext
from pathlib import Path

import pyarrow as pa
import pytest

from conformance.cli.run import command
from conformance.disk.files import DiskError
from conformance.engine import session
from conformance.engine.casestep import CaseStep
from conformance.engine.corpus import load_corpus
from conformance.engine.events import CaseJudged, SuiteBroke
from conformance.engine.owed import Owed, reference_target
from conformance.engine.result import cases_of
from conformance.engine.run import run
from conformance.engine.selection import Plan, Selection, all_clauses, plan
from conformance.engine.session import STATE, Session, Settings, _called, default_log, open_session, own_file
from conformance.generate import draw_case, generated_id
from conformance.generate.forms import BASE, EVERY
from conformance.records import Call, Case, Exchange, Outcome
from conformance.targets import TargetError, TargetKind, TargetSpec
from tests.engine.samples import started


@pytest.mark.parametrize(
    ("name", "version", "called"),
    [
        ("pyarrow", "26.0.1", "pyarrow 26.0.1"),
        ("bqemulator-1.4.0", "1.4.0", "bqemulator-1.4.0"),
        ("mine", "", "mine"),
    ],
)
def test_a_target_is_called_by_name_and_version_once(name: str, version: str, called: str) -> None:
    """A target file that has the version in its name does not say it twice."""
    assert _called(name, version) == called


def test_settings_are_those_of_a_command_without_options() -> None:
    """Who uses the library runs what the command runs; how many cases it draws depends on what is selected."""
    defaults = {option.name: option.default for option in command.params}

    assert Settings() == Settings(
        seed=defaults["seed"],
        generated=defaults["generated"] or 0,
        scenarios=defaults["scenarios"] or 0,
        shrink=defaults["shrink"],
        readers=defaults["readers"],
        deadline_multiplier=defaults["deadline_multiplier"],
        smoke=defaults["smoke"],
        repeat=defaults["repeat"],
    )


def test_a_log_is_named_by_its_target() -> None:
    """Runs of two targets do not replace one another's logs."""
    assert str(default_log(TargetSpec(name="mine", kind=TargetKind.SERVER))) == ".conformance/mine.jsonl"


@pytest.mark.parametrize("leads", ["elsewhere", "nowhere"])
def test_no_link_leads_to_the_files_of_the_suite_itself(
    leads: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder from a stranger may have one in the place of .conformance."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    STATE.symlink_to(leads)

    with pytest.raises(DiskError, match=r"^\.conformance: cannot be written: a symbolic link"):
        own_file("mine.jsonl")

    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_case_that_cannot_be_drawn_costs_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """The run says which case it is and with which error of the suite, and goes on with the next one."""

    def draw(seed: int, index: int, *, profile: str, not_offered: Collection[str]) -> Case:
        if index == 1:
            raise IndexError("pop from empty list")
        return draw_case(seed, index, profile=profile, not_offered=not_offered)

    monkeypatch.setattr(session, "draw_case", draw)
    spec = TargetSpec("reference", TargetKind.SERVER)
    plan = Plan((), (), ())
    with reference_target() as target, closing(Owed((), TargetKind.SERVER)) as owed:
        opened = Session(spec, target, CaseStep((), target), plan, Selection(), Settings(generated=3), 0, owed)
        events = list(run(started("calls.ok"), opened.jobs(), opened.step, owed=owed))

    broke = [event for event in events if isinstance(event, SuiteBroke)]
    judged = {event.case_id: event for event in events if isinstance(event, CaseJudged)}
    ids = [generated_id(0, index, profile="server") for index in range(3)]
    assert list(judged) == ids
    assert [event.case_id for event in broke] == [ids[1]]
    assert "IndexError: pop from empty list" in broke[0].traceback
    assert [verdict.outcome for verdict in judged[ids[1]].verdicts] == [Outcome.ERROR]
    assert not any(verdict.outcome is Outcome.ERROR for name in (ids[0], ids[2]) for verdict in judged[name].verdicts)


def test_each_drawn_case_is_put_in_every_form() -> None:
    """The jobs of a run are the cases that its first event counts."""
    spec = TargetSpec("reference", TargetKind.SERVER)
    with reference_target() as target, closing(Owed((), TargetKind.SERVER)) as owed:
        settings, selection = Settings(generated=2, scenarios=1), Selection(form=EVERY)
        opened = Session(spec, target, CaseStep((), target), Plan((), (), ()), selection, settings, 0, owed)
        jobs = list(opened.jobs())

        assert [job.case.id for job in jobs] == cases_of(opened.started())
        assert opened.started().drawn == opened.expected_jobs == len(jobs) == 6
        assert not any(job.undrawn for job in jobs)


class Refusing:
    """A target that serves Arrow and refuses every case in Avro."""

    name, version, capabilities, remarks = "mine", "", frozenset[str](), ()

    def drive(self, case: Case, table: pa.Table) -> Exchange:
        """Rows, or the refusal of the format."""
        del table
        refused = Call(0, "s", "CreateReadSession", b"", status="UNIMPLEMENTED")
        served = Call(0, "r", "ReadRows", b"", (b"rows",), status="OK")
        return Exchange(case.id, "mine", (refused if case.id.endswith("@avro") else served,))

    def close(self) -> None:
        """Nothing to end."""


def test_a_target_without_the_form_is_asked_in_the_base_and_the_run_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its log is that of a run in the base."""
    monkeypatch.setattr(session, "open_target", lambda _spec, **_options: nullcontext(Refusing()))
    spec, chosen = TargetSpec("mine", TargetKind.SERVER), Selection(cases=("rows.one-row",), form=EVERY)
    corpus = list(load_corpus().values())
    settings = Settings(readers=False, generated=1)

    with open_session(spec, plan(corpus, all_clauses(), chosen), chosen, settings, corpus=corpus) as opened:
        start = opened.started()

    assert (start.cases, start.form, start.drawn, start.all_cases) == (("rows.one-row",), BASE, 1, len(corpus))
    assert opened.plan.remarks[-1].startswith("no case is put to the target in the form avro, which it refuses: ")


def test_a_target_without_the_only_form_cannot_be_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is unusable input for this run, and no finding."""
    monkeypatch.setattr(session, "open_target", lambda _spec, **_options: nullcontext(Refusing()))
    spec, chosen = TargetSpec("mine", TargetKind.SERVER), Selection(cases=("rows.one-row",), form="avro")
    corpus = list(load_corpus().values())
    opened = open_session(spec, plan(corpus, all_clauses(), chosen), chosen, Settings(readers=False), corpus=corpus)

    with (
        pytest.raises(TargetError, match="in the form avro, which it refuses: CreateReadSession ended in UNIMPL"),
        opened,
    ):
        pass
