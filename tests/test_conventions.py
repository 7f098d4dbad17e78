"""What a code host reads of a repository: workflows, forms, the citation, the addresses of the project."""

from __future__ import annotations

import configparser
import hashlib
import os
import re
import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from packaging.version import Version

import conformance
from tests.fixtures import ROOT

GITHUB: Final = ROOT / ".github"
WORKFLOWS: Final = sorted((GITHUB / "workflows").glob("*.yml"))
ACTION: Final = GITHUB.parent / "action.yml"
FORMS: Final = sorted(path for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if path.stem != "config")
DRAFTS: Final = ROOT / "docs" / "disclosure"
"""The reports to maintainers, which a source distribution leaves out."""
COMMANDS: Final = (
    r"\.ci/run",
    r"python -m pip install (tox|'hatchling>=1\.27,<2')",
    r"! grep -n OWNER.REPO pyproject\.toml",
    r'test "\$TAG" = "v\$\(python -m hatchling version\)"',
    r"docker buildx imagetools inspect .* > base-image\.txt",
    r"grep -x '\.\*@sha256:\[0-9a-f\]\\{64\\}' base-image\.txt",
    r'docker build --file Containerfile --tag conformance --build-arg "BASE=\$\(cat base-image\.txt\)" \.',
    r"docker run --rm conformance --version",
    r'\.ci/notes "\$TAG" files > notes\.md',
    r'gh release create "\$TAG" --verify-tag --title "\$TAG" --notes-file notes\.md files/\*',
)
"""Every command of the workflows but tox."""


