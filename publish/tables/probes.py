"""``docs/probes.md``: what readers have failed on, and the case or variation that produces it."""

from __future__ import annotations

import dataclasses
import tomllib
from pathlib import Path
from typing import Final

from conformance.records import from_json

__all__ = ["NAME", "PROBES", "Probe", "text"]

NAME: Final = "probes.md"

_HEAD: Final = """\
# What readers have failed on

<!-- made by `python -m publish.tables` from publish/tables/probes.toml; a test fails where this file is out of date -->

Valid data and calls on which public software has failed. A suite that never sends them cannot show it, so each is
produced by a named case, by a legal variation of the reference's bytes, or by a sample of a type that BigQuery has not;
`tests/docs/test_probes.py` shows of each that it really is.

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
    """One probe: what produces it, or in ``apart`` why nothing does."""

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
    return f"**{probe.name}**: {probe.what} | {', '.join(probe.defects)} {links}"


def _by(probe: Probe) -> str:
    cases = [f"case `{name}`" for name in probe.cases]
    return "<br>".join(
        [*cases, *(f"variation `{name}`" for name in probe.variations), *(f"sample `{name}`" for name in probe.samples)]
    )
