"""Whatever text a target chooses, a run ends as documented, and says nothing in the target's stead.

Each hostile target is put through the command ``run`` as a user calls it, and every artifact is looked at.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import click.testing
import jsonschema
import pyarrow as pa
import pytest

from conformance.campaign import storedrows
from conformance.campaign.done import kept
from conformance.campaign.runfolders import SCHEMAS, Stage
from conformance.contain.text import safe
from conformance.engine.log import log_schema, read_log
from conformance.engine.result import fold
from conformance.generate.casefile import load_case
from conformance.records import Exchange, from_json
from conformance.report.document import report_schema
from conformance.report.pages import script
from tests.cli import hostile_text
from tests.cli.hostile_text import ACTS, CASES, MARKED, SERVERS
from tests.cli.typed import conformance_, run, stay_here
from tests.fixtures import ROOT
from tests.targets.fake_server import FakeServer, Quirk, serving

LOG, REPORT = (jsonschema.Draft202012Validator(schema()) for schema in (log_schema, report_schema))
"""Made once: that the schemas are schemas is a test elsewhere, and takes longer than a log."""

REPORTS = tuple(text for name in ("junit", "json", "html", "badge") for text in (f"--{name}", f"out/report.{name}"))

pytestmark = pytest.mark.usefixtures("corpus")


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's directory with a case that reads a table and one that wants a refusal."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus").mkdir()
    refusal = "row_restriction: 'nope = 1', expect: {codes: [INVALID_ARGUMENT], reason: unknown-column}"
    for name, more in (("read", "label: s"), ("refused", refusal)):
        (tmp_path / "corpus" / f"{name}.yaml").write_text(CASES.format(id=name, more=more))
    return tmp_path


def check_printed(result: click.testing.Result) -> None:
    """Nothing in what was printed moves a cursor, commands a build, or begins a line with foreign text."""
    lines = result.output.split("\n")
    assert [line for line in lines if safe(line, 1 << 20) != line] == []
    assert [line for line in lines if line.lstrip().startswith((MARKED, "::", "##", "alert"))] == []


class Tags(HTMLParser):
    """The tags of a page, and the names of all attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep tag and attributes."""
        self.names |= {tag, *(name for name, _ in attrs)}


def check_reports(folder: Path) -> None:
    """Every file is valid in its format."""
    for path in (folder / "out").iterdir():
        text = path.read_text(encoding="utf-8")
        assert [line for line in text.split("\n") if safe(line, 1 << 22) != line] == [], path
    (log,) = (folder / ".conformance").glob("*.jsonl")
    for line in log.read_bytes().splitlines():
        LOG.validate(json.loads(line))
    REPORT.validate(json.loads((folder / "out/report.json").read_bytes()))
    assert ET.parse(folder / "out/report.junit").getroot().tag == "testsuites"
    assert ET.parse(folder / "out/report.badge").getroot().tag.endswith("svg")
    page = (folder / "out/report.html").read_text(encoding="utf-8")
    assert not Tags(page.replace(f"<script>{script()}</script>", "")).names & {"script", "onload"}


def check_rows(folder: Path) -> None:
    """A campaign's table of the run is valid UTF-8."""
    (log,) = (folder / ".conformance").glob("*.jsonl")
    result = fold(read_log(log))
    case = load_case(folder / "corpus" / "read.yaml")
    exchange = from_json(Exchange, json.loads((folder / "saved/exchange.json").read_bytes()))
    made = {
        Stage.VERDICTS: storedrows.verdicts(0, result.verdicts),
        Stage.DRIVE: [kept(0, case, exchange, "failing")],
    }
    for stage, members in made.items():
        table = pa.Table.from_pylist(members, schema=SCHEMAS[stage])
        table.validate(full=True)
        assert table.num_rows == len(members)


def check(target: str, folder: Path, *, quoted: bool = True) -> None:
    """Run, replay and extract against the target, and look at everything; ``quoted`` is whether it is quoted at all."""
    judged = run("--target", target, "--all", *REPORTS)
    again = conformance_("replay", "corpus/read.yaml", "--target", target, "--no-readers")
    saved = conformance_("extract", "corpus/read.yaml", "--target", target, "--out", "saved")

    assert (judged.exit_code, saved.exit_code) == (1, 0), judged.output
    assert ("alert(1)" in judged.output) is quoted
    for result in (
        judged,
        again,
        saved,
        conformance_("report", *map(str, _logs(folder))),
    ):  # the last is the first screen
        check_printed(result)
    check_reports(folder)
    check_rows(folder)


def _logs(folder: Path) -> Iterator[Path]:
    return (folder / ".conformance").glob("*.jsonl")


