"""What other systems start the suite with: the GitHub Action, the container file, the hook of pre-commit.

Nothing is installed here and no container is built: the scripts of the action run with the suite of the working copy,
and the wheel is built from exactly the files that the container file copies.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pyarrow as pa
import pytest
import yaml

from tests.docs.snippets import ASKING
from tests.fixtures import ROOT

PROJECT: Final = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: Final = PROJECT["optional-dependencies"]
ACTION: Final = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
SCRIPTS: Final = [step for step in ACTION["runs"]["steps"] if "run" in step]
CACHES: Final = [step for step in ACTION["runs"]["steps"] if "uses" in step]
(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
CONTAINER: Final = (ROOT / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()


def program(path: Path, text: str) -> None:
    """An executable script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


class Job:
    """A job that uses the action, in a folder of its own; ``python3`` and ``pip`` only note how they are called.

    ``warm`` is where a process runs the commands that has imported the suite (:mod:`tests.docs.warm`).
    """

    def __init__(self, place: Path, *, work: Path | None = None, warm: Path | None = None) -> None:
        self.work = work or place / "work"
        self.work.mkdir(parents=True, exist_ok=True)
        self._place = place
        called = place / "called"
        program(
            place / "bin" / "python3",
            f'#!/bin/sh\n[ "$1" != -c ] || exec {sys.executable} "$@"\necho python3 "$@" >> {called}\n',
        )
        program(place / "conformance" / "bin" / "pip", f'#!/bin/sh\necho pip "$@" >> {called}\n')
        started = "-m conformance" if warm is None else f"-IS {ASKING} {warm}"
        program(place / "conformance" / "bin" / "conformance", f'#!/bin/sh\nexec {sys.executable} {started} "$@"\n')
        self.environment = {
            "PATH": f"{place / 'bin'}:{os.environ['PATH']}",
            "HOME": str(place),
            "PYTHONPATH": str(ROOT),
            "COLUMNS": "120",
            "RUNNER_TEMP": str(place),
            "GITHUB_OUTPUT": str(place / "output"),
            "GITHUB_STEP_SUMMARY": str(place / "summary"),
        }

    def __call__(self, **given: str) -> int:
        """Run the steps with the inputs, whose names have ``_`` for ``-``; the status of the first step that fails."""
        (self._place / "output").write_text("")
        inputs = {name: one.get("default", "") for name, one in ACTION["inputs"].items()}
        inputs |= {name.replace("_", "-"): text for name, text in given.items()}
        for step in SCRIPTS:
            environment = {name: self._filled(text, inputs) for name, text in step["env"].items()}
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                cwd=self.work,
                env=self.environment | environment,
                capture_output=True,
                text=True,
                check=False,
                stdin=subprocess.DEVNULL,
            )
            self.said = done.stdout + done.stderr
            if done.returncode:
                return done.returncode
        return 0

    def _filled(self, text: str, inputs: Mapping[str, str]) -> str:
        """The expressions that the scripts use, as GitHub evaluates them."""
        outputs = dict(line.split("=", 1) for line in self.text("output").splitlines())

        def value(match: re.Match[str]) -> str:
            kind, _, name = match[1].partition(".")
            if kind == "inputs":
                return inputs[name]
            known = {"github.action_path": str(ROOT), "runner.temp": str(self._place)}
            return {**known, "steps.judge.outputs.status": outputs.get("status", "")}[match[1]]

        return re.sub(r"\$\{\{ (\S+) \}\}", value, text)

    @property
    def environments(self) -> Path:
        """Where the action keeps what targets need."""
        return self._place / "conformance-environments"

    def text(self, name: str) -> str:
        """A file that the steps wrote for the runner."""
        return (self._place / name).read_text(encoding="utf-8")


def with_targets(made: Job) -> Job:
    """The job with two targets: one that passes and one that does not."""
    (made.work / "writer.py").write_text(
        "def serialize_schema(schema):\n    return schema.serialize().to_pybytes()\n\n"
        "def serialize_batch(batch):\n    return batch.serialize().to_pybytes() + bytes(8)\n"
    )
    (made.work / "bad.toml").write_text(
        'name = "bad"\nkind = "serializer"\n[serializer]\nentry = "writer"\npath = ["."]\n'
    )
    return made


@pytest.fixture
def job(tmp_path: Path, commands: Path) -> Job:
    """A job with targets."""
    return with_targets(Job(tmp_path, warm=commands))


