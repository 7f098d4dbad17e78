"""Stand-ins for versions: the installed pyarrow with one change, in workers that are faulty, die or differ."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from conformance.contain.supervised import Group
from conformance.drift.run import Drift, DriftPlan, run_drift
from conformance.drift.versions import Version, VersionAnswer, ask

SMALL: Final = DriftPlan(share=0.01, mutants=40, kinds=("primitive", "nested"), catalogue=False)
"""Three recipes of two classes, and a few mutants."""

_SCRIPT: Final = """\
import sys
sys.path.insert(0, {root!r})
from conformance.drift import worker
{change}
worker.main()
"""

SAME: Final = ""
ANOTHER: Final = "# as it is\n"
"""The same, which is always asked in a process of its own."""
DIES: Final = """
import os
read = worker._OPERATIONS["read"]
def dying(job):
    if job["id"].startswith("primitive.000/stream"):
        os.abort()
    return read(job)
worker._OPERATIONS["read"] = dying
"""
MISREADS: Final = """
read = worker._OPERATIONS["read"]
def misreading(job):
    answer = read(job)
    if job["id"].startswith("primitive.000/stream") and answer["rows"]:
        answer["digest"] = "0" * 32
    return answer
worker._OPERATIONS["read"] = misreading
"""
REFUSES: Final = """
read = worker._OPERATIONS["read"]
def refusing(job):
    if job["id"].startswith("primitive.000/stream"):
        raise ValueError("no longer")
    return read(job)
worker._OPERATIONS["read"] = refusing
"""
ACCEPTS: Final = """
read = worker._OPERATIONS["read"]
def accepting(job):
    try:
        return read(job)
    except worker._Refused:
        return {"status": "rows", "digest": "", "types": [], "rows": 0}
worker._OPERATIONS["read"] = accepting
"""
PADS: Final = """
written = worker._written
def padding(job, schema, batches):
    data = written(job, schema, batches)
    return data + bytes(8) if job["container"] == "stream" and job["id"].startswith("primitive.") else data
worker._written = padding
"""
"""Bytes after the end of a stream: no rule forbids them, and every reader leaves them alone."""
CUTS: Final = """
written = worker._written
def cutting(job, schema, batches):
    data = written(job, schema, batches)
    return data[:-6] + b"ARROW2" if job["id"].startswith("primitive.000/file") else data
worker._written = cutting
"""
CHANGES: Final = """
import pyarrow as pa
written = worker._written
def changing(job, schema, batches):
    if job["id"].startswith("primitive.001/") and batches:
        batches = [batch.slice(0, max(0, batch.num_rows - 1)) for batch in batches]
    return written(job, schema, batches)
worker._written = changing
"""
SPILLS: Final = """
written = worker._written
count = [0]
def spilling(job, schema, batches):
    count[0] += 1
    data = written(job, schema, batches)
    return data + bytes([count[0] % 2] * 8) if job["id"] == "primitive.001/stream" else data
worker._written = spilling
"""
REWORDS: Final = """
told = worker._told
worker._told = lambda error: told(error) | {"text": "in other words"}
"""
LACKS: Final = """
from conformance.drift import building
def lacking(kind):
    raise building.LackingError("this pyarrow has no large_list")
building._NESTED["large_list"] = lacking
"""


def version(folder: Path, name: str, change: str) -> Version:
    """The installed pyarrow under the name ``name``, with ``change`` made to its worker."""
    script = folder / f"{name}.py"
    script.write_text(_script(change), encoding="utf-8")
    return Version(f"installed-{name}", Path(sys.executable), script)


_KNOWN: Final[dict[str, VersionAnswer]] = {}
"""What the installed pyarrow, unchanged, answered to each job."""


@contextlib.contextmanager
def unchanged_once() -> Iterator[None]:
    """Within the context, the unchanged version is asked each job once: a job has all that an answer depends on."""

    def asked(
        version: Version, jobs: Sequence[Mapping[str, Any]], *, group: Group | None = None
    ) -> list[VersionAnswer]:
        if version.worker.read_text(encoding="utf-8") != _script(SAME):
            return ask(version, jobs, group=group)
        keys = [json.dumps(job, sort_keys=True) for job in jobs]
        new = {key: job for key, job in zip(keys, jobs, strict=True) if key not in _KNOWN}
        if new:
            _KNOWN.update(zip(new, ask(version, [*new.values()], group=group), strict=True))
        return [_KNOWN[key] for key in keys]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("conformance.drift.run.ask", asked)
        yield


def _script(change: str) -> str:
    return _SCRIPT.format(root=str(Path(__file__).resolve().parents[2]), change=change)


def drift(folder: Path, change: str, plan: DriftPlan = SMALL) -> Drift:
    """The installed pyarrow compared with itself, changed."""
    return run_drift([version(folder, "old", SAME), version(folder, "new", change)], plan)
