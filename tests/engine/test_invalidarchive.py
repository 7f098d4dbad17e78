"""The corpus of invalid Arrow: what its index says of each input, and a program in another language that runs it."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from conformance.contract.closed import Validity
from conformance.contract.ipc.expecting import expect
from conformance.disk.files import data_file
from conformance.engine.invalidarchive import Permitted, invalid_archive, invalid_inputs
from conformance.generate.vectors import VectorError, VectorSet
from conformance.readers.ipc.adapters import ready_command, shipped
from conformance.readers.ipc.implementation import Unavailable
from conformance.records import Level
from conformance.wire import Kind
from tests.engine.ipc_standins import stream, vectors
from tests.fixtures import ROOT

FOLDER = data_file("golden", "ipc")
FEW = 30
PROGRAM = ROOT / "docs" / "examples" / "invalid" / "run.mjs"


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive of the vectors that ship, with a few changed copies, unpacked."""
    folder = tmp_path_factory.mktemp("invalid")
    (folder / "a.zip").write_bytes(invalid_archive(FOLDER, "1.2.3", changed=FEW))
    with zipfile.ZipFile(folder / "a.zip") as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture(scope="module")
def index(unpacked: Path) -> Mapping[str, Any]:
    """Its index."""
    made: Mapping[str, Any] = json.loads((unpacked / "index.json").read_text(encoding="utf-8"))
    return made


def test_index_fits_its_schema(unpacked: Path, index: Mapping[str, Any]) -> None:
    """Programs may check the index before they use it."""
    Draft202012Validator(json.loads((unpacked / "index.schema.json").read_text(encoding="utf-8"))).validate(index)


def test_every_member_is_in_the_index(unpacked: Path, index: Mapping[str, Any]) -> None:
    """Bytes have the digest and the size that the index gives, and nothing else is in the archive."""
    named = {each[key] for each in index["inputs"] for key in ("file", "rows") if key in each}
    with zipfile.ZipFile(unpacked / "a.zip") as archive:
        assert set(archive.namelist()) - named == {"README.md", "index.json", "index.schema.json"}

    for each in index["inputs"]:
        data = (unpacked / each["file"]).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (each["size"], each["sha256"]), each["id"]


def test_what_an_input_permits_follows_from_its_bytes(unpacked: Path, index: Mapping[str, Any]) -> None:
    """The suite's own reading of the bytes finds the rule; without a rule they are legal, and hostile by their size."""
    for each in index["inputs"]:
        made = expect((unpacked / each["file"]).read_bytes(), Kind(each["kind"]))
        refused = any(name.startswith("reader.refuses.") for name in made.clauses)

        assert (made.result is Validity.VALID) is ("rule" not in each), each["id"]
        assert (each["outcomes"] == [Permitted.ERROR]) is refused, each["id"]
        assert (each["level"] == Level.MAY) is not refused, each["id"]
        assert made.reason.startswith(f"{each.get('rule', 'legal')}:"), each["id"]


def test_inputs_name_their_layouts(index: Mapping[str, Any]) -> None:
    """Every layout of the format is declared by an input."""
    found = {name for each in index["inputs"] for name in each.get("layouts", ())}

    assert found >= {
        *("primitive", "variable-size-binary", "variable-size-binary-view", "variable-size-list", "list-view", "null"),
        *("fixed-size-list", "struct", "union", "run-end-encoded", "dictionary-encoded", "tensor"),
    }


def test_the_same_vectors_give_the_same_archive(unpacked: Path) -> None:
    """The bytes depend on nothing but the vectors and the version."""
    assert invalid_archive(FOLDER, "1.2.3", changed=FEW) == (unpacked / "a.zip").read_bytes()


def test_a_legal_copy_is_left_out() -> None:
    """A change that hits a value leaves the bytes legal."""
    changed = [one for one, _ in invalid_inputs(vectors(one=stream("x")), changed=FEW)]

    assert 0 < len(changed) < FEW


def test_the_readme_is_true(unpacked: Path, index: Mapping[str, Any]) -> None:
    """It has the version and the count."""
    readme = (unpacked / "README.md").read_text(encoding="utf-8")

    assert readme.startswith("# Invalid Arrow IPC data, version 1.2.3\n")
    assert f"\n{len(index['inputs'])} malformed streams, files and tensors" in readme
    assert not any(word in readme for word in ("VERSION", "COUNT", "FORMAT"))


def test_a_folder_without_the_text_is_an_error(tmp_path: Path) -> None:
    """The text says what is missing."""
    vectors(one=stream("a")).write(tmp_path)

    with pytest.raises(VectorError, match=r"INVALID.md: expected the text for the archive's README"):
        invalid_archive(tmp_path, "1")


def test_set_that_ships_is_what_the_archive_has() -> None:
    """No vector that is not valid is missing."""
    made = VectorSet.load(FOLDER)
    wanted = [name for name, each in made.vectors.items() if each.result is not Validity.VALID]

    assert [one.id for one, _ in invalid_inputs(made, changed=0)] == wanted


def test_a_program_in_another_language_is_short() -> None:
    """Fewer than 60 lines run the corpus."""
    assert len(PROGRAM.read_text(encoding="utf-8").splitlines()) < 60


def test_a_program_in_another_language_runs_it(unpacked: Path, tmp_path: Path) -> None:
    """JavaScript, with the packages of the adapter: every input has an outcome, and some are wrong as of 21.2.0."""
    try:
        ready_command(shipped()["arrow-js"])
    except Unavailable as error:
        pytest.skip(str(error))
    shutil.copy(PROGRAM, tmp_path)
    (tmp_path / "node_modules").symlink_to(ROOT / ".conformance" / "adapters" / "arrow-js" / "node_modules")

    command = ["node", "run.mjs", str(unpacked), "cut.stream."]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)

    *wrong, last = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "")
    assert last.startswith("1.2.3: ")
    assert last.endswith(f" right, {len(wrong)} wrong")
    assert any(line.startswith("cut.stream.rows.several.4 [should, prefix.truncated]: rows") for line in wrong)
