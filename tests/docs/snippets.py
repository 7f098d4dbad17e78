"""Reading the fenced blocks of the guides and running them as a reader would.

Each kind of block has one meaning, and a block of any other kind is refused:

* ``console``: commands after ``$``, each followed by what it prints. A line ``…`` stands for any lines, ``…`` inside a
  line for any text. A command ends in status 0 unless ``$ echo $?`` follows with the status that it really has.
* any language with ``title="NAME"``: a file called NAME, for the commands below it.
* ``sh``: commands that set up an environment; they are compared with ``.ci/run`` and ``tox.ini`` and not run.
* ``json`` without a title: messages of the program protocol, one a line, checked against its schema.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.fixtures import ROOT

GUIDES: Final = tuple(
    path
    for path in (*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("docs/dev/*.md")))
    if "```" in path.read_text(encoding="utf-8")
)
"""Every text of the repository that shows code."""
FOLLOWED: Final = tuple(guide for guide in GUIDES if guide.name != "CONTRIBUTING.md")
"""The commands of that one change the suite: ``test_contributing.py`` follows them, in copies."""

EXCERPTED: Final = frozenset({ROOT / "docs/dev/protocols.md"})
"""Guides whose Python is a part of files of an example: ``tests/protocols/test_toy.py`` compares them, and runs the
example.
"""

DEADLINE: Final = 120
"""Seconds for one command; the slowest of them judge a handful of cases."""

ASKING: Final = Path(__file__).with_name("asking.py")
"""The program ``conformance`` of a desk with a process that runs commands."""

_COMMAND: Final = re.compile(r"\bconformance (?P<name>[a-z-]+)")
_FENCE: Final = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_TITLE: Final = re.compile(r'title="(?P<name>[^"]+)"')


@dataclasses.dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, the name of the file that it is (or nothing), its text and its place."""

    language: str
    title: str
    text: str
    where: str


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """A command of a console block, what the guide says that it prints, and the status that it ends in."""

    command: str
    shown: tuple[str, ...]
    status: int


def blocks(path: Path) -> Iterator[Block]:
    """The fenced blocks of a guide, in order."""
    text = path.read_text(encoding="utf-8")
    for fence in _FENCE.finditer(text):
        info = fence["info"].strip()
        title = _TITLE.search(info)
        line = text.count("\n", 0, fence.start()) + 1
        where = f"{path.relative_to(ROOT)}:{line}"
        yield Block(info.split(" ")[0], title["name"] if title else "", fence["text"], where)


def steps(block: Block) -> Iterator[Step]:
    """The commands of a console block."""
    groups: list[tuple[str, list[str]]] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            groups.append((line[2:], []))
        else:
            assert groups, f"{block.where}: expected a command after '$ ' first, got {line!r}"
            groups[-1][1].append(line)
    for index, (command, shown) in enumerate(groups):
        if command == "echo $?":
            continue
        after = groups[index + 1] if index + 1 < len(groups) else ("", [])
        status = int(after[1][0]) if after[0] == "echo $?" else 0
        yield Step(command, tuple(shown), status)


def _started() -> Iterator[tuple[str, int]]:
    """The first step of all guides with each command of the suite: its block, and its number there."""
    known: set[str] = set()
    for guide in FOLLOWED:
        for block in blocks(guide):
            if block.language == "console" and not block.title:
                for number, step in enumerate(steps(block)):
                    names = {match["name"] for match in _COMMAND.finditer(step.command)}
                    if names - known:
                        yield block.where, number
                    known |= names


STARTED: Final = frozenset(_started())
"""The steps that are started as a user does: at least one with each command that the guides have."""


def matches(shown: tuple[str, ...], printed: str) -> bool:
    """Whether what a command printed is what the guide shows; see the module on ``…``."""
    pattern = ""
    for line in shown:
        if line.strip() == "…":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += r"[^\n]*".join(re.escape(part) for part in line.rstrip().split("…")) + r"[ ]*\n"
    return re.fullmatch(pattern + (r"\s*" if shown else r"[\s\S]*"), printed) is not None


