"""Target files are read strictly: one clear sentence for everything unexpected."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.targets import ExpectedFailure, TargetError, TargetKind, load_target
from conformance.targets.ranges import DAY
from conformance.targets.spec import Deadlines, Start
from conformance.targets.specfile import PLACEHOLDERS
from tests.targets.conftest import ROOT, Write

SHIPPED = sorted((ROOT / "targets").glob("*.toml")) + sorted((ROOT / "docs" / "examples").glob("*.toml"))

SERVER = """
name = "x"
kind = "server"
[start]
command = ["serve", "{grpc_port}", "{rest_port}"]
"""


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_shipped_target_file_is_valid(path: Path) -> None:
    """Each target file in the repository loads."""
    spec = load_target(path)

    assert spec.name


@pytest.mark.parametrize("path", sorted((ROOT / "targets").glob("*.toml")), ids=lambda path: path.stem)
def test_a_shipped_target_is_named_like_its_file(path: Path) -> None:
    """The name in a file under targets/ is the file's own."""
    assert load_target(path).name == path.stem


def test_a_full_file_becomes_a_record(target_file: Write) -> None:
    """Keys land where they belong, and what is left out has its default."""
    spec = target_file(
        SERVER
        + """
        environment = { HOME = "{home}" }
        [deadlines]
        call = 3
        [[expected_failures]]
        clause = "schema.eos"
        reason = "fail: *"
        issue = "https://example.org/1"
        """
    )

    assert spec.kind == TargetKind.SERVER
    assert spec.start is not None
    assert spec.start.environment == {"HOME": "{home}"}
    assert spec.deadlines == Deadlines(call=3.0)
    assert spec.expected_failures == (
        ExpectedFailure("schema.eos", "fail: *", case="*", note="", issue="https://example.org/1"),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('kind = "server"', "target.name: expected a value but got None (NoneType)"),
        (
            'name = "x"',
            "target.kind: expected what is judged: server, flight, storage-write, serializer, program but got",
        ),
        (
            'name = "x"\nkind = "boat"',
            "target.kind: expected one of server, flight, storage-write, serializer, program but",
        ),
        ('name = "X"\nkind = "server"', "target.name: expected lower-case letters, digits, '.', '_' and '-' but got"),
        (SERVER + "[deadline]\ncall = 1", "target.deadline: expected one of the keys name, kind,"),
        (SERVER + "[deadlines]\ncal = 1", "target.deadlines.cal: expected one of the keys start, call, seed, case but"),
        (SERVER + '[deadlines]\ncall = "1"', "target.deadlines.call: expected float but got '1' (str)"),
        (
            SERVER + "[deadlines]\ncall = 0",
            "target.deadlines.call: expected seconds from 0.001 to 86400 but got 0.0",
        ),
        (
            SERVER + '[endpoint]\ngrpc = "a:1"\nrest = "http://a:2"',
            "target: expected [start] or [endpoint], and no other",
        ),
        (
            'name = "x"\nkind = "server"',
            "target: expected [start] or [endpoint], and no other of these tables, for the kind",
        ),
        (
            'name = "x"\nkind = "serializer"\n[start]\ncommand = ["a"]',
            "target: expected [serializer], and no other of these",
        ),
        (SERVER.replace("{grpc_port}", "{port}"), "target.start.command[1]: expected placeholders among python, host,"),
        (SERVER.replace("{grpc_port}", "{"), "target.start.command[1]: expected balanced braces"),
        (
            SERVER.replace('"serve"', '"{env_bin}/serve"'),
            "target.start.command[0]: expected an [environment] where {env_bin}",
        ),
        (
            SERVER.replace('"serve", "{grpc_port}", "{rest_port}"', ""),
            "target.start.command: expected a program and its arguments but got []",
        ),
        ('file = "y"\n' + SERVER, "target.file: expected no such key: it is where the file was read from but got 'y'"),
        ("name = ", "expected TOML: "),
    ],
)
def test_what_is_unexpected_is_refused_in_one_sentence(target_file: Write, text: str, message: str) -> None:
    """A wrong file is refused with its path, the key, the expected and the actual value."""
    with pytest.raises(TargetError) as raised:
        target_file(text)

    assert message in str(raised.value)
    assert str(raised.value).startswith("/")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "0", "-1", "1e308", "1e400", "true", "0x" + "f" * 5000])
@pytest.mark.parametrize(
    "key",
    [
        "[deadlines]\ncall",
        "[deadlines]\nstart",
        "[environment]\ndeadline",
        "[seed]\nrows_per_request",
        "[limits]\nmessage",
        "[limits]\ncase",
    ],
)
def test_a_number_that_means_nothing_is_refused(target_file: Write, key: str, number: str) -> None:
    """Not a number, infinite, negative, absurd, or a boolean: one sentence, whichever key it is."""
    with pytest.raises(TargetError) as raised:
        target_file(f"{SERVER}{key} = {number}")

    assert "expected" in str(raised.value)
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 1000


