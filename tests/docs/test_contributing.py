"""The examples of CONTRIBUTING.md: each diff is applied to a copy of the suite, where its commands do what is shown."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.docs.snippets import Block, Desk, blocks, steps
from tests.fixtures import ROOT

FOLDER: Final = ROOT / "docs" / "examples" / "contributing"
DIFFS: Final = {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.diff"))}
COPIED: Final = [
    *(ROOT / name for name in ("conformance", "cases", "targets", "publish")),
    *(ROOT / "golden").glob("*.json"),
]
"""The files that the commands change or run."""

_APPLY: Final = "git apply docs/examples/contributing/{}.diff"

SHOWN: Final[dict[str, Block]] = {
    name: block
    for block in blocks(ROOT / "CONTRIBUTING.md")
    if block.language == "console"
    for name in DIFFS
    if any(step.command == _APPLY.format(name) for step in steps(block))
}
"""The block of the guide that applies each diff."""

WITHOUT: Final = {
    "clause": "conformance explain errors.permanent-one-is-no-stack-trace",
    "case": "conformance show restriction.not-between",
    "target": "conformance prepare --target targets/names-its-origin.toml",
    "reader": "conformance list readers --select pyarrow.pandas",
}
"""A command for each diff that is refused where the diff is not applied."""

READ: Final = """
from conformance.disk.files import data_file
from conformance.engine.corpus import resolve_case
from conformance.generate import materialise
from conformance.readers import ReaderPool
from conformance.targets import load_target, open_target

case = resolve_case("types.int64")
with open_target(load_target(data_file("targets", "reference.toml"))) as target:
    exchange = target.drive(case, materialise(case.table))
with ReaderPool(1, readers=("pyarrow.pandas",)) as pool:
    print(*(f"{reading.reader} {reading.outcome}" for reading in pool.read(case, exchange)))
"""

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not here, and applies the diffs")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A working copy of one's own."""
    return Desk(tmp_path, {}, copied=COPIED)


def test_the_guide_shows_each_diff() -> None:
    """The four kinds of things that contributors add, and each is applied by a block of the guide."""
    assert set(DIFFS) == set(SHOWN) == {"clause", "case", "target", "reader"}


@pytest.mark.parametrize("name", DIFFS)
def test_a_thing_is_added_in_one_place(name: str) -> None:
    """One file, and for a clause a second one: that of its mutant."""
    touched = re.findall(r"^\+\+\+ b/(.+)$", DIFFS[name], re.MULTILINE)

    assert len(touched) == (2 if name == "clause" else 1)
    assert len(re.findall(r"^@@ ", DIFFS[name], re.MULTILINE)) == len(touched)
    assert not re.search(r"^-(?!--)", DIFFS[name], re.MULTILINE)


@needs_git
@pytest.mark.parametrize("name", DIFFS)
def test_a_diff_applies_to_this_checkout(name: str) -> None:
    """No line around the added ones has changed since the guide was written."""
    command = ["git", "apply", "--check", FOLDER / f"{name}.diff"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)

    assert (done.returncode, done.stderr) == (0, "")


@needs_git
@pytest.mark.slow(env="studies")
@pytest.mark.timeout(900)  # a proof is many cases, and a busy machine is no defect
@pytest.mark.parametrize("name", DIFFS)
def test_an_example_does_what_the_guide_shows(name: str, desk: Desk) -> None:
    """Without the diff the thing does not exist; with it each command prints the lines below it."""
    status, printed = desk.run(WITHOUT[name])
    assert status == 2, printed

    desk.follow(SHOWN[name])


@needs_git
@pytest.mark.slow(env="studies")
def test_the_new_reader_reads_what_the_reference_sends(desk: Desk) -> None:
    """It comes to a table, and the suite that runs is the copy."""
    desk.run(_APPLY.format("reader"))
    (desk.work / "read.py").write_text(READ, encoding="utf-8")

    assert desk.run("python read.py") == (0, "pyarrow.pandas table\n")
    assert desk.run("python -c 'import conformance; print(*conformance.__path__)'")[1].startswith(str(desk.work))
