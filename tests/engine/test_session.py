"""A session says what it judges, by one name."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import closing
from pathlib import Path

import pytest

from conformance.cli.run import command
from conformance.disk.files import DiskError
from conformance.engine import session
from conformance.engine.casestep import CaseStep
from conformance.engine.events import CaseJudged, SuiteBroke
from conformance.engine.owed import Owed, reference_target
from conformance.engine.run import run
from conformance.engine.selection import Plan, Selection
from conformance.engine.session import STATE, Session, Settings, _called, default_log, own_file
from conformance.generate import draw_case, generated_id
from conformance.records import Case, Outcome
from conformance.targets import TargetKind, TargetSpec
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