@pytest.mark.parametrize("number", ["nan", "inf", "-0.1", "1e9"])
def test_a_grace_that_means_nothing_is_refused(target_file: Write, number: str) -> None:
    """Zero is a grace: the process is killed at once."""
    assert target_file(SERVER + "grace = 0").start == Start(("serve", "{grpc_port}", "{rest_port}"), grace=0.0)

    with pytest.raises(TargetError, match=r"target\.start\.grace: expected seconds from 0 to 86400 but got "):
        target_file(f"{SERVER}grace = {number}")


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{grpc_port:>1000000000}", "expected the placeholder {grpc_port} without a format"),
        ("{home!r}", "expected the placeholder {home} without a format"),
        ("{home:{python}}", "expected the placeholder {home} without a format"),
        ("{home.__class__}", "expected placeholders among python, host,"),
        ("{home[0]}", "expected placeholders among python, host,"),
        ("{0}", "expected placeholders among python, host,"),
        ("{}", "expected placeholders among python, host,"),
        ("a\\u0000b", "expected text without NUL"),
    ],
)
def test_a_template_is_names_in_braces_and_nothing_else(target_file: Write, template: str, message: str) -> None:
    """A format could allocate a gigabyte, an attribute could be anything."""
    with pytest.raises(TargetError) as raised:
        target_file(SERVER.replace("{grpc_port}", template))

    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('capabilities = ["a", "b", "a"]\n' + SERVER, "target.capabilities: expected each entry once but got 'a'"),
        (
            'not_offered = ["splits", "splits"]\n' + SERVER,
            "target.not_offered: expected each entry once but got 'splits'",
        ),
        ('not_offered = ["split"]\n' + SERVER, "(no profile is called 'split'; did you mean splits?) but got 'split'"),
        ('not_offered = ["core"]\n' + SERVER, "core is what every client needs but got 'core'"),
        (
            'not_offered = ["splits"]\n' + SERVER.replace("server", "program"),
            "target.not_offered: expected no list: a program serves no",
        ),
        (SERVER + '[seed]\npaths = ["rest", "rest"]', "target.seed.paths: expected each entry once"),
        (
            SERVER + '[[expected_failures]]\nclause = "a"\nreason = "b"\n' * 2,
            "target.expected_failures: expected each entry once",
        ),
        (f"capabilities = {[str(number) for number in range(10_001)]}\n{SERVER}", "expected at most 10000 entries"),
        (SERVER + '[start.environment]\n"A=B" = "c"', "expected names of variables without '=' and NUL but got 'A=B'"),
        (f'name = "{"x" * 101}"\nkind = "server"', "target.name: expected lower-case letters"),
        ("a = " + "[" * 100_000, "expected TOML: it nests deeper than any file of the suite"),
        ("a = " + "1" * 5000, "expected TOML: "),
        ("# " + "x" * (4 << 20), "expected a target file of at most 4 MiB but got more"),
    ],
    ids=range(13),
)
def test_what_is_twice_or_too_much_is_refused(target_file: Write, text: str, message: str) -> None:
    """Lists have entries once, and a file has a size."""
    with pytest.raises(TargetError) as raised:
        target_file(text)

    assert message in str(raised.value)
    assert len(str(raised.value)) < 3000


ENDPOINT = 'name = "mine"\nkind = "server"\n[endpoint]\ngrpc = "h:1"\nrest = ""\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ENDPOINT + '[seed]\npaths = ["program"]', "target.seed: expected [seed.program] with the command"),
        (ENDPOINT + '[seed]\npaths = ["preloaded"]', "target.seed: expected [seed.preloaded] with the directory"),
        (SERVER + '[seed.preloaded]\ntables = "t"', 'target.seed.paths: expected "preloaded", because there is a'),
        (SERVER + '[seed.program]\ncommand = ["a"]', 'target.seed.paths: expected "program", because there is a'),
        (
            ENDPOINT + '[seed]\npaths = ["program"]\n[seed.program]\ncommand = []',
            "target.seed.program.command: expected a program and its arguments",
        ),
        (
            ENDPOINT + '[seed]\npaths = ["program"]\n[seed.program]\ncommand = ["{home}"]',
            "target.seed.program.command[0]: expected no {home}",
        ),
        (
            ENDPOINT + '[seed]\npaths = ["preloaded"]\n[seed.preloaded]\ntables = "t"\ntable = "all"',
            "target.seed.preloaded.table: expected a name with {table} in it but got 'all'",
        ),
    ],
)
def test_a_way_of_seeding_is_described_and_used(target_file: Write, text: str, message: str) -> None:
    """A way that nothing describes could not be tried, and a description without its way would not be read."""
    with pytest.raises(TargetError) as raised:
        target_file(text)

    assert message in str(raised.value)


