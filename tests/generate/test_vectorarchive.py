"""The archive of all golden vectors: read by a program that has nothing but a standard library."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from conformance.disk.files import data_file
from conformance.generate.vectorarchive import archive_name, vector_archive
from conformance.generate.vectors import VectorError, VectorSet
from tests.engine.ipc_standins import stream, vectors

FOLDER = data_file("golden", "ipc")

READER = """
import hashlib, json, sys, zipfile

with zipfile.ZipFile(sys.argv[1]) as archive:
    index = json.loads(archive.read("index.json"))
    for vector in index["vectors"]:
        data = archive.read(vector["file"])
        assert len(data) == vector["size"], vector["id"]
        assert hashlib.sha256(data).hexdigest() == vector["sha256"], vector["id"]
        assert vector["kind"] in ("stream", "file", "tensor"), vector["id"]
        assert vector["result"] in ("valid", "invalid", "permitted"), vector["id"]
        assert vector["tier"] in ("core", "optional", "structure", "content"), vector["id"]
        assert isinstance(vector["clauses"], list), vector["id"]
        if "rows" in vector:
            assert json.loads(archive.read(vector["rows"]))["schema"]["fields"] is not None, vector["id"]
    print(index["version"], index["format"], index["licence"], len(index["vectors"]))
"""


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive of the vectors that ship."""
    path = tmp_path_factory.mktemp("archive") / archive_name("1.2.3")
    path.write_bytes(vector_archive(FOLDER, "1.2.3"))
    return path


def alone(script: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A script run by an interpreter that sees its standard library alone."""
    command = [sys.executable, "-I", "-S", "-c", script, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)


def test_standard_library_is_enough(archive: Path, tmp_path: Path) -> None:
    """Every vector is there, with the digest and the size that the index says, and rows that parse."""
    done = alone(READER, str(archive), cwd=tmp_path)

    count = len(VectorSet.load(FOLDER).vectors)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"1.2.3 2 Apache-2.0 {count}\n", "")


def test_archive_holds_what_its_index_names(archive: Path) -> None:
    """No member is there without a vector, but for the index, its schema and the README."""
    with zipfile.ZipFile(archive) as opened:
        names = set(opened.namelist())
        index = json.loads(opened.read("index.json"))

    named = {vector[key] for vector in index["vectors"] for key in ("file", "rows") if key in vector}
    assert names - named == {"README.md", "index.json", "index.schema.json"}
    assert named <= names


def test_index_fits_the_schema_beside_it(archive: Path) -> None:
    """Programs may check the index before they use it."""
    with zipfile.ZipFile(archive) as opened:
        schema, index = (json.loads(opened.read(name)) for name in ("index.schema.json", "index.json"))

    Draft202012Validator(schema).validate(index)


def test_same_vectors_give_the_same_archive(archive: Path) -> None:
    """The bytes depend on nothing but the vectors and the version."""
    assert vector_archive(FOLDER, "1.2.3") == archive.read_bytes()


def test_readme_of_the_archive_is_true(archive: Path) -> None:
    """It has the version and the count; its Python line runs where the archive is."""
    with zipfile.ZipFile(archive) as opened:
        readme = opened.read("README.md").decode()
    (line,) = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)

    done = alone(f"import zipfile\n{line}\nprint(len(data))", cwd=archive.parent)

    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) > 0
    assert readme.startswith("# Golden vectors for Arrow IPC, version 1.2.3\n")
    assert f"\n{len(VectorSet.load(FOLDER).vectors)} streams, files and tensors" in readme
    assert not re.search(r"VERSION|COUNT|FORMAT|vectors/", readme)


def test_lost_text_of_the_readme_is_an_error(tmp_path: Path) -> None:
    """A folder without the texts is refused, and so is a README whose section has another name."""
    vectors(one=stream("a")).write(tmp_path)

    with pytest.raises(VectorError, match=r"ARCHIVE.md: expected the text for the archive's README: No such file"):
        vector_archive(tmp_path, "1")

    shutil.copy(FOLDER / "ARCHIVE.md", tmp_path)
    (tmp_path / "README.md").write_text("# Golden vectors\n\n## Another vector\n")
    with pytest.raises(VectorError, match=r"expected the section 'A vector', got \['Another vector'\]"):
        vector_archive(tmp_path, "1")
