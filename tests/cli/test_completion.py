"""Shells complete commands and options: click's own scripts, printed by the command itself."""

from __future__ import annotations

import pytest

from conformance.cli import main


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_for_a_shell_is_printed(
    shell: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It calls the command under its name, and nothing else is printed."""
    monkeypatch.setenv("_CONFORMANCE_COMPLETE", f"{shell}_source")
    monkeypatch.setattr("click.shell_completion.BashComplete._check_version", lambda *_: None)  # it starts a bash

    with pytest.raises(SystemExit) as ended:
        main([])

    script, errors = capsys.readouterr()
    assert ended.value.code == 0
    assert f"_CONFORMANCE_COMPLETE={shell}_complete" in script
    assert errors == ""


@pytest.mark.parametrize(
    ("words", "completed"), [("conformance dis", ["dissect"]), ("conformance list --sel", ["--select"])]
)
def test_commands_and_options_are_completed(
    words: str, completed: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As bash asks for them."""
    monkeypatch.setenv("_CONFORMANCE_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))

    with pytest.raises(SystemExit):
        main([])

    assert [line.partition(",")[2] for line in capsys.readouterr().out.splitlines()] == completed