class TestAction:
    """``action.yml``."""

    def test_every_script_takes_its_inputs_from_the_environment(self) -> None:
        """A text of the workflow inside a script could contain commands; each step says which shell reads it."""
        for step in SCRIPTS:
            assert step["shell"] == "bash"
            assert "${{" not in step["run"]
        used = set(re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text(encoding="utf-8")))
        assert used == set(ACTION["inputs"])

    def test_a_target_of_the_suite_passes(self, tmp_path: Path) -> None:
        """The suite of the checkout is installed with its extras; every report and the summary are written."""
        job = with_targets(Job(tmp_path))
        status = job(target="pyarrow", arguments="--select 'types.int64' --select types.bool --no-readers")

        assert status == 0, job.said
        venv, pip = job.text("called").splitlines()
        assert venv == f"python3 -m venv {job.environment['RUNNER_TEMP']}/conformance"
        assert pip == f"pip install --quiet --constraint {ROOT}/constraints.txt {ROOT}[run,readers]"
        assert {"run", "readers"} <= set(EXTRAS)
        assert sorted(path.suffix for path in (job.work / "conformance-reports").iterdir()) == [
            ".html",
            ".json",
            ".sarif",
            ".svg",
            ".txt",
            ".xml",
        ]
        assert job.text("output").splitlines()[-1] == "status=0"
        head, _, verdict, *_ = job.text("summary").splitlines()
        assert head.startswith("### Conformance of pyarrow")
        assert verdict.startswith("✅ PASSED")
        assert " on 2 cases in " in verdict

    @pytest.mark.parametrize(("fail_on", "status"), [("any", 1), ("must", 1)])
    def test_findings_fail_the_job_as_asked(self, job: Job, fail_on: str, status: int) -> None:
        """The reports are written and the output has the status, whatever the job does with it."""
        arguments = "--select types.int64 --no-readers"

        assert job(target="bad.toml", arguments=arguments, fail_on=fail_on, reports="out/here") == status
        assert job.text("output").splitlines()[-1] == "status=1"
        assert (job.work / "out" / "here" / "conformance.json").is_file()
        assert "\n| MUST | [framing.batch" in job.text("summary")
        assert "::error title=framing.batch" in (job.work / "out" / "here" / "conformance.txt").read_text()
        assert ("down to level must" in job.text("summary")) == (fail_on == "must")

    def test_a_target_that_cannot_be_judged_always_fails_the_job(self, job: Job) -> None:
        """The summary says that there is no report."""
        assert job(target="absent.toml", fail_on="nothing") == 2
        assert "There is no report: the target could not be prepared, status 2." in job.text("summary")
        assert "absent.toml" in job.said

    def test_what_the_target_needs_is_prepared_and_kept_under_its_digest(self, job: Job) -> None:
        """A run of a target that is not prepared would end with status 2; other sources are another environment."""
        (job.work / "needs.toml").write_text((job.work / "bad.toml").read_text() + "[environment]\ndeadline = 60.0\n")
        arguments = "--select types.int64 --no-readers"

        assert job(target="needs.toml", arguments=arguments, fail_on="nothing") == 0, job.said
        names = [line for line in job.text("output").splitlines() if line.startswith("name=bad-")]
        (kept,) = (path.name for path in job.environments.iterdir() if path.is_dir())
        assert names == [f"name={kept}"]

    def test_a_target_without_needs_has_no_cache(self, job: Job) -> None:
        """There would be nothing in it. With ``nothing`` the job passes, and the output has the status all the same."""
        assert job(target="bad.toml", arguments="--select types.int64 --no-readers", fail_on="nothing") == 0
        assert "name=" in job.text("output").splitlines()
        assert job.text("output").splitlines()[-1] == "status=1"

    def test_a_cache_is_saved_before_anything_is_judged(self) -> None:
        """A job that fails because of findings fills it, too; what is saved is what is restored."""
        steps = ACTION["runs"]["steps"]
        judge = next(place for place, step in enumerate(steps) if step.get("id") == "judge")
        pairs = [(one["with"]["path"], one["with"]["key"]) for one in CACHES]

        assert [one["uses"].partition("@")[0] for one in CACHES] == ["actions/cache/restore", "actions/cache/save"] * 2
        assert pairs[0] == pairs[1] != pairs[2] == pairs[3]
        assert all(steps.index(one) < judge for one in CACHES)
        assert all("cache-hit != 'true'" in one["if"] for one in CACHES if "save" in one["uses"])

    def test_an_old_python_is_refused_in_words(self, job: Job, tmp_path: Path) -> None:
        """The machine of the job may have one, if no other action gave it another."""
        program(tmp_path / "bin" / "python3", "#!/bin/sh\nexit 1\n")

        assert job(target="pyarrow") == 2
        assert "Error: expected Python 3.11 or newer as python3" in job.said

    def test_an_unknown_fail_on_is_refused(self, job: Job) -> None:
        """Before anything is judged."""
        assert job(target="pyarrow", fail_on="should") == 2
        assert job.said == "Error: fail-on: expected any, must or nothing, got 'should'\n"

    def test_arguments_are_words_and_not_commands(self, job: Job) -> None:
        """Quotes group words; nothing is expanded or executed."""
        assert job(target="pyarrow", arguments="--select '$(touch x)' ; touch y") == 2
        assert sorted(path.name for path in job.work.iterdir()) == ["bad.toml", "conformance-reports", "writer.py"]

    def test_arguments_with_an_open_quote_are_refused(self, job: Job) -> None:
        """A part of them would judge something else than was asked for."""
        assert job(target="pyarrow", arguments="--no-readers --select 'types.int64") != 0
        assert "quote" in job.said
        assert not (job.work / "conformance-reports").exists()


