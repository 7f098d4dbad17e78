"""Shells complete commands and options: click's own scripts, printed by the command itself."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.cli.completion import SHELLS
from tests.cli.typed import conformance_


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


@pytest.mark.parametrize("shell", SHELLS)
def test_the_command_prints_the_same_script(shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable has to be known for it."""
    monkeypatch.setattr("click.shell_completion.BashComplete._check_version", lambda *_: None)  # it starts a bash

    done = conformance_("completion", shell)

    assert done.exit_code == 0
    assert f"_CONFORMANCE_COMPLETE={shell}_complete" in done.stdout


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


def asked(
    words: Mapping[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[int | str | None, str, str]:
    """The status, output and errors of a question with these variables."""
    for name in ("COMP_WORDS", "COMP_CWORD"):
        monkeypatch.delenv(name, raising=False)
    for name, value in words.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as ended:
        main([])
    output, errors = capsys.readouterr()
    return ended.value.code, output, errors


@pytest.mark.parametrize("words", ["conformance nosuch x", "conformance --bad nosuch x", 'conformance nosuch "x'])
def test_a_line_that_is_no_command_line_is_completed_by_nothing(
    words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever types it presses the tabulator in the middle: no words come, and no traceback."""
    question = {"_CONFORMANCE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}

    assert asked(question, monkeypatch, capsys) in ((0, "", ""), (0, "\n", ""))


def test_a_place_in_which_no_command_works_completes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As where the current directory was removed."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    question = {"_CONFORMANCE_COMPLETE": "zsh_complete", "COMP_WORDS": "conformance run --", "COMP_CWORD": "2"}

    assert asked(question, monkeypatch, capsys) == (0, "", "")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"_CONFORMANCE_COMPLETE": "junk_complete"}, "expected such as bash_source"),
        ({"_CONFORMANCE_COMPLETE": "bash_\x1b[31m"}, r"got 'bash_\\x1b[31m'"),
        ({"_CONFORMANCE_COMPLETE": "bash_complete"}, "expected COMP_WORDS and COMP_CWORD"),
        ({"_CONFORMANCE_COMPLETE": "bash_complete", "COMP_WORDS": "conformance"}, "expected COMP_WORDS and COMP_CWORD"),
        ({"_CONFORMANCE_COMPLETE": "zsh_complete", "COMP_WORDS": "", "COMP_CWORD": "x"}, "zsh_source prints it"),
        ({"_CONFORMANCE_COMPLETE": "fish_complete", "COMP_WORDS": "", "COMP_CWORD": " "}, "fish_source prints it"),
    ],
)
def test_a_question_that_no_shell_asks_ends_in_one_sentence(
    words: dict[str, str], sentence: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The status is 2, as of any other input that cannot be used."""
    status, output, errors = asked(words, monkeypatch, capsys)

    assert (status, output) == (2, "")
    assert sentence in errors
    assert errors.count("\n") == 1
