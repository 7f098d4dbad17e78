"""``docs/probes.md``: valid data that readers have failed on, and the case or variation that produces it."""

from __future__ import annotations

import dataclasses
import tomllib
from pathlib import Path
from typing import Final

from conformance.records import from_json

__all__ = ["NAME", "PROBES", "Probe", "text"]

NAME: Final = "probes.md"

_HEAD: Final = """\
# Valid data that readers have failed on

<!-- made by `python -m publish.refresh` from publish/tables/probes.toml; a test fails if this file is out of date -->

Public software has failed on this valid data and on these valid calls. A suite that never sends them cannot show such
failures. So each is produced by a named case, by a legal variation of the reference's bytes, or by a sample of a type
that BigQuery does not have; `tests/docs/test_probes.py` checks each one.

| probe | reports | produced by |
|---|---|---|
"""
_APART: Final = """\

## Not produced

| probe | reports | why |
|---|---|---|
"""


@dataclasses.dataclass(frozen=True, slots=True)
class Probe:
    """One probe, and the cases, variations and samples that produce it; ``apart`` says why if there are none."""

    name: str
    what: str
    defects: tuple[str, ...]
    source: tuple[str, ...]
    cases: tuple[str, ...] = ()
    variations: tuple[str, ...] = ()
    samples: tuple[str, ...] = ()
    apart: str = ""


PROBES: Final = tuple(
    from_json(Probe, row)
    for row in tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["probe"]
)
"""Every probe, in the order of the file."""


def text() -> str:
    """The content of the file."""
    produced = [f"| {_named(each)} | {_by(each)} |\n" for each in PROBES if not each.apart]
    apart = [f"| {_named(each)} | {each.apart} |\n" for each in PROBES if each.apart]
    return "".join([_HEAD, *produced, _APART, *apart])


def _named(probe: Probe) -> str:
    links = " ".join(f"[{number}]({url})" for number, url in enumerate(probe.source, 1))
    return f"`{probe.name}`: {probe.what} | {', '.join(probe.defects)} {links}"


def _by(probe: Probe) -> str:
    cases = [f"case `{name}`" for name in probe.cases]
    return "<br>".join(
        [*cases, *(f"variation `{name}`" for name in probe.variations), *(f"sample `{name}`" for name in probe.samples)]
    )
