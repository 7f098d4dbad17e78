"""What a version writes, as digests to keep: a run on another machine or another day gives the same ones.

One JSON file per version: case to the digest of its values and of the bytes of each writing. A version does not
change after its release, so a difference from what was recorded is this suite's, a wheel's or the machine's.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from conformance.disk.files import write_whole
from conformance.drift.judging import content_digest
from conformance.drift.versions import DriftError, VersionAnswer

__all__ = ["Digests", "check_digests", "digests_of", "read_digests", "write_digests"]

FORMAT: Final = 1
"""Version of the files' form; it rises when a reader of the old form would misread the new one."""

VALUES: Final = "values"

DIGITS: Final = 32
"""Hexadecimal digits that are kept of a SHA-256: accidents are meant, not attacks."""


@dataclasses.dataclass(frozen=True, slots=True)
class Digests:
    """Case to ``values`` and the names of its writings, each to a digest.

    A writing with a codec has the digest of its decompressed content; one that was refused its error; one whose type
    the version lacks, ``lacking``.
    """

    seed: int
    cases: Mapping[str, Mapping[str, str]]


def digests_of(seed: int, written: Sequence[VersionAnswer], values: Sequence[VersionAnswer]) -> Digests:
    """The digests of a version's answers."""
    cases: dict[str, dict[str, str]] = {answer.id: {VALUES: answer.digest or answer.status} for answer in values}
    for answer in written:
        case, _, name = answer.id.partition("/")
        cases[case][name] = _digest(answer, name)
    return Digests(seed, cases)


def _digest(answer: VersionAnswer, name: str) -> str:
    if answer.status != "written":
        return f"{answer.error}: {answer.text}" if answer.status == "refused" else answer.status
    if "lz4" in name or "zstd" in name:
        return content_digest(name.partition("+")[0], answer.data)[:DIGITS]
    return hashlib.sha256(answer.data).hexdigest()[:DIGITS]


def write_digests(folder: Path, version: str, digests: Digests) -> None:
    """Record the digests of ``version`` in ``folder``, one case a line."""
    folder.mkdir(parents=True, exist_ok=True)
    head = json.dumps({"format": FORMAT, "pyarrow": version, "seed": digests.seed})[1:-1]
    lines = [f"  {json.dumps(case)}: {json.dumps(one)}" for case, one in sorted(digests.cases.items())]
    text = "{" + head + ', "cases": {\n' + ",\n".join(lines) + "\n}}\n"
    write_whole(folder / f"{version}.json", text.encode())


def read_digests(folder: Path, version: str) -> Digests:
    """The recorded digests of ``version``; raises :class:`DriftError` where there are none that can be read."""
    path = folder / f"{version}.json"
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["format"] != FORMAT:
            raise DriftError(f"{path}: expected format {FORMAT}, got {document['format']}")
        return Digests(document["seed"], document["cases"])
    except OSError as error:
        raise DriftError(f"{path}: cannot read: {error.strerror}; record it with conformance drift --record") from None
    except (ValueError, KeyError, TypeError) as error:
        raise DriftError(f"{path}: expected recorded digests: {error!r}") from None


def check_digests(version: str, recorded: Digests, now: Digests) -> Iterator[str]:
    """One sentence for each digest of ``now`` that is not as recorded, and for each case that is gone."""
    if recorded.seed != now.seed:
        yield f"{version}: recorded with seed {recorded.seed}, run with seed {now.seed}"
        return
    for case, found in now.cases.items():
        known = recorded.cases.get(case, {})
        for name, digest in found.items():
            if known.get(name) != digest:
                yield f"{version}: {case}/{name}: expected {known.get(name, 'nothing')}, got {digest}"
    for case in recorded.cases.keys() - now.cases.keys():
        yield f"{version}: {case}: recorded, and no longer tried"
