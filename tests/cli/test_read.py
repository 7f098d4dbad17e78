"""``conformance read`` as a user types it: what it prints, writes, replays, and the status that it ends with."""

from __future__ import annotations

import dataclasses
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click.testing
import pytest

from conformance.cli import _outputs
from conformance.cli._group import cli
from conformance.cli._many import skipped
from conformance.disk.archives import pack, unpack
from conformance.engine.reading import ReaderTask
from tests.engine import ipc_library
from tests.engine.ipc_standins import stream, written
from tests.readers.ipc.kept import kept_processes


def conformance_(*arguments: str) -> click.testing.Result:
    """The result of one command line."""
    return click.testing.CliRunner().invoke(cli, arguments)


@pytest.fixture(scope="module", autouse=True)
def _kept() -> Iterator[None]:
    """The processes of the stand-ins are started once: what they answer is tested elsewhere."""
    with kept_processes():
        yield


@pytest.fixture(autouse=True)
def _standins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stand-ins are the readers that there are, and logs go into a directory of the test."""
    monkeypatch.setattr("conformance.cli.read.IPC_READERS", ipc_library.READERS)
    monkeypatch.chdir(tmp_path)


def read(folder: Path, *arguments: str) -> click.testing.Result:
    """Judge with the vectors in ``folder``."""
    return conformance_("read", "--vectors", str(folder), "--seconds", "5", *arguments)


def test_nothing_found_is_status_0(tmp_path: Path) -> None:
    """A correct reader passes; an absent one is named with the reason."""
    result = read(written(tmp_path / "few", one=stream("honest")))

    assert result.exit_code == 0, result.output
    assert "absent: skipped, " in result.output
    assert "PASSED: " in result.output


def test_a_glob_names_readers(tmp_path: Path) -> None:
    """As everywhere else; one that matches nothing is refused."""
    folder = written(tmp_path / "few", one=stream("honest"))

    assert "absent: skipped" not in read(folder, "--reader", "stand*").output
    assert "absent: skipped" in read(folder, "--reader", "*").output


def test_reasons_that_differ_in_the_name_alone_are_one_line() -> None:
    """Six adapters that are not built need one command; a name inside of a path is no name."""
    absent = {
        "arrow-go": "not built in /arrow-go: run python -m adapters arrow-go",
        "far": "no such library",
        "flechette": "not built in /arrow-go: run python -m adapters flechette",
    }

    assert list(skipped(absent)) == [
        "arrow-go, flechette: skipped, not built in /arrow-go: run python -m adapters arrow-go flechette",
        "far: skipped, no such library",
    ]


def test_findings_are_status_1(tmp_path: Path) -> None:
    """A crash is reported under its clause, with the input and a line that replays it."""
    result = read(written(tmp_path / "few", one=stream("honest"), two=stream("segv")), "--reader", "standin")

    assert result.exit_code == 1
    assert "reader.survives-legal-input  MUST  two" in result.output
    assert "SIGSEGV" in result.output


def test_the_printed_line_replays(tmp_path: Path) -> None:
    """The last line of a finding, typed unchanged, shows the same finding on that input alone."""
    folder = written(tmp_path / "few", one=stream("honest"), two=stream("wrong"))
    (line,) = set(re.findall(r"replay +conformance (.*)", read(folder, "--reader", "standin", "--all").output))

    again = conformance_(*shlex.split(line), "--vectors", str(folder), "--all")

    assert shlex.split(line) == ["read", "--reader", "standin", "--vector", "two"]
    assert again.exit_code == 1
    assert "reader.rows-true fail MUST" in again.output
    assert "on 1 case" in again.output


def test_a_mangled_input_replays(tmp_path: Path) -> None:
    """Its id is enough, whatever the seed and the number of this call."""
    folder = written(tmp_path / "few", one=stream("wrong"))
    first = read(folder, "--reader", "standin", "--mangled", "20", "--seed", "3", "--json", "a.json")
    report = json.loads(Path("a.json").read_text(encoding="utf-8"))
    mangled = [case for item in report["deviations"] for case in item["cases"] if case.startswith("mangled.s3.")]

    again = read(folder, "--reader", "standin", "--vector", mangled[0], "--all")

    assert (first.exit_code, again.exit_code) == (1, 1)
    assert f"case      {mangled[0]}\n" in again.output
    assert "on 1 case" in again.output


def test_each_reader_gets_its_reports(tmp_path: Path) -> None:
    """JSON, HTML and a badge, named after the reader; the run is named after library and version."""
    result = read(written(tmp_path / "few", one=stream("honest")), "--reports", "reports")

    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in Path("reports").iterdir()) == ["standin.html", "standin.json", "standin.svg"]
    report = json.loads(Path("reports/standin.json").read_text(encoding="utf-8"))
    assert report["run"]["target"] == "a library that does what it reads 0.2"
    assert report["run"]["profile"] == "ipc-read"


def test_the_report_of_one_reader_goes_where_it_is_told(tmp_path: Path) -> None:
    """``--json`` and its like are for the single reader that was judged."""
    read(written(tmp_path / "few", one=stream("honest")), "--reader", "standin", "--json", "one.json")

    assert json.loads(Path("one.json").read_text(encoding="utf-8"))["failed"] is False


def test_level_must_asks_for_less(tmp_path: Path) -> None:
    """A panic on broken bytes is a SHOULD."""
    folder = written(tmp_path / "few", one=stream("honest"), two=stream("panic")[:-9])

    assert read(folder, "--reader", "standin", "--level", "must").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (("--reader", "nobody"), "expected readers out of standin, absent, or globs of them, got nobody"),
        (("--reader", "absent"), "expected at least one installed reader, got none"),
        (("--reader", "standin", "--vector", "nobody"), "expected the id of a vector or `mangled.s<seed>.i<number>`"),
        (("--reader", "standin", "--select", "nobody*"), "expected globs that match ids of vectors"),
    ],
)
def test_unusable_input_is_status_2(tmp_path: Path, arguments: tuple[str, ...], reported: str) -> None:
    """One sentence says what was expected; nothing is a traceback."""
    result = read(written(tmp_path / "few", one=stream("honest")), *arguments)

    assert result.exit_code == 2
    assert reported in result.output


def test_a_folder_without_vectors_is_status_2(tmp_path: Path) -> None:
    """The text says where vectors were looked for."""
    result = read(tmp_path)

    assert result.exit_code == 2
    assert "expected golden vectors in" in result.output


def test_bytes_that_are_not_those_told_are_status_2(tmp_path: Path) -> None:
    """A changed file is never judged as the vector that it was."""
    folder = written(tmp_path / "few", one=stream("honest"))
    archive = folder / "vectors" / "few.zip"
    archive.write_bytes(pack({name: data[:-1] for name, data in unpack(archive).items()}))

    result = read(folder)

    assert result.exit_code == 2
    assert "with the digest" in result.output


class TestSeveral:
    """Two readers are judged at a time."""

    @pytest.fixture(autouse=True)
    def _twins(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Three readers that are the same library."""
        names = ("standin", "twin", "other")
        twins = {name: dataclasses.replace(ipc_library.READER, name=name) for name in names}
        monkeypatch.setattr("conformance.cli.read.IPC_READERS", twins)

    @staticmethod
    def events(name: str) -> list[dict[str, object]]:
        """The log of a reader, without times and names."""
        lines = Path(f".conformance/read-{name}.jsonl").read_text(encoding="utf-8").splitlines()
        changing = ("at", "seconds", "started", "digest", "target", "target_id")
        return [
            {key: value for key, value in json.loads(line.replace(name, "NAME")).items() if key not in changing}
            for line in lines
            if '"case-judged"' in line
        ]

    def test_each_has_the_log_and_the_report_that_it_has_alone(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The answers of a reader do not depend on the others, and the lines come in the order of the readers."""
        folder = written(tmp_path / "few", one=stream("honest"), two=stream("segv"), three=stream("wrong"))
        together = read(folder, "--reports", "both")
        logs = [self.events(name) for name in ("standin", "twin", "other")]
        monkeypatch.setattr("conformance.cli.read.AT_ONCE", 1)

        alone = read(folder, "--reader", "twin", "--reports", "one")

        assert (together.exit_code, alone.exit_code) == (1, 1)
        lines = re.findall(r"^(\w+) +a library", together.output, re.MULTILINE)
        assert lines == ["standin", "twin", "other"]
        assert logs[0]
        assert logs == [self.events("twin")] * 3
        reports = [json.loads(Path(folder_, "twin.json").read_text(encoding="utf-8")) for folder_ in ("both", "one")]
        assert reports[0]["deviations"] == reports[1]["deviations"] != []

    @pytest.mark.parametrize(
        ("options", "page", "opens"),
        [
            (["--open"], ".conformance/read.html", True),
            (["--open", "--html", "all.html"], "all.html", True),
            (["--html", "all.html"], "all.html", False),
        ],
    )
    def test_the_page_of_several_compares_them(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, options: list[str], page: str, opens: bool
    ) -> None:
        """Each is a column of the page that --html writes and --open shows."""
        opened: list[str] = []
        monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
        monkeypatch.setattr(_outputs, "_has_terminal", lambda: True)

        result = read(written(tmp_path / "few", one=stream("honest")), *options)

        assert result.exit_code == 0, result.output
        assert opened == [Path(page).absolute().as_uri()] * opens
        assert "Implementations and clauses" in Path(page).read_text(encoding="utf-8")

    def test_a_file_for_one_is_refused_before_several_are_judged(self, tmp_path: Path) -> None:
        """Nothing is judged that would then not be written."""
        result = read(written(tmp_path / "few", one=stream("honest")), "--json", "one.json", "--junit", "one.xml")

        assert result.exit_code == 2
        assert (
            "expected one reader for --junit, --json, got 3: --reports DIR writes the reports of each" in result.output
        )
        assert not Path(".conformance").exists()

    @pytest.mark.parametrize(
        ("options", "reports", "lines"),
        [([], 0, 3), (["--all"], 3, 3), (["--format", "complete"], 3, 3), (["--format", "concise"], 3, 3)],
    )
    def test_the_report_of_each_is_as_long_as_the_user_says(
        self, tmp_path: Path, options: list[str], reports: int, lines: int
    ) -> None:
        """A line is all that is printed of each by itself."""
        result = read(written(tmp_path / "few", one=stream("honest")), *options)

        assert result.exit_code == 0, result.output
        assert len(re.findall(r"^\w+ +a library.*PASSED", result.output, re.MULTILINE)) == lines
        assert len(re.findall(r"^PASSED", result.output, re.MULTILINE)) == reports

    def test_a_job_of_github_is_annotated(self, tmp_path: Path) -> None:
        """With the failures of each."""
        result = read(written(tmp_path / "few", one=stream("wrong")), "--github")

        assert result.exit_code == 1, result.output
        assert "::error " in result.output

    def test_one_that_takes_long_begins_first(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The end of the command waits for it; the lines keep their order."""
        readers = {
            **ipc_library.READERS,
            "last": dataclasses.replace(ipc_library.READER, name="last", takes_long=True),
        }
        monkeypatch.setattr("conformance.cli.read.IPC_READERS", readers)
        monkeypatch.setattr("conformance.cli.read.AT_ONCE", 1)
        began: list[str] = []
        events = ReaderTask.events
        monkeypatch.setattr(
            ReaderTask, "events", lambda task: (began.append(task.reader), (yield from events(task)))[1]
        )

        result = read(written(tmp_path / "few", one=stream("honest")))

        assert result.exit_code == 0, result.output
        assert began == ["last", "standin"]
        assert re.findall(r"^(\w+) +a library", result.output, re.MULTILINE) == ["standin", "last"]

    def test_an_error_of_the_suite_ends_all(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """It is not lost in a thread."""
        folder = written(tmp_path / "few", one=stream("honest"))
        monkeypatch.setattr(ReaderTask, "verdicts", lambda *_: 1 // 0)

        result = read(folder)

        assert result.exit_code == 70
        assert "the suite itself broke" in result.output