class TestContainer:
    """``Containerfile``."""

    def test_it_copies_what_the_installation_needs(self, tmp_path: Path) -> None:
        """The wheel that is built from the copied files alone has every file of the repository's own wheel."""
        pytest.importorskip("hatchling")
        copied = [line.split()[1:] for line in CONTAINER if line.startswith("COPY ") and "--from" not in line]
        source = tmp_path / "suite"
        source.mkdir()
        for *names, into in copied:
            for name in names:
                place = source / name if into == "./" else source / into
                (shutil.copytree if (ROOT / name).is_dir() else shutil.copy2)(ROOT / name, place)

        ours, theirs = (wheel_of(folder, tmp_path / name) for folder, name in ((ROOT, "ours"), (source, "theirs")))

        assert theirs == ours

    def test_it_installs_extras_that_exist_for_a_supported_python(self) -> None:
        """Both stages have one interpreter, because a virtual environment does not move to another."""
        text = "\n".join(CONTAINER)
        images = re.findall(r"^FROM (\S+)", text, re.MULTILINE)
        (version,) = re.findall(r"^ARG BASE=python:([\d.]+)-slim$", text, re.MULTILINE)

        assert images == ["${BASE}", "${BASE}"]
        assert f"Programming Language :: Python :: {version}" in PROJECT["classifiers"]
        (extras,) = re.findall(r"'\.\[([\w,]+)\]'", text)
        assert set(extras.split(",")) <= set(EXTRAS)
        assert 'ENTRYPOINT ["/opt/conformance/bin/conformance"]' in CONTAINER
        assert "conformance" in PROJECT["scripts"]

    def test_a_release_builds_it_from_a_digest_and_keeps_that(self) -> None:
        """A tag names other bytes later; who builds again needs the ones of the release."""
        jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8"))["jobs"]
        steps = jobs["container"]["steps"]
        commands = "\n".join(step.get("run", "") for step in steps)

        assert "sed -n 's/^ARG BASE=//p' Containerfile" in commands
        assert '--build-arg "BASE=$(cat base-image.txt)"' in commands
        kept = [step["with"]["path"] for step in steps if "upload-artifact" in step.get("uses", "")]
        assert kept == ["base-image.txt"]


def wheel_of(source: Path, into: Path) -> dict[str, int]:
    """The files of the wheel that hatchling builds of ``source``, with their checksums."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(into)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    (path,) = into.iterdir()
    with zipfile.ZipFile(path) as archive:
        return {one.filename: one.CRC for one in archive.infolist()}


class TestHook:
    """``.pre-commit-hooks.yaml``."""

    def test_it_installs_what_the_command_needs(self) -> None:
        """The package alone: judging bytes needs no extra (tests/cli/test_extras.py)."""
        assert (HOOK["language"], HOOK["entry"]) == ("python", "conformance check")
        assert "additional_dependencies" not in HOOK

    @pytest.mark.parametrize(
        ("name", "wanted"), [("a.arrow", 1), ("b/c.arrows", 1), ("d.feather", 1), ("e.arrow.md", 0)]
    )
    def test_it_takes_files_by_their_suffix(self, name: str, wanted: int) -> None:
        """pre-commit searches the pattern in the path."""
        assert (re.search(HOOK["files"], name) is not None) == bool(wanted)

    def test_it_judges_the_files_of_a_commit(self, tmp_path: Path) -> None:
        """Well-formed files pass together; a broken one fails the hook and is named."""
        table = pa.table({"a": [1, None, 3]})
        for name, writer in (("a.arrow", pa.ipc.new_file), ("b.arrows", pa.ipc.new_stream)):
            with writer(tmp_path / name, table.schema) as opened:
                opened.write_table(table)
        broken = bytearray((tmp_path / "b.arrows").read_bytes())
        broken[-1] ^= 0xFF
        (tmp_path / "c.arrows").write_bytes(broken)

        assert hooked(tmp_path, "a.arrow", "b.arrows").returncode == 0
        failed = hooked(tmp_path, "a.arrow", "c.arrows")
        assert failed.returncode == 1
        assert "c.arrows" in failed.stdout


def hooked(folder: Path, *files: str) -> subprocess.CompletedProcess[str]:
    """The hook's command on files, as pre-commit runs it."""
    program(folder / "bin" / "conformance", f'#!/bin/sh\nexec {sys.executable} -m conformance "$@"\n')
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    return subprocess.run(
        [*shlex.split(HOOK["entry"]), *files],
        cwd=folder,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