def read(path: Path) -> Any:
    """The content of a YAML file; its key ``on`` reads as true."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def jobs(workflow: Path) -> Iterator[Mapping[str, Any]]:
    """The jobs of a workflow."""
    yield from read(workflow)["jobs"].values()


def environments() -> set[str]:
    """The environments of tox.ini."""
    ini = configparser.ConfigParser(interpolation=None)
    ini.read(ROOT / "tox.ini", encoding="utf-8")
    return {"test", *(name.removeprefix("testenv:") for name in ini.sections())}


def test_the_workflows_are_there() -> None:
    """One for the tests, one for a release and one for the site."""
    assert [path.stem for path in WORKFLOWS] == ["ci", "release", "site"]
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_calls_commands_that_exist(workflow: Path) -> None:
    """``tox -e NAME`` has an environment, and all other commands are known here."""
    strange = []
    for job in jobs(workflow):
        for command in (step["run"] for step in job["steps"] if "run" in step):
            tox = re.fullmatch(r"tox -e ([a-z-]+)", command)
            known = tox[1] in environments() if tox else any(re.fullmatch(one, command) for one in COMMANDS)
            if not known:
                strange.append(command)

    assert strange == []


@pytest.mark.parametrize("path", [*WORKFLOWS, ACTION], ids=lambda path: path.stem)
def test_an_action_of_others_is_named_by_its_commit(path: Path) -> None:
    """Who owns an action can move its tag; the comment says which version the commit is, and Dependabot renews both."""
    used = [
        line.split("uses: ")[1]
        for line in path.read_text("utf-8").splitlines()
        if line.lstrip("- ").startswith("uses:")
    ]

    assert used
    assert [one for one in used if re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", one) is None] == []


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_may_do_no_more_than_it_needs(workflow: Path) -> None:
    """It reads the repository; what a job may do besides is said there. Actions have a major version, jobs an end."""
    assert read(workflow)["permissions"] == {"contents": "read"}
    for job in jobs(workflow):
        assert job["timeout-minutes"] <= 60
        for step in job["steps"]:
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", step.get("uses", f"a/b@{'0' * 40}"))
            assert "${{" not in step.get("run", ""), "texts reach a script as variables alone"


def test_every_supported_python_is_tested() -> None:
    """The main job has one, and the matrix has the others."""
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["classifiers"]
    declared = {line.rpartition(" ")[2] for line in classifiers if re.search(r":: 3\.\d+$", line)}
    found = read(GITHUB / "workflows" / "ci.yml")["jobs"]
    (main,) = (
        step["with"]["python-version"] for step in found["ci"]["steps"] if "setup-python" in step.get("uses", "")
    )

    assert {main, *found["pythons"]["strategy"]["matrix"]["python"]} == declared


def test_nothing_is_published_before_everything_passed() -> None:
    """The upload waits for the tests, the build and the container; the release for the upload."""
    release = read(GITHUB / "workflows" / "release.yml")["jobs"]

    assert set(release["publish"]["needs"]) == {"test", "build", "container"}
    assert release["release"]["needs"] == "publish"


def test_the_notes_of_a_release_are_its_section(tmp_path: Path) -> None:
    """With the sum of each file; a version without a section is an error."""
    (tmp_path / "a.whl").write_bytes(b"wheel")
    notes = [str(ROOT / ".ci" / "notes")]
    log = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    heading = re.findall(r"^## (\d\S*) \(", log, re.MULTILINE)[0]

    made = subprocess.run(
        [*notes, f"v{heading}", tmp_path], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    refused = subprocess.run([*notes, "v9.9.9", tmp_path], cwd=ROOT, capture_output=True, text=True, check=False)

    assert made.splitlines()[1] in log.partition(f"## {heading} ")[2]
    assert f"{hashlib.sha256(b'wheel').hexdigest()}  a.whl" in made
    assert "\n## " not in made
    assert refused.returncode == 1
    assert "no section of version 9.9.9" in refused.stderr


@pytest.mark.parametrize("form", FORMS, ids=lambda path: path.stem)
def test_a_form_can_be_filled_in(form: Path) -> None:
    """It has a name, a description, and fields with ids of their own, one of which at least has to be filled in."""
    content = read(form)
    fields = [field for field in content["body"] if field["type"] != "markdown"]

    assert {"name", "description", "title", "labels", "body"} == set(content)
    assert len({field["id"] for field in fields}) == len(fields)
    assert all(field["attributes"]["label"] for field in fields)
    assert any(field.get("validations", {}).get("required") for field in fields)


def test_there_is_a_form_for_each_reason_to_write() -> None:
    """A vulnerability has no form: it is not for the public."""
    assert [form.stem for form in FORMS] == ["bug", "dispute", "false-alarm", "new-target", "proposal"]
    assert "SECURITY.md" in (GITHUB / "ISSUE_TEMPLATE" / "bug.yml").read_text(encoding="utf-8")


def test_the_citation_is_of_the_last_release() -> None:
    """The newest version of the change log, its date, and the authors and licence of the project."""
    citation = read(ROOT / "CITATION.cff")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert Version(citation["version"]) <= Version(conformance.__version__)
    assert citation["license"] == project["license"]
    assert citation["authors"] == project["authors"]
    assert citation.get("repository-code") == project.get("urls", {}).get("Homepage")
    newest = re.findall(r"^## \d.*$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)[0]
    assert newest == f"## {citation['version']} ({citation['date-released']})"


def test_every_address_of_the_project_is_below_one() -> None:
    """So that a move changes one text."""
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"].get("urls", {})

    assert all(url.startswith(urls["Homepage"]) for url in urls.values())
    for contact in read(GITHUB / "ISSUE_TEMPLATE" / "config.yml").get("contact_links", []):
        assert contact["url"] == f"{urls['Homepage']}/security/policy"


def test_changes_have_reviewers_once_the_project_has_an_address() -> None:
    """Before, nobody can be named: a name that does not exist makes the whole file invalid."""
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"].get("urls", {})
    lines = (GITHUB / "CODEOWNERS").read_text(encoding="utf-8").splitlines()

    assert any(line and not line.startswith("#") for line in lines) == bool(urls)
    assert "CODEOWNERS" in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_the_placeholder_of_the_address_is_in_one_place() -> None:
    """The release workflow looks for it there, and the steps of a release name the file."""
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    texts = {name: (ROOT / name).read_bytes() for name in names if (ROOT / name).is_file()}
    steps = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## How to release")[2]

    places = {name for name, text in texts.items() if b"OWNER" + b"/REPO" in text}
    assert places <= {"pyproject.toml", ".github/workflows/release.yml"}
    assert "`pyproject.toml`" in steps


def test_unsent_reports_have_a_policy() -> None:
    """It says that crashes are reported first, and names the folder of the reports."""
    policy = " ".join((ROOT / "SECURITY.md").read_text(encoding="utf-8").split())

    assert "reported to the maintainers before their details are published" in policy
    assert "docs/disclosure/README.md" in policy
    drafts = (ROOT / "docs" / "disclosure" / "README.md").read_text(encoding="utf-8") if DRAFTS.exists() else policy
    assert ("No report has been sent yet" in policy) == ("None has been sent yet" in drafts or drafts is policy)


def test_no_bytes_of_a_test_hold_the_time() -> None:
    """A gzip header has the second of its making: as a parameter, it makes two workers collect two tests."""
    calls = re.compile(r"gzip\.compress\((?!.*mtime=0)")
    found = [path.name for path in (ROOT / "tests").rglob("*.py") if calls.search(path.read_text(encoding="utf-8"))]

    assert found == []
