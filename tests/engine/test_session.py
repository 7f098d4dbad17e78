"""A session says what it judges, by one name."""

from __future__ import annotations

import pytest

from conformance.cli.run import command
from conformance.engine.session import Settings, _called, default_log
from conformance.targets import TargetKind, TargetSpec


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
