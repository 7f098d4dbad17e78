"""The promises of docs/support.md agree with the package's declarations and with tox."""

from __future__ import annotations

import configparser
import re
import tomllib
from typing import Final

import pytest
from packaging.version import Version

import conformance
from tests.fixtures import ROOT

PROJECT: Final = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SUPPORT: Final = (ROOT / "docs" / "support.md").read_text(encoding="utf-8")
LOG: Final = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
INI: Final = configparser.ConfigParser(interpolation=None)
INI.read(ROOT / "tox.ini", encoding="utf-8")


def first_column(heading: str) -> list[str]:
    """The versions that the table of a section begins its rows with."""
    section = SUPPORT.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| (\d[\d.]*) \|", section, re.MULTILINE)


def test_the_supported_pythons_are_declared_and_run() -> None:
    """The table, the classifiers, the lower bound, the linter's target and the group of environments agree."""
    pythons = first_column("Python")
    project = PROJECT["project"]

    declared = [line.rpartition(" ")[2] for line in project["classifiers"] if re.search(r":: 3\.\d+$", line)]
    (group,) = re.findall(r"^pythons = (.+)$", INI["tox"]["labels"], re.MULTILINE)
    assert pythons == declared
    assert [f"py{version.replace('.', '')}" for version in pythons] == group.split(", ")
    assert project["requires-python"] == f">={pythons[0]}"
    assert PROJECT["tool"]["ruff"]["target-version"] == f"py{pythons[0].replace('.', '')}"


def test_a_missing_interpreter_is_no_success() -> None:
    """An environment fails that tox cannot run."""
    assert INI["tox"]["skip_missing_interpreters"] == "false"


def test_the_versions_of_pyarrow_are_those_that_tox_installs() -> None:
    """Every row has an environment with this very version; the oldest is the package's lower bound."""
    versions = first_column("pyarrow")

    (section,) = (INI[name] for name in INI.sections() if name.startswith("testenv:pyarrow"))
    assert versions == re.findall(r"pyarrow==(\S+)", section["deps"])
    assert f"pyarrow>={versions[0].partition('.')[0]}" in PROJECT["project"]["dependencies"]


def test_the_change_log_has_the_version() -> None:
    """The newest version has a date, and is that of the package; code after a release has a later one.

    Such a version is that of the next release with ``.dev0``, and its changes are under *Unreleased*.
    """
    newest, dated = re.findall(r"^## (\d\S*)(.*)$", LOG, re.MULTILINE)[0]
    assert re.fullmatch(r" \(\d{4}-\d\d-\d\d\)", dated)
    if "\n## Unreleased\n" in LOG:
        assert conformance.__version__.endswith(".dev0")
        assert Version(conformance.__version__) > Version(newest)
    else:
        assert newest == conformance.__version__


@pytest.mark.parametrize("section", re.split(r"(?m)^## ", LOG)[1:], ids=lambda section: section.splitlines()[0])
def test_a_section_of_the_change_log_begins_with_highlights(section: str) -> None:
    """At most seven lines, before the first part or item that explains."""
    first = section.split("\n\n")[1]

    assert 1 <= len(first.splitlines()) <= 7
    assert "**" not in first


def test_sentences_of_what_is_unreleased_are_short() -> None:
    """At most 35 words, addresses not counted."""
    section = LOG.partition("## Unreleased\n")[2].partition("\n## ")[0]
    items = [" ".join(item.split()) for item in re.split(r"\n(?=- |###)|\n\n", section)]
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", item) for item in items]
    sentences = [one for item in plain for one in re.split(r"(?<=[.!?])\*{0,2} (?=[\w`*\[])", item)]

    assert [one for one in sentences if len(one.split()) > 35] == []
