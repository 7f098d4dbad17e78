"""``conformance init``: from nothing but a server to its first verdict."""

from __future__ import annotations

import contextlib
import io
import os
import pty
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from conformance.cli._group import cli
from conformance.targets import TargetKind, load_target
from conformance.targets.endpoint import Tls, Token
from conformance.targets.spec import Endpoint, Preloaded, Ready, Seed, SeedPath, SerializerSpec, Start
from tests.cli.typed import conformance_
from tests.fixtures import ROOT

SMALL = ROOT / "tests" / "cli" / "small_server.py"
BY_PORTS = f"{shlex.quote(sys.executable)} {shlex.quote(str(SMALL))} --port {{rest_port}} --grpc-port {{grpc_port}}"
REFERENCE = "{python} -m conformance.reference"
LISTED = "/bigquery/v2/projects/{project}/datasets"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory, in which somebody begins."""
    folder = tmp_path / "My Emulator"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def refused(*arguments: str) -> str:
    """The one sentence of a refusal; nothing is written."""
    before = {path: path.read_bytes() for path in Path().iterdir()}
    result = conformance_("init", *arguments)

    assert result.exit_code == 2, result.output
    assert {path: path.read_bytes() for path in Path().iterdir()} == before
    (line,) = result.stderr.splitlines()
    return line.removeprefix("Error: ")


class TestFirstVerdict:
    """The author of a small server follows what is printed."""

    def test_a_small_server_is_judged_by_the_second_command(self) -> None:
        """The first writes the file, the second is the one that the first prints; it says what deviates."""
        pytest.importorskip("google.cloud.bigquery_storage_v1")
        written = conformance_("init", "--command", BY_PORTS)
        (first, _) = (line.split() for line in written.stdout.splitlines()[1:])
        run = conformance_(*first[1:], "--no-readers")

        assert written.exit_code == 0
        assert first == ["conformance", "run", "--target", "my-emulator.toml", "--select", "types.int64"]
        assert run.exit_code == 1
        assert re.search(r"rows\.first-response-has-the-schema(~\w+)? ", run.output)
        assert re.search(r"FAILED: \d causes? \(\d MUST\); 1\d\d verdicts on 1 case in ", run.output)

    def test_the_small_server_is_small(self) -> None:
        """About a hundred lines of code, which use nothing of the suite."""
        lines = [line for line in SMALL.read_text().splitlines() if line.strip() and '"""' not in line]

        assert len(lines) < 120
        assert not any("conformance" in line for line in lines if "import" in line)

    def test_a_server_that_prints_its_ports_passes(self) -> None:
        """The reference, in a project of its own."""
        events = ("--grpc-event", "grpc.listen", "--rest-event", "rest.listen")
        conformance_("init", "it.toml", "--name", "it", "--command", REFERENCE, *events, "--project", "mine-1")
        run = conformance_("run", "--target", "it.toml", "--select", "session.plain", "--no-readers")

        assert load_target("it.toml").ready == Ready(grpc_event="grpc.listen", rest_event="rest.listen")
        assert run.exit_code == 0, run.output
        shown = conformance_("replay", "session.plain", "--target", "it.toml", "--no-readers").output
        assert "parent = 'projects/mine-1'" in shown

    def test_a_program_passes(self) -> None:
        """The example of the guide."""
        program = ROOT / "docs" / "examples" / "adapter.py"
        words = f"{{python}} {shlex.quote(str(program))}"
        conformance_("init", "--name", "mine", "--kind", "program", "--command", words)
        run = conformance_("run", "--target", "mine.toml", "--select", "types.int64", "--no-readers")

        assert run.exit_code == 0, run.output

    def test_a_serializer_passes(self) -> None:
        """Two functions in a module beside the file."""
        Path("writer.py").write_text(
            "def serialize_schema(schema):\n    return schema.serialize().to_pybytes()\n\n"
            "def serialize_batch(batch):\n    return batch.serialize().to_pybytes()\n"
        )
        conformance_("init", "--name", "mine", "--entry", "writer")
        run = conformance_("run", "--target", "mine.toml", "--select", "types.int64", "--no-readers")

        assert run.exit_code == 0, run.output


