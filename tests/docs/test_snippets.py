"""Every block of code in the guides runs, or is word for word in the set-up of the builds."""

from __future__ import annotations

import configparser
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest
import yaml

from conformance.protocol import plugin
from conformance.protocols.flight.reference.server import FlightServer
from conformance.protocols.storage_read.reference.server import ReferenceServer
from conformance.reference.plugin import ReferencePlugin
from conformance.targets.questions import PROTOCOL
from tests.docs.snippets import EXCERPTED, FOLLOWED, GUIDES, Desk, blocks
from tests.fixtures import ROOT
from tests.test_integrations import ACTION, HOOK, Job

NAMES = [path.relative_to(ROOT).as_posix() for path in GUIDES]


LONG: Final = (
    *("ci", "clients", "debugging", "flight", "implementers", "interruptions", "ipc", "recording", "replay"),
    *("scenarios", "seeding", "serializers", "statement", "storage-write", "target-file", "truth"),
)
"""Guides with many commands, or long ones: they are followed where there is time, in the environment ``studies``."""


@pytest.fixture(scope="session")
def endpoint() -> Iterator[Mapping[str, str]]:
    """Servers that run already, under the ports that the guides write."""
    writes = plugin(ReferencePlugin, "storage-write").listening(None)
    with ReferenceServer() as server, FlightServer() as flights, writes as written:
        yield {
            "localhost:9060": server.grpc_endpoint,
            "localhost:9050": server.rest_endpoint,
            "localhost:8815": flights.endpoint,
            "localhost:9062": written.endpoint.grpc,
            "localhost:9052": written.endpoint.rest.removeprefix("http://"),
        }


@pytest.mark.timeout(900)  # a guide is many commands, and a busy machine is no defect
@pytest.mark.parametrize(
    "guide",
    [pytest.param(one, marks=pytest.mark.slow(env="studies")) if one.stem in LONG else one for one in FOLLOWED],
    ids=lambda guide: guide.relative_to(ROOT).as_posix(),
)
def test_the_commands_of_a_guide_do_what_it_says(
    guide: Path, tmp_path: Path, endpoint: Mapping[str, str], commands: Path
) -> None:
    """Followed from the top, each command prints the lines below it and ends in the given status."""
    desk = Desk(tmp_path, endpoint, warm=commands)

    for block in blocks(guide):
        if block.title:
            desk.put(block)
        elif block.language == "console":
            desk.follow(block)


@pytest.mark.parametrize("guide", GUIDES, ids=NAMES)
def test_no_block_is_only_for_show(guide: Path) -> None:
    """A block is a file or a part of one, is run, is a message of the protocol, or sets up an environment."""
    kinds = {"console", "sh", "json"} | ({"python"} if guide in EXCERPTED else set())

    assert [block.where for block in blocks(guide) if not block.title and block.language not in kinds] == []


@pytest.mark.parametrize("guide", GUIDES, ids=NAMES)
def test_a_file_is_used_by_a_command_below_it(guide: Path) -> None:
    """A file that no command names would never be tried; the workflow of a build is read by a test of its own."""
    every = list(blocks(guide))

    unused = [
        block.where
        for index, block in enumerate(every)
        if block.title and block.language != "yaml"
        if not any(Path(block.title).stem in later.text for later in every[index + 1 :])
    ]

    assert unused == []


@pytest.mark.parametrize("guide", GUIDES, ids=NAMES)
def test_set_up_commands_are_those_of_the_builds(guide: Path) -> None:
    """The commands that set up an environment are those of ``.ci/run`` or ``tox.ini``, or activate it."""
    known = {*(ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines(), ". .venv/bin/activate"}

    strange = [
        f"{block.where}: {command}"
        for block in blocks(guide)
        if block.language == "sh"
        for line in block.text.splitlines()
        for command in line.split(" && ")
        if command not in known and not _is_tox(command) and not _is_install(command) and not _is_in_tox(command)
    ]

    assert strange == []


def _is_install(command: str) -> bool:
    """Whether ``command`` installs the suite from a working copy, with extras that it has."""
    match = re.fullmatch(r"""pip install ['"]?(?P<from>[./\w-]+)\[(?P<extras>[\w,]+)\]['"]?""", command)
    with (ROOT / "pyproject.toml").open("rb") as file:
        known = tomllib.load(file)["project"]["optional-dependencies"]
    return match is not None and set(match["extras"].split(",")) <= set(known)


def _is_in_tox(command: str) -> bool:
    """Whether ``command`` is what an environment of tox.ini runs."""
    ini = configparser.ConfigParser(interpolation=None)
    ini.read(ROOT / "tox.ini", encoding="utf-8")
    return any(command in section.get("commands", "").split("\n") for section in ini.values())


def _is_tox(command: str) -> bool:
    """Whether ``command`` runs environments, or a group of them, that tox.ini has."""
    ini = configparser.ConfigParser(interpolation=None)
    ini.read(ROOT / "tox.ini", encoding="utf-8")
    if command.startswith("tox -m "):
        return command.removeprefix("tox -m ") in re.findall(r"^(\w+) =", ini["tox"]["labels"], re.MULTILINE)
    program, _, names = command.partition(" -e ")
    known = {"test", *(section.partition(":")[2].partition("{")[0] for section in ini.sections())}
    return program.endswith("tox") and all(name.rstrip("0123456789") in known for name in names.split(","))


@pytest.mark.parametrize("guide", GUIDES, ids=NAMES)
def test_protocol_messages_in_a_guide_are_messages(guide: Path) -> None:
    """JSON lines in a block of their own are requests or answers under the published schema."""
    for block in blocks(guide):
        if block.language == "json" and not block.title:
            for line in block.text.splitlines():
                _check_message(line, block.where)


def _check_message(line: str, where: str) -> None:
    message = json.loads(line)
    if "op" in message:
        PROTOCOL.encode(message)
        return
    wanted = "welcome" if "capabilities" in message else "serialized" if "schema" in message else "done"
    kinds = (wanted, "unsupported", "error")
    assert PROTOCOL.decode(line.encode(), request=message["id"], kinds=kinds) == message, where


@pytest.mark.slow(env="studies")
def test_the_workflow_of_a_vendor_runs(tmp_path: Path, endpoint: Mapping[str, str]) -> None:
    """The action of the repository ends well with the inputs of the guide, and leaves what the last step keeps."""
    guide = ROOT / "docs" / "ci.md"
    desk = Desk(tmp_path, endpoint)

    for block in blocks(guide):
        if block.title:
            desk.put(block)
    (workflow,) = (block for block in blocks(guide) if block.title.endswith("/conformance.yml"))
    (job,) = yaml.safe_load(workflow.text)["jobs"].values()
    (given,) = (step["with"] for step in job["steps"] if step["uses"] == "./conformance-suite")
    (kept,) = (step["with"]["path"] for step in job["steps"] if "upload-artifact" in step["uses"])
    action = Job(tmp_path / "job", work=desk.work)

    assert set(given) <= set(ACTION["inputs"])
    assert action(**{name.replace("-", "_"): text for name, text in given.items()}) == 0, action.said
    assert (desk.work / kept / "conformance.html").is_file()


def test_the_hook_of_the_guide_is_the_hook_of_the_repository() -> None:
    """Its id, and a version that was released."""
    (block,) = (block for block in blocks(ROOT / "docs" / "ci.md") if block.title == ".pre-commit-config.yaml")
    (repository,) = yaml.safe_load(block.text)["repos"]

    assert repository["hooks"] == [{"id": HOOK["id"]}]
    assert f"## {repository['rev'].removeprefix('v')} (" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