BEFORE: Final = re.compile(r"^log of (?:the run before|an earlier run, [^:]*): \S+\n", re.MULTILINE)
"""What a run says of the log of the run before; a page that runs a target twice need not show it."""


class Desk:
    """A directory in which the blocks of one guide are followed, with ``conformance``, ``pytest`` and ``python``."""

    def __init__(
        self, place: Path, endpoint: Mapping[str, str], copied: Sequence[Path] = (), *, warm: Path | None = None
    ) -> None:
        """A desk in ``place``; with ``copied``, parts of the repository that commands change, the suite is the copy.

        ``warm`` is the socket of a process that runs commands (:mod:`tests.docs.warm`); without it, or where a guide is
        the one that shows a command as a user starts it, commands are started as a user does.
        """
        self.work = place / "work"
        self.work.mkdir()
        # Commands are typed at the root of a working copy.
        for name in ("docs",) if copied else ("cases", "docs", "golden", "targets"):
            (self.work / name).symlink_to(ROOT / name)
        for path in copied:
            copy = self.work / path.relative_to(ROOT)
            copy.parent.mkdir(exist_ok=True)
            shutil.copytree(path, copy) if path.is_dir() else shutil.copy2(path, copy)
        self._endpoint = endpoint
        programs = place / "bin"
        programs.mkdir()
        # An installed suite is a plugin of pytest by its entry point; a working copy has to be named.
        installed = any(entry.name == "conformance" for entry in importlib.metadata.entry_points(group="pytest11"))
        plugin = "" if installed else "-p conformance.pytest_plugin "
        _program(programs / "conformance", "-m conformance")
        _program(programs / "pytest", f"-m pytest {plugin}-p no:cacheprovider")
        _program(programs / "python", "")
        self._quick = place / "quick"
        self._quick.mkdir()
        if warm is not None:
            _program(self._quick / "conformance", f"-IS {ASKING} {warm}")
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("PYTEST")},
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(self.work if copied else ROOT),
            "GIT_CEILING_DIRECTORIES": str(place),  # a folder above may be another working copy
            "COLUMNS": "120",
            "NO_COLOR": "1",
            "CONFORMANCE_ADAPTERS": str(place / "adapters"),  # a guide builds what it names
            "CONFORMANCE_QUIET": "1",  # a slow machine would print lines that no guide shows
        }

    def put(self, block: Block) -> None:
        """Save a block that is a file; the ports of a guide become those of the server that runs here."""
        text = block.text
        for written, real in self._endpoint.items():
            text = text.replace(written, real)
        file = self.work / block.title
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def follow(self, block: Block) -> None:
        """Run the commands of a console block: each prints the lines below it and ends in the given status."""
        for number, step in enumerate(steps(block)):
            status, printed = self.run(step.command, real=(block.where, number) in STARTED)
            reported = f"{block.where}: $ {step.command}\n{printed}"
            assert status == step.status, reported
            assert matches(step.shown, printed), reported

    def run(self, command: str, *, real: bool = False) -> tuple[int, str]:
        """The status of a command and what it printed, standard output first; ``real``: started as a user does.

        The addresses of servers that run already are those that the page writes, in the command and in what it prints.
        """
        path = self._environment["PATH"]
        for written, here in self._endpoint.items():
            command = command.replace(written, here)
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.work,
            env=self._environment | {"PATH": path if real else f"{self._quick}{os.pathsep}{path}"},
            capture_output=True,
            text=True,
            timeout=DEADLINE,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        printed = BEFORE.sub("", done.stdout + done.stderr)
        for written, here in self._endpoint.items():
            printed = printed.replace(here, written).replace(here.replace(":", "-"), written.replace(":", "-"))
        return done.returncode, printed


def _program(path: Path, arguments: str) -> None:
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments} "$@"\n', encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