class TestOptions:
    """With options nothing is asked; what they leave open has its default."""

    def test_a_server_that_runs_already(self) -> None:
        """Its addresses; a missing one is that of the guides."""
        conformance_("init", "a.toml", "--grpc", "localhost:1", "--rest", "http://localhost:2", "--seed", "both")
        conformance_("init", "b.toml", "--grpc", "localhost:1")

        assert load_target("a.toml").endpoint == Endpoint("localhost:1", "http://localhost:2")
        assert load_target("a.toml").seed.paths == (SeedPath.REST, SeedPath.SQL)
        assert load_target("b.toml").endpoint == Endpoint("localhost:1", "http://localhost:9050")

    def test_a_started_server_is_ready_when_rest_lists_datasets(self) -> None:
        """A server that reports its port needs no path; a path that is given is kept."""
        conformance_("init", "a.toml", "--command", BY_PORTS)
        conformance_("init", "b.toml", "--command", BY_PORTS, "--ready-path", "/up")
        conformance_("init", "c.toml", "--command", "serve {grpc_port}", "--rest-event", "up")

        ready = [load_target(f"{name}.toml").ready for name in "abc"]
        assert ready == [Ready(rest_path=LISTED), Ready(rest_path="/up"), Ready(rest_event="up")]

    def test_a_file_is_replaced_only_by_force(self) -> None:
        """What its owner wrote into it would be lost."""
        conformance_("init", "a.toml", "--grpc", "localhost:1")

        assert refused("a.toml", "--grpc", "localhost:3") == (
            "a.toml: expected a new file, but it exists; name another one, or replace it with --force"
        )
        assert conformance_("init", "a.toml", "--grpc", "localhost:3", "--force").exit_code == 0
        assert load_target("a.toml").endpoint == Endpoint("localhost:3", "http://localhost:9050")

    def test_nothing_is_written_through_a_link_that_leads_nowhere(self) -> None:
        """It counts as a file: somebody put it there, and the place to which it leads was not named."""
        Path("a.toml").symlink_to("elsewhere")

        result = conformance_("init", "a.toml", "--grpc", "localhost:3")

        assert (result.exit_code, "a.toml: expected a new file, but it is a link" in result.stderr) == (2, True)
        assert not Path("elsewhere").exists()

    def test_tls_and_a_token_are_options(self) -> None:
        """The file reads as the options say; nobody is asked for them."""
        Path("ca.pem").touch()
        address = ("--grpc", "far:443", "--rest", "https://far", "--force")

        conformance_("init", "a.toml", *address, "--ca", "ca.pem", "--token-command", "print it")
        conformance_("init", "b.toml", *address, "--tls", "--token-variable", "TOKEN")
        conformance_("init", "c.toml", "--grpc", "near:1", "--seed", "none")

        found = [load_target(f"{name}.toml").endpoint for name in "abc"]
        assert found == [
            Endpoint("far:443", "https://far", tls=Tls(ca="ca.pem"), token=Token(("print", "it"))),
            Endpoint("far:443", "https://far", tls=Tls(), token=Token(variable="TOKEN")),
            Endpoint("near:1"),
        ]

    def test_a_server_without_rest_is_never_asked_for_it(self) -> None:
        """Tables come through a program, the server itself or before the run; its gRPC port is enough."""
        Path("tables").mkdir()
        conformance_("init", "a.toml", "--command", "serve {grpc_port}", "--seed", "program")
        conformance_("init", "b.toml", "--grpc", "localhost:1", "--seed-program", "make it")
        conformance_("init", "c.toml", "--command", "serve {grpc_port}", "--tables", "tables")

        found = [load_target(f"{name}.toml") for name in "abc"]
        assert [one.seed for one in found] == [
            Seed((SeedPath.PROGRAM,)),
            Seed((SeedPath.PROGRAM,), program=Start(("make", "it"))),
            Seed((SeedPath.PRELOADED,), preloaded=Preloaded("tables")),
        ]
        assert [one.ready for one in found] == [Ready(), Ready(), Ready()]
        assert found[1].endpoint == Endpoint("localhost:1")

    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            ((), "expected --command, --grpc or --entry, because standard input is no terminal to ask at"),
            (("--command", "x", "--seed", "none"), "expected a way to make the table of each case: "),
            (("--grpc", "a:1", "--seed", "program"), "expected --seed-program for a server that runs already, "),
            (
                ("--grpc", "a:1", "--seed", "sql", "--tables", "t"),
                "expected no --tables for a server with --seed sql, ",
            ),
            (("--command", "serve {rest_port}"), "my-emulator.toml: target.start.command: expected {grpc_port} in "),
            (("--command", "serve '"), '--command: expected words as in a shell, got "serve \'": No closing quotation'),
            (("--command", "serve {port}"), "my-emulator.toml: target.start.command[1]: expected placeholders among "),
            (("--command", BY_PORTS, "--grpc", "a:1"), "expected no --grpc for a server that the suite starts, got "),
            (
                ("--grpc", "a:1", "--rest-event", "e"),
                "expected no --rest-event for a server that runs already, ",
            ),
            (("--command", "x", "--ca", "c"), "expected no --ca for a server that the suite starts, got 'c'"),
            (("--grpc", "a:1", "--ca", "c"), "my-emulator.toml: target.endpoint.tls.ca: expected an existing file, "),
            (
                ("--grpc", "a:1", "--seed", "none", "--rest", "r"),
                "expected no --rest for a server without REST, got 'r'",
            ),
            (
                ("--grpc", "a:1", "--token-variable", "T"),
                "my-emulator.toml: target.endpoint.tls: expected [endpoint.tls] ",
            ),
            (("--grpc", "a:1", "--token-command", "'"), '--token-command: expected words as in a shell, got "\'": '),
            (("--entry", "a", "--command", "b"), "expected no --command for a serializer, got 'b'"),
            (("--kind", "program", "--grpc", "a:1"), "expected no --grpc for a program, got 'a:1'"),
            (("--kind", "program", "--command", ""), "--command: expected a value, got an empty one"),
            (("--kind", "program", "--command", " "), "my-emulator.toml: target.start.command: expected a program and"),
            (("--grpc", "a:1", "--not-offered", "split"), "my-emulator.toml: target.not_offered: expected names of "),
            (("--name", "No Name", "--grpc", "a:1"), "No Name.toml: target.name: expected lower-case letters, "),
            (("--command", "\udcff {grpc_port} {rest_port}"), "my-emulator.toml: expected TOML: "),
        ],
        ids=lambda value: " ".join(value).encode("ascii", "replace").decode() if isinstance(value, tuple) else "",
    )
    def test_answers_that_make_no_target_are_refused(self, arguments: Sequence[str], sentence: str) -> None:
        """In one sentence, before a file is written."""
        assert refused(*arguments).startswith(sentence)


