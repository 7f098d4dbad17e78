"""The golden pairs in the repository, and the check's findings on changed ones."""

from __future__ import annotations

import shutil
from pathlib import Path

from conformance.reference.goldenpairs import check, pairs

GOLDEN = Path(__file__).parents[2] / "golden" / "bq-arrow"


def test_a_changed_byte_is_found(tmp_path: Path) -> None:
    """One other byte in one file is named with its file."""
    folder = tmp_path / "golden"
    shutil.copytree(GOLDEN, folder)
    spoilt = folder / "bignumeric-nullable.batch"
    data = bytearray(spoilt.read_bytes())
    data[-1] ^= 1
    spoilt.write_bytes(bytes(data))

    complaints = check(folder)

    assert complaints
    assert all(complaint.startswith("bignumeric-nullable") for complaint in complaints)


def test_an_absent_file_is_found(tmp_path: Path) -> None:
    """A pair of which a file is missing is named."""
    folder = tmp_path / "golden"
    shutil.copytree(GOLDEN, folder)
    (folder / "bignumeric-nullable.batch").unlink()

    assert check(folder) == ["bignumeric-nullable.batch: the file is not there"]


def test_there_is_a_pair_for_every_type_and_mode() -> None:
    """The pairs have names of their own."""
    names = [pair.name for pair in pairs()]

    assert len(names) == len(set(names)) >= 48
