"""``python -m publish.refresh`` on files of its own: what it writes, what it says, and how it ends."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import pytest

from publish.generated import Part
from publish.refresh import Change, main

OLD = '"rows.a": 1\n"rows.b": 2\n'
NEW = '"rows.a": 1\n"rows.c": 3\n'


@pytest.fixture
def parts(tmp_path: Path) -> Sequence[Part]:
    """A list that is out of date with a file that is no longer made, its page, and a part that is up to date."""
    folder = tmp_path / "list"
    folder.mkdir()
    (folder / "ids.json").write_text(OLD)
    (folder / "old.bin").write_bytes(b"\xff")
    (tmp_path / "same.txt").write_text("same\n")

    def page() -> dict[Path, str]:
        return {
            tmp_path / "page.md": f"{len((folder / 'ids.json').read_text())} bytes, of {len([*folder.iterdir()])}\n"
        }

    return (
        Part(
            "list", lambda: {folder / "ids.json": NEW, folder / "more" / "b": b"\0"}, owns=("list/*.*",), root=tmp_path
        ),
        Part("page", page, after=("list",), root=tmp_path),
        Part("same", lambda: {tmp_path / "same.txt": "same\n"}, root=tmp_path),
    )


CHANGED = """\
list/ids.json: + rows.c; - rows.b; lines +1 -1
list/more/b: new
list/old.bin: removed
"""


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_check_writes_nothing_and_says_what_would_change(
    parts: Sequence[Part], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the parts to name, and a word on what is made from files that are out of date."""
    before = contents(tmp_path)

    status = main(["--check"], parts)

    out = capsys.readouterr().out
    assert status == 1
    assert contents(tmp_path) == before
    assert out.startswith(
        CHANGED + "page.md: new\npage is made from list too, and may change further\n"
        "4 files out of date; run `python -m publish.refresh list page`\nprocessor seconds: "
    )


def test_files_are_written_in_order_with_the_same_words(
    parts: Sequence[Part], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The page is made from the new list, and the check that follows finds nothing."""
    status = main([], parts)

    assert status == 0
    assert capsys.readouterr().out.startswith(CHANGED + "page.md: new\n4 files written\nprocessor seconds: ")
    assert contents(tmp_path) == {
        "list/ids.json": NEW.encode(),
        "list/more/b": b"\0",
        "page.md": b"24 bytes, of 2\n",
        "same.txt": b"same\n",
    }
    assert main(["--check"], parts) == 0
    assert capsys.readouterr().out.startswith("every file is up to date\nprocessor seconds: ")


def test_parts_are_chosen_by_name(parts: Sequence[Part], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The others stay as they are; every part that was made has its seconds."""
    assert main(["page", "same"], parts) == 0

    assert capsys.readouterr().out.splitlines()[-1].count("page ") == 1
    assert (tmp_path / "list" / "ids.json").read_text() == OLD
    assert (tmp_path / "page.md").exists()


def test_a_name_that_no_part_has_is_refused(parts: Sequence[Part], capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything is written."""
    with pytest.raises(SystemExit) as ended:
        main(["pages", "list"], parts)

    assert ended.value.code == 2
    assert "expected names of parts, got pages" in capsys.readouterr().err


def test_a_part_of_another_pyarrow_stays_as_it_is(
    parts: Sequence[Part], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command says so, and does not fail."""
    monkeypatch.setattr("publish.generated.pa.__version__", "14.0.2")
    bound = [dataclasses.replace(parts[0], of_pyarrow=True)]

    assert main(["--check"], bound) == 0
    assert capsys.readouterr().out.startswith(
        "list is left as it is: its files hold words and bytes of pyarrow 26.0.1, and this is 14.0.2\n"
    )
    assert (tmp_path / "list" / "ids.json").read_text() == OLD


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (b"a\nb\n", b"b\na\n", "the same lines in another order"),
        (b"", b"a.b a.c a.d a.e a.f\n", "+ a.b, a.c, a.d and 2 more; lines +1 -0"),
        (b"of docs/a.md, https://a.example/b 1.5 Store.clock()\n", b"x\n", "lines +1 -1"),
        (b"\xff" * 1500, b"\xff", "1,500 bytes become 1"),
    ],
)
def test_a_change_is_said_in_a_line(before: bytes, after: bytes, said: str, tmp_path: Path) -> None:
    """Ids, lines or bytes."""
    assert Change(tmp_path / "x", before, after).line(tmp_path) == f"x: {said}"
