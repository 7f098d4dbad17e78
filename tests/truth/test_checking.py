"""What `truth check` finds, with its place."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conformance.disk import pipes
from conformance.truth.checking import aged, before, changed_cases, period, problems
from conformance.truth.pack import RECORDINGS, PackError, read_pack
from conformance.truth.scanning import leaks
from tests.truth.packs import FEW, cases, load, save


def changed(pack: Path, folder: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """A copy of a pack after a change of its files."""
    files = load(pack)
    change(files)
    save(files, folder)
    return folder


def test_a_pack_as_it_was_made_has_no_problem(pack: Path) -> None:
    """It agrees with itself, and with the cases of this suite."""
    found = read_pack(pack)

    assert list(problems(found)) == []
    assert changed_cases(found, {case.id: case for case in cases()}) == ()


def test_a_damaged_digest_is_named(pack: Path, tmp_path: Path) -> None:
    """The digest is that of what the recording shows."""
    copy = changed(pack, tmp_path, lambda files: files["confirmations.json"]["confirmations"][0].update(sha256="0"))

    assert list(problems(read_pack(copy))) == [
        "confirmations.json, confirmations[0].sha256: not the digest of recordings/1.jsonl"
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Not found: projects/my-project-1", "a project id: 'my-project-1'"),
        ("ask jane@example.org", "an e-mail address: 'jane@example.org'"),
        ("from 203.0.113.7", "an IP address: '203.0.113.7'"),
        ("from 2001:db8::7", "an IP address: '2001:db8::7'"),
        ("ya29.a0AfH6SMBx1234567890", "an access token"),
        ("AIzaSyA1234567890abcdefghijklmnopqrstuv", "an API key"),
        ("Bearer abcdefgh12345", "a credential"),
        ("token=hunter22", "a secret"),
        ("project number 123456789012", "a number that may be that of a project: '123456789012'"),
        ("-----BEGIN RSA PRIVATE KEY-----", "a private key"),
        ("id Zm9vYmFyQmF6UXV4MTIzNDU2Nzg5MA", "an opaque id"),
    ],
)
def test_what_must_not_be_published_is_found(text: str, words: str, pack: Path) -> None:
    """The place and the kind are named; a reference in the same place is nothing."""
    found = read_pack(pack)
    (line, entry) = next((line, one) for line, one in enumerate(found.recordings["1"].entries) if one.case_id == FEW[1])
    assert entry.exchange is not None
    calls = (dataclasses.replace(entry.exchange.calls[0], details=text),)
    leaking = dataclasses.replace(entry, exchange=dataclasses.replace(entry.exchange, calls=calls))
    taken = found.recordings["1"]
    entries = (*taken.entries[:line], leaking, *taken.entries[line + 1 :])
    other = dataclasses.replace(
        found, recordings={**found.recordings, "1": dataclasses.replace(taken, entries=entries)}
    )

    said = list(leaks(other))

    assert said
    assert any(words in one for one in said), said
    assert said[0].startswith(f"recordings/1.jsonl, line {line + 2}: entry.exchange.calls[0].details: ")


def test_a_case_that_is_another_one_today_is_named(pack: Path) -> None:
    """Its answer is about the case that was recorded."""
    corpus = {case.id: case for case in cases()}
    corpus[FEW[0]] = dataclasses.replace(corpus[FEW[0]], title="another one")

    assert changed_cases(read_pack(pack), corpus) == (FEW[0],)


def test_old_answers_are_listed(pack: Path) -> None:
    """An answer is as old as its latest recording."""
    found = read_pack(pack)

    assert list(aged(found, dt.date(2026, 3, 2))) == []
    assert {case for case, _, _ in aged(found, dt.date(2026, 3, 3))} == set(FEW)


@pytest.mark.parametrize("text", ["90", "d", "0d", "-1d", "1w", "٣d"])
def test_a_period_is_a_number_of_days(text: str) -> None:
    """Anything else is refused in one sentence."""
    assert period("90d") == dt.timedelta(days=90)
    with pytest.raises(ValueError, match="expected a number of days such as 90d, got "):
        period(text)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda files: files["verdicts.json"].update(more=1), "verdicts.json.more: expected one of the keys"),
        (lambda files: files["verdicts.json"].update(format=2), "expected a pack of format 1, got 2; update the suite"),
        (lambda files: files["recordings/1.jsonl"][1].pop("exchange"), "expected an exchange, or why there is none"),
        (lambda files: files["recordings/2.jsonl"][0].pop("began"), "line 1.began: expected a value"),
    ],
)
def test_what_is_no_pack_is_refused_with_its_place(
    change: Callable[[dict[str, Any]], object], said: str, pack: Path, tmp_path: Path
) -> None:
    """Packs come from anybody."""
    with pytest.raises(PackError) as error:
        read_pack(changed(pack, tmp_path, change))

    assert said in str(error.value)


def test_a_folder_without_recordings_says_what_to_do(tmp_path: Path) -> None:
    """It may be any folder."""
    with pytest.raises(PackError, match="`conformance truth make` makes one"):
        read_pack(tmp_path)


def test_a_line_that_is_no_json_is_named(pack: Path, tmp_path: Path) -> None:
    """The file and the line."""
    save(load(pack), tmp_path)
    path = tmp_path / "recordings" / "1.jsonl"
    path.write_text(path.read_text() + "{\n")

    with pytest.raises(PackError, match=rf"1.jsonl, line {2 + len(FEW)}: expected a JSON object"):
        read_pack(tmp_path)
    assert json.loads((tmp_path / "verdicts.json").read_text())["format"] == 1


def test_an_age_before_the_calendar_is_its_first_day() -> None:
    """Nothing is older."""
    assert before(dt.date(1, 1, 1), period("90d")) == dt.date.min
    assert before(dt.date(2026, 11, 28), period("90d")) == dt.date(2026, 8, 30)


def test_a_pipe_in_a_pack_is_not_waited_for(pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody writes into it."""
    monkeypatch.setattr(pipes, "FIRST_SECONDS", 0)
    copy = shutil.copytree(pack, tmp_path / "copy")
    recording = next((copy / RECORDINGS).iterdir())
    recording.unlink()
    os.mkfifo(recording)

    with pytest.raises(OSError, match="nothing came through the pipe"):
        read_pack(copy)


@pytest.mark.parametrize("name", [f"{RECORDINGS}/1.jsonl", "verdicts.json", RECORDINGS])
def test_a_pack_of_links_is_not_read(pack: Path, tmp_path: Path, name: str) -> None:
    """A stranger's link would lead to a file of this machine, whose first bytes an error would quote."""
    copy = Path(shutil.copytree(pack, tmp_path / "copy"))
    (copy / name).rename(tmp_path / "elsewhere")
    (copy / name).symlink_to(tmp_path / "elsewhere")

    with pytest.raises(PackError, match="expected a truth pack without links"):
        read_pack(copy)
