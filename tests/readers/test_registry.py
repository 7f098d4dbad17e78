"""The register: one module is one reader, and everything about it is a fact that can be checked."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib

import pyarrow as pa
import pytest

from conformance.readers import READERS, ReaderInfo, Takes
from conformance.readers.agreement import undone
from conformance.readers.registry import MODULES, reader_module
from tests.fixtures import ROOT


@pytest.mark.parametrize("info", READERS.values(), ids=READERS)
def test_package_is_declared(info: ReaderInfo) -> None:
    """The distribution of every reader is a dependency or in the extra for readers."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    declared = [*project["dependencies"], *project["optional-dependencies"]["readers"]]

    assert info.package in {re.split(r"[<>=~!\[ ]", one)[0] for one in declared}


@pytest.mark.parametrize(("name", "path"), MODULES.items(), ids=MODULES)
def test_place_says_how_the_bytes_are_taken(name: str, path: str) -> None:
    """Readers of a server are clients, all others decoders; the register lists decoders first."""
    room = "clients" if READERS[name].takes in (Takes.SERVER, Takes.QUERY) else "decoders"

    assert path.split(".")[-2] == room
    assert sorted(MODULES.values(), key=lambda one: "decoders" not in one) == list(MODULES.values())


def test_rewrites_name_types_that_exist() -> None:
    """Every rewrite that the comparison has to undo names a type that pyarrow knows."""
    rewrites = [one for info in READERS.values() if not info.through_pandas for one in info.rewrites]

    assert rewrites
    for one in rewrites:
        assert one.source.startswith("https://")
        assert one.before == "list" or pa.type_for_alias(one.before) is not None


def test_rewrites_are_undone_at_every_depth() -> None:
    """Polars' types for nested columns are converted back to the sent types."""
    sent = pa.list_(pa.struct([("s", pa.string()), ("t", pa.list_(pa.time64("us")))]))
    returned = pa.large_list(pa.struct([("s", pa.string_view()), ("t", pa.large_list(pa.time64("ns")))]))
    table = pa.table({"x": pa.array([[{"s": "a", "t": [1]}], None], sent).cast(returned)})

    assert undone(table, READERS["polars.stream"]).column("x").type == sent


def test_module_that_is_no_reader() -> None:
    """A module without a reader is refused with what was expected of it."""
    with pytest.raises(TypeError, match=r"expected a reader in conformance\.contain\.channel: INFO, a ReaderInfo"):
        reader_module("conformance.contain.channel")


def test_listing_readers_imports_none_of_their_libraries() -> None:
    """The facts about readers can be listed where no reader is installed, and cost no import of one."""
    script = """
import sys
from conformance.readers import READERS
foreign = {"google.cloud", "grpc", "nanoarrow", "arro3", "polars", "pandas", "requests"} & set(sys.modules)
assert READERS and not foreign, foreign
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")


def test_a_process_of_an_arrow_library_imports_no_records() -> None:
    """It knows messages, jobs and rows alone, and each library has a process."""
    script = """
import sys
import conformance.readers.ipc.worker
import conformance.readers
needless = {"conformance.records", "conformance.readers.pool", "conformance.readers.registry", "google", "yaml"}
assert not needless & set(sys.modules), needless & set(sys.modules)
assert {getattr(conformance.readers, name) for name in ("Rewrite", "ReaderPool")}
assert not hasattr(conformance.readers, "ReaderPond")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