class TestAsking:
    """At a terminal, it asks."""

    def test_a_started_server(self) -> None:
        """An empty answer takes the default."""
        said = at_a_terminal("", BY_PORTS, "mine-1", "both", "", "zero-columns, other", "splits snapshots", "it")

        spec = load_target("it.toml")
        assert spec.start is not None
        assert spec.start.command[-1] == "{grpc_port}"
        assert (spec.kind, spec.project, spec.ready) == (TargetKind.SERVER, "mine-1", Ready(rest_path=LISTED))
        assert (spec.capabilities, spec.not_offered) == (("zero-columns", "other"), ("splits", "snapshots"))
        assert "What is judged (server, flight, storage-write, serializer, program) [server]: " in said
        assert "conformance run --target it.toml" in said

    def test_a_server_whose_command_has_no_ports(self) -> None:
        """It has to print them, so the names of the events are asked for."""
        said = at_a_terminal("", REFERENCE, "", "", "", "", "", "", "", "it")

        assert load_target("it.toml").ready == Ready(grpc_event="grpc.listen", rest_event="rest.listen")
        assert "The command has no {grpc_port}; event in which the server prints that port as JSON" in said

    def test_a_server_that_runs_already(self) -> None:
        """No command, so its addresses are asked for."""
        at_a_terminal("", "", "", "sql", "localhost:7", "", "", "", "", "it")

        spec = load_target("it.toml")
        assert (spec.endpoint, spec.seed.paths) == (Endpoint("localhost:7", "http://localhost:9050"), (SeedPath.SQL,))

    def test_a_server_behind_tls_that_takes_load_jobs(self) -> None:
        """TLS is asked for, and then its REST API speaks it too."""
        at_a_terminal("", "", "", "load-avro", "localhost:7", "y", "", "", "", "it")

        spec = load_target("it.toml")
        assert spec.endpoint == Endpoint("localhost:7", "https://localhost:9050", tls=Tls())
        assert spec.seed.paths == (SeedPath.LOAD_AVRO,)

    def test_a_program_and_a_serializer(self) -> None:
        """Each is asked for what it has; the directory gives the name."""
        at_a_terminal("program", "python x.py", "one")
        at_a_terminal("serializer", "", "", "")

        assert load_target("one.toml").kind == TargetKind.PROGRAM
        assert load_target("my-emulator.toml").serializer == SerializerSpec("serializer", (".",))

    def test_an_end_of_input_writes_nothing(self) -> None:
        """Control-D at a question is an interrupt."""
        command = [sys.executable, "-m", "conformance", "init"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        with terminal() as stdin:
            done = subprocess.run(command, stdin=stdin, capture_output=True, text=True, check=False, env=environment)

        assert done.returncode == 130
        assert "interrupted: nothing was written" in done.stderr
        assert list(Path().iterdir()) == []


@contextlib.contextmanager
def terminal(*answers: str) -> Iterator[int]:
    """A terminal at which somebody gives these answers, and no more."""
    ours, theirs = pty.openpty()
    os.write(ours, "".join(f"{one}\n" for one in answers).encode() + b"\x04")
    try:
        yield theirs
    finally:
        os.close(theirs)
        os.close(ours)


def at_a_terminal(*answers: str) -> str:
    """What ``conformance init`` shows at a terminal to somebody who gives these answers, and no more."""
    said = io.StringIO()
    with terminal(*answers) as number, open(number, closefd=False) as stdin, pytest.MonkeyPatch.context() as patch:
        for name, stream in {"stdin": stdin, "stdout": said, "stderr": said}.items():
            patch.setattr(sys, name, stream)
        with pytest.raises(SystemExit) as ended:
            cli.main(["init"], prog_name="conformance")
    assert not ended.value.code, said.getvalue()
    return said.getvalue()


def test_packages_to_install_are_written(place: Path) -> None:
    """The target file has them, and the command that installs them is named first."""
    options = ("--install", "go=./a", "--install", "npm=b@1", "--install", "npm=c@2", "--install", "interpreter=3.13")

    result = conformance_("init", "x.toml", "--kind", "program", "--command", "{env_bin}/a", *options)

    assert result.stderr == ("the target is named my-emulator, as this directory is; --name gives it another name\n")
    assert result.stdout.splitlines()[:2] == [
        "x.toml is written; install Python 3.13, 2 npm packages, 1 Go command:",
        "  conformance prepare --target x.toml",
    ]
    environment = load_target("x.toml").environment
    assert environment is not None
    assert (environment.interpreter, environment.npm, environment.go) == ("3.13", ("b@1", "c@2"), ("./a",))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            "b@1",
            "--install: expected KEY=PACKAGE, with KEY python, npm, go, maven, java, crate or interpreter, got 'b@1'",
        ),
        ("deadline=3", "--install: expected KEY=PACKAGE, with KEY python"),
        ("npm=b", 'expected packages as "name@version", or paths like "./server" but got \'b\''),
    ],
)
def test_a_package_that_nothing_installs_is_refused(given: str, message: str) -> None:
    """The key and the form of each package are checked before the file is written."""
    assert message in refused("--entry", "m", "--install", given)


@pytest.mark.parametrize("option", ["--command", "--grpc", "--entry", "--ca", "--token-command", "--token-variable"])
def test_an_empty_value_is_not_taken_for_none(option: str) -> None:
    """A shell's variable that is not set: the file would describe another server, or send no token."""
    given = [] if option in {"--command", "--entry"} else ["--grpc", "localhost:1"]

    assert refused(*given, option, "") == f"{option}: expected a value, got an empty one"
