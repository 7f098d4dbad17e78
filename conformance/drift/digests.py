"""Digests of a version's written bytes, for recording: a run on another machine or another day gives the same digests.

One JSON file per version maps each case to the digest of its values and of the bytes of each writing; versions hardly
differ, so that all but the oldest have only the cases that differ from the version before. A version does not change
after its release, so that a difference from its record comes from this suite, a wheel or the machine.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from conformance.disk.files import read_text, write_inside
from conformance.drift.bytejudging import content_digest
from conformance.drift.versions import DriftError, VersionAnswer

__all__ = ["CaseDigests", "check_digests", "digests_of", "read_digests", "write_digests"]

FORMAT: Final = 3
"""The version of the file format; it increases when a reader of the old format would misread the new one. The first
had every case in each file, and the second 32 digits of each digest.
"""

VALUES: Final = "values"

DIGITS: Final = 12
"""Hexadecimal digits kept of a SHA-256: enough to detect accidents, not attacks."""

_DIGEST: Final = re.compile("[0-9a-f]{32,64}")


@dataclasses.dataclass(frozen=True, slots=True)
class CaseDigests:
    """The digest of each case's ``values`` and of each of its writings.

    A writing with a codec has the digest of its decompressed content. In place of a digest, a refused writing has its
    error, and a writing whose type the version lacks has ``lacking``.
    """

    seed: int
    cases: Mapping[str, Mapping[str, str]]


def digests_of(seed: int, written: Sequence[VersionAnswer], values: Sequence[VersionAnswer]) -> CaseDigests:
    """The digests of a version's answers; the cases of ``written`` are those of ``values``."""
    cases: dict[str, dict[str, str]] = {answer.id: {VALUES: _kept(answer.digest) or answer.status} for answer in values}
    for answer in written:
        case, _, name = answer.id.partition("/")
        cases[case][name] = _digest(answer, name)
    return CaseDigests(seed, cases)


def _digest(answer: VersionAnswer, name: str) -> str:
    if answer.status != "written":
        return f"{answer.error}: {answer.text}" if answer.status == "refused" else answer.status
    if "lz4" in name or "zstd" in name:
        return _kept(content_digest(name.partition("+")[0], answer.data))
    return _kept(hashlib.sha256(answer.data).hexdigest())


def _kept(found: str) -> str:
    """What is recorded of a digest; what stands in its place is recorded as it is."""
    return found[:DIGITS] if _DIGEST.fullmatch(found) else found


def write_digests(folder: Path, version: str, digests: CaseDigests) -> None:
    """Record the digests of ``version`` in ``folder``, one line per case, and write all others anew beside them.

    Raises:
        DriftError: the digests of another version cannot be read.
    """
    folder.mkdir(parents=True, exist_ok=True)
    known = {path.stem: read_digests(folder, path.stem) for path in folder.glob("*.json") if path.stem != version}
    known[version] = digests
    before, of_before = "", CaseDigests(digests.seed, {})
    for name, one in sorted(known.items(), key=lambda item: _release(item[0])):
        extends = one.seed == of_before.seed and one.cases.keys() >= of_before.cases.keys()
        write_inside(folder, f"{name}.json", _text(name, one, before if extends else "", of_before).encode())
        before, of_before = name, one


def _release(version: str) -> tuple[Sequence[int], str]:
    return [int(part) for part in re.findall(r"\d+", version)], version


def _text(version: str, one: CaseDigests, base: str, of_base: CaseDigests) -> str:
    """The file of a version; without a ``base``, it has every case."""
    known = of_base.cases if base else {}
    cases = {case: found for case, found in sorted(one.cases.items()) if found != known.get(case)}
    head = json.dumps({"format": FORMAT, "pyarrow": version, "seed": one.seed} | ({"base": base} if base else {}))[1:-1]
    lines = ",\n".join(f"  {json.dumps(case)}: {json.dumps(found)}" for case, found in cases.items())
    return "{" + head + ', "cases": {\n' + lines + "\n}}\n"


def read_digests(folder: Path, version: str) -> CaseDigests:
    """The recorded digests of ``version``; raises :class:`DriftError` if they are missing or cannot be read."""
    path = folder / f"{version}.json"
    document = _document(path)
    try:
        cases = {case: {name: _kept(one) for name, one in made.items()} for case, made in document["cases"].items()}
        base, found = document.get("base", ""), CaseDigests(document["seed"], cases)
        known = _earlier(folder, base, version) if base else {}
        return CaseDigests(found.seed, {**known, **found.cases})
    except (AttributeError, KeyError, TypeError) as error:
        raise DriftError(f"{path}: expected recorded digests: {error!r}") from None


def _earlier(folder: Path, base: str, version: str) -> Mapping[str, Mapping[str, str]]:
    """The cases of the version that the file of ``version`` names: one before it, in the same folder."""
    if Path(base).name != base or _release(base) >= _release(version):
        raise TypeError(f"expected an earlier version as base, got {base!r}")
    return read_digests(folder, base).cases


def _document(path: Path) -> Any:
    try:
        document = json.loads(read_text(path))
        if document["format"] not in range(1, FORMAT + 1):
            raise DriftError(f"{path}: expected format {FORMAT}, got {document['format']}")
    except OSError as error:
        raise DriftError(f"{path}: cannot read: {error.strerror}; record it with conformance drift --record") from None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DriftError(f"{path}: expected recorded digests: {error!r}") from None
    return document


def check_digests(version: str, recorded: CaseDigests, now: CaseDigests) -> Iterator[str]:
    """One sentence for each digest of ``now`` that differs from its record, and for each case that is missing."""
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