@pytest.mark.parametrize("quirk", SERVERS, ids=lambda quirk: quirk.__name__)
def test_a_server_may_say_anything(quirk: Quirk, tmp_path: Path) -> None:
    """Details, trailers, names of sessions, streams and columns, and what REST says."""
    fake = FakeServer()
    quirk(fake)
    with serving(fake) as (grpc_port, rest_port):
        (tmp_path / "target.toml").write_text(
            f'name = "fake"\nkind = "server"\n[endpoint]\ngrpc = "127.0.0.1:{grpc_port}"\n'
            f'rest = "http://127.0.0.1:{rest_port}"\n'
        )
        check("target.toml", tmp_path, quoted=quirk is not hostile_text.no_utf8)


@pytest.mark.parametrize("act", ACTS)
def test_a_program_may_say_anything(act: str, tmp_path: Path) -> None:
    """Its version, its capabilities, its messages, its last words, and lines that are no answer."""
    check(str(hostile_text.write_program(tmp_path, act).relative_to(tmp_path)), tmp_path)


@pytest.mark.parametrize("name", ["raising", "naming", "half"])
def test_a_serializer_may_say_anything(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The class and text of its exceptions, and the names in its schema."""
    (tmp_path / "target.toml").write_text(
        f'name = "x"\nkind = "serializer"\n[serializer]\nentry = "tests.cli.hostile_text:{name}"\n'
    )
    if name != "half":  # that one says both, from a process of its own
        stay_here(monkeypatch)
    check("target.toml", tmp_path)


def test_a_name_of_10_mib_costs_a_report_little(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text is cut where it enters a record, so every report of it is small."""
    stay_here(monkeypatch)
    (tmp_path / "target.toml").write_text(
        'name = "x"\nkind = "serializer"\n[serializer]\nentry = "tests.cli.hostile_text:long"\n'
    )

    check("target.toml", tmp_path, quoted=False)

    assert max(path.stat().st_size for path in (*(tmp_path / "out").iterdir(), *_logs(tmp_path))) < 1 << 20


def test_a_target_that_does_not_start_says_so_in_one_line(tmp_path: Path) -> None:
    """Its last words stay in the sentence that quotes them."""
    path = hostile_text.write_program(tmp_path, "dies")
    (tmp_path / "program.py").write_text(f"import os\nos.write(2, {hostile_text.RAW!r})\n")

    result = run("--target", str(path))

    assert result.exit_code == 2
    assert len(result.output.splitlines()) == 1
    check_printed(result)


def test_the_name_of_a_file_may_be_anything(tmp_path: Path) -> None:
    """A file's name on the command line may come from anybody."""
    name = f"\n::error::{MARKED}\x1b[31m\n{MARKED}"
    (tmp_path / name).write_bytes(pa.schema([("a", pa.int8())]).serialize().to_pybytes() + b"rest")
    (tmp_path / f"e{name}").write_bytes(b"")

    for arguments in (["check", name], ["check", "--json", name], ["check", "--schema", name], ["dissect", name]):
        check_printed(conformance_(*arguments))
    for arguments in (
        ["check", f"e{name}"],
        ["dissect", f"e{name}"],
        ["run", "--target", name],
        ["report", name, "--all"],
    ):
        result = conformance_(*arguments)
        check_printed(result)
        assert result.exit_code == 2


def test_what_check_and_dissect_find_in_foreign_bytes_is_text(tmp_path: Path) -> None:
    """Names, values and metadata of a stream are shown, and do nothing."""
    with pa.OSFile("hostile.arrows", "wb") as sink, pa.ipc.new_stream(sink, hostile_text.SCHEMA) as writer:
        writer.write_batch(hostile_text.BATCH)
    data = (tmp_path / "hostile.arrows").read_bytes()
    (tmp_path / "hostile.arrows").write_bytes(data.replace(MARKED.encode(), b"m\xffrked", 3))

    for arguments in (["check"], ["check", "--json"], ["dissect"], ["dissect", "--json"]):
        check_printed(conformance_(*arguments, "hostile.arrows"))


@pytest.mark.parametrize(
    "line",
    [
        f"explain {ROOT / 'reports' / 'bqemulator-1.4.0.json'} {{digits}}",
        "replay mutated.s1.i{digits} --target mutated",
        "read --vector mangled.s0.i{digits}",
        "show scenario.s{digits}.i0",
        "show generated.server.s0.i{digits}",
    ],
)
def test_a_number_of_thousands_of_digits_is_one_sentence(line: str) -> None:
    """Python makes no integer of more than 4,300 digits."""
    result = conformance_(*line.format(digits="9" * 5_000).split())

    assert result.exit_code == 2
    assert result.stderr.count("Error: ") == 1