def test_a_server_that_reads_tables_itself_needs_no_rest(target_file: Write) -> None:
    """An in-process fake has a gRPC port and nothing else."""
    text = SERVER.partition("[start]")[0] + '[start]\ncommand = ["fake", "{grpc_port}"]\n[seed]\npaths = ["program"]\n'

    assert target_file(text).seed.by_server


def test_a_program_declares_its_capabilities_itself(target_file: Write) -> None:
    """Capabilities in a program's file are refused: its hello is the place."""
    with pytest.raises(TargetError, match="a program says in its hello what it can do"):
        target_file('name = "x"\nkind = "program"\ncapabilities = ["a"]\n[start]\ncommand = ["a"]')


def test_a_missing_file_is_one_sentence() -> None:
    """A path that does not exist is named together with the reason."""
    with pytest.raises(TargetError) as raised:
        load_target("nowhere/target.toml")

    assert str(raised.value) == "nowhere/target.toml: cannot read the target file: No such file or directory"


def test_text_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    """A file in another encoding is refused at its first strange byte."""
    path = tmp_path / "latin.toml"
    path.write_bytes(b'name = "\xe9"')

    with pytest.raises(TargetError, match="expected UTF-8 text but byte 8 is 0xe9"):
        load_target(path)


def test_a_byte_order_mark_is_named(tmp_path: Path) -> None:
    """Some editors write one, and the parser's own words do not say so."""
    path = tmp_path / "marked.toml"
    path.write_bytes(b'\xef\xbb\xbfname = "mine"')

    with pytest.raises(TargetError, match="without a byte order mark"):
        load_target(path)


def test_every_placeholder_is_explained() -> None:
    """Each placeholder has a sentence for the guide."""
    assert all(PLACEHOLDERS.values())


def test_deadlines_are_stretched_together() -> None:
    """A multiplier reaches every deadline."""
    assert Deadlines(1, 2, 3, 4).stretched(2.5) == Deadlines(2.5, 5, 7.5, 10)


def test_a_stretched_deadline_is_a_day_at_most() -> None:
    """No clock is asked to count further than clocks do."""
    assert Deadlines().stretched(1e9) == Deadlines(DAY, DAY, DAY, DAY)


@pytest.mark.parametrize("side", ["grpc", "rest"])
def test_a_started_server_without_a_known_port_is_refused(target_file: Write, side: str) -> None:
    """The suite would wait until the deadline for a port that nobody can know."""
    text = SERVER.replace(f"{{{side}_port}}", "9050")

    with pytest.raises(TargetError) as raised:
        target_file(text)

    wanted = f"{{{side}_port}} in the command or its environment, or [ready] {side}_event, so that the port is known"
    assert f"target.start.command: expected {wanted} but got 'serve " in str(raised.value)
    assert target_file(f'{text}[ready]\n{side}_event = "listens"')
    assert target_file(f'{text}environment = {{ PORT = "{{{side}_port}}" }}')


def test_a_project_is_one_segment_of_a_path(target_file: Write) -> None:
    """The cases read from it; without the key it has the suite's default name."""
    with pytest.raises(TargetError, match=r"target\.project: expected letters, digits, .* but got 'a/b'"):
        target_file('project = "a/b"' + SERVER)

    assert target_file('project = "mine-1"' + SERVER).project == "mine-1"
    assert target_file(SERVER).project == "test-project"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[clock]\nrest_path = "clock"',
            "target.clock.rest_path: expected a path from the root of the REST API, as /clock",
        ),
        ('[clock]\nrest_path = "/clock?x"', "target.clock.rest_path: expected a path"),
        ("[clock]", "target.clock.rest_path"),
    ],
)
def test_a_clock_is_set_at_a_path(target_file: Write, text: str, message: str) -> None:
    """Nothing else can be posted to."""
    clock = target_file(f'{SERVER}[clock]\nrest_path = "/clock"').clock

    with pytest.raises(TargetError) as caught:
        target_file(SERVER + text)

    assert clock is not None
    assert clock.rest_path == "/clock"
    assert message in str(caught.value)


@pytest.mark.parametrize("text", ["restarts = true", '[clock]\nrest_path = "/clock"'])
def test_a_program_has_no_sessions_to_outlive(target_file: Write, text: str) -> None:
    """What concerns sessions belongs to servers alone."""
    program = SERVER.replace('"server"', '"program"')

    with pytest.raises(
        TargetError, match=r"target\.(start\.restarts|clock): expected no such (key|table): a program has"
    ):
        target_file(program + text)
