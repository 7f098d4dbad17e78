"""Full disks, leftovers of earlier runs, two runs in one place, and target files that nobody can mean."""

from __future__ import annotations

import functools
import os
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.disk.jsonlines import line_of
from conformance.history import HistoryCall
from conformance.history.files import as_lines
from tests.history import growing as histories
from tests.hostile import setups
from tests.hostile.attack import ATTACKS, Act, Expected, Part, register
from tests.hostile.setups import Command

if TYPE_CHECKING:
    from tests.hostile.measure import Running

__all__: list[str] = []

FINE: Final = Expected(("pass",), status=(0,))
UNUSABLE: Final = Expected(status=(2,), says="target")
FULL: Final = Expected(status=(1, 2), says="No space left on device")


def _run(name: str, expected: Expected, *, life: str = "calm", **rest: Any) -> Callable[[Act], Act]:
    def registered(change: Act) -> Act:
        @functools.wraps(change)
        def arranged(place: Path, cookie: str) -> Command:
            command = setups.served(ATTACKS[name], place, cookie, life)
            change(command, place)
            return command

        register(name, Part.COMMAND, expected, **rest)(arranged)
        return change

    return registered


def _instead(command: Command, option: str, value: str) -> None:
    command.words[command.words.index(option) + 1] = value


@_run("disk.log-on-a-full-disk", FULL)
def log_on_a_full_disk(command: Command, place: Path) -> None:
    """The log is on a full disk."""
    _instead(command, "--log", "/dev/full")


@_run("disk.json-on-a-full-disk", FULL)
def json_on_a_full_disk(command: Command, place: Path) -> None:
    """The JSON report is on a full disk."""
    _instead(command, "--json", "/dev/full")
    command.reports.pop("json")


@_run("disk.junit-on-a-full-disk", FULL)
def junit_on_a_full_disk(command: Command, place: Path) -> None:
    """The JUnit report is on a full disk."""
    _instead(command, "--junit", "/dev/full")
    command.reports.pop("junit")


@_run("disk.files-of-32-kib", Expected(status=(1, 2), says="log.jsonl|File too large"))
def files_of_32_kib(command: Command, place: Path) -> None:
    """No file may grow beyond 32 KiB."""
    command.wrap = ["/bin/sh", "-c", 'ulimit -f 64; exec "$@"', "sh"]
    for path in command.reports.values():
        path.unlink(missing_ok=True)
    command.reports.clear()


@_run("disk.log-is-a-directory", Expected(status=(2,), says="log"))
def log_is_a_directory(command: Command, place: Path) -> None:
    """The path of the log is a directory."""
    (place / "log.jsonl").mkdir()
    command.log = None


@_run("disk.log-is-a-link-to-itself", Expected(status=(2,), says="log"))
def log_is_a_link_to_itself(command: Command, place: Path) -> None:
    """The path of the log is a symbolic link to itself."""
    (place / "log.jsonl").symlink_to("log.jsonl")
    command.log = None


@_run("disk.state-is-a-file", Expected(status=(0, 2)))
def state_is_a_file(command: Command, place: Path) -> None:
    """The directory of the suite's own files is a file."""
    (place / ".conformance").write_text("", encoding="utf-8")


@_run("disk.report-in-no-directory", FINE)
def report_in_no_directory(command: Command, place: Path) -> None:
    """A report is to be written into a directory that does not exist."""
    _instead(command, "--html", "absent/report.html")
    command.reports.pop("html")


def _in_home(command: Command, place: Path) -> None:
    text = (place / "target.toml").read_text(encoding="utf-8")
    (place / "target.toml").write_text(
        text.replace("environment = {", 'environment = { HOME = "{home}",'), encoding="utf-8"
    )


def _before(command: Command, place: Path) -> None:
    """Run the command once before it is measured."""
    environment = setups.suite_environment(place, "before") | command.environment
    subprocess.run([*command.program, *command.words], cwd=place, env=environment, capture_output=True, check=False)


@_run("disk.home-of-an-earlier-run", FINE, life="once")
def home_of_an_earlier_run(command: Command, place: Path) -> None:
    """The target left a file in its home directory in an earlier run, and does not start if there is one."""
    _in_home(command, place)
    _before(command, place)


@_run("disk.home-that-cannot-be-emptied", FINE, life="heavy")
def home_that_cannot_be_emptied(command: Command, place: Path) -> None:
    """The target fills its home directory with links, pipes, locked directories, invalid names and 64 MiB."""
    _in_home(command, place)
    command.during = _never_below_root
    _before(command, place)


def _never_below_root(running: Running) -> None:
    running.wait_for(lambda: running.ended, 30)
    if not Path("/etc/passwd").exists():
        (running.place / "events" / "forbidden.files-behind-a-link-were-removed").touch()


@_run("disk.two-runs-in-one-directory", FINE)
def two_runs_in_one_directory(command: Command, place: Path) -> None:
    """A second run of the same target begins in the same directory, with the default log."""
    at = command.words.index("--log")
    del command.words[at : at + 2]
    environment = setups.suite_environment(place, command.environment.get(setups.COOKIE, "other"))
    words = [word for word in command.words if not word.startswith("report.")]
    words = [word for word in words if word not in ("--json", "--junit", "--html")]

    def beside(running: Running) -> None:
        with (place / "other.txt").open("wb") as out:
            other = subprocess.Popen(
                [*command.program, *words], cwd=place, env=environment, stdout=out, stderr=out, stdin=subprocess.DEVNULL
            )
        running.wait_for(lambda: running.ended, 30)
        other.wait()
        if b"Traceback" in (place / "other.txt").read_bytes():
            (place / "events" / "forbidden.traceback-in-the-other-run").touch()

    command.during = beside
    command.log = place / ".conformance" / "hostile.jsonl"


# --- target files -------------------------------------------------------------------------------------


def _target(name: str, expected: Expected = UNUSABLE, **rest: Any) -> Callable[[Act], Act]:
    """Register a function that answers the text of a target file."""

    def registered(text: Act) -> Act:
        @functools.wraps(text)
        def arranged(place: Path, cookie: str) -> Command:
            data = text()
            (place / "target.toml").write_bytes(data if isinstance(data, bytes) else data.encode())
            return Command(["run", "--target", "target.toml", "--select", "types.bool", "--no-readers"])

        register(name, Part.COMMAND, expected, **rest)(arranged)
        return text

    return registered


def _file(*, command: str = "true", start: str = "", more: str = "") -> str:
    command = f'["{command}", "{{grpc_port}}", "{{rest_port}}"]'
    return f'name = "hostile"\nkind = "server"\n[start]\ncommand = {command}\n{start}\n{more}\n'


@_target("disk.deadline-nan")
def deadline_nan() -> str:
    """A deadline is not a number."""
    return _file(more="[deadlines]\ncall = nan")


@_target("disk.address-of-no-kind", Expected(status=(2,), says="expected host:port"))
def address_of_no_kind() -> str:
    """The address of a running server is a socket without a name in the file system."""
    return 'name = "hostile"\nkind = "server"\n[endpoint]\ngrpc = "unix-abstract:x"\n'


@_target("disk.deadline-infinite")
def deadline_infinite() -> str:
    """A deadline is infinite."""
    return _file(more="[deadlines]\nstart = inf")


@_target("disk.deadline-absurd")
def deadline_absurd() -> str:
    """A deadline is 10^300 seconds."""
    return _file(more="[deadlines]\ncase = 1e300")


@_target("disk.grace-negative")
def grace_negative() -> str:
    """The grace period of a target is minus one second."""
    return _file(start="grace = -1.0")


@_target("disk.grace-nan")
def grace_nan() -> str:
    """The grace period of a target is not a number."""
    return _file(start="grace = nan")


@_target("disk.limits-negative")
def limits_negative() -> str:
    """The limits of messages are negative and beyond 2^64."""
    return _file(more="[limits]\nmessage = -1\ncase = 99999999999999999999999999")


@_target("disk.rows-absurd")
def rows_absurd() -> str:
    """The target file asks for 10^18 rows per request."""
    return _file(more="[seed]\nrows_per_request = 1000000000000000000")


@_target("disk.format-width")
def format_width() -> str:
    """A placeholder asks for a width of a thousand million characters."""
    return _file(command="{home:>1000000000}")


@_target("disk.format-attribute")
def format_attribute() -> str:
    """A placeholder asks for an attribute of a value."""
    return _file(command="{home.__class__.__mro__}")


@_target("disk.format-conversion")
def format_conversion() -> str:
    """A placeholder asks for a conversion, and for a format in the format."""
    return _file(command="{python!r:{home}}")


@_target("disk.nul-in-the-command")
def nul_in_the_command() -> str:
    """The command contains a NUL."""
    return _file(command="a\\u0000b")


@_target("disk.nul-in-the-environment")
def nul_in_the_environment() -> str:
    """An environment variable contains a NUL, and the name of another contains an equals sign."""
    return _file(start='environment = { A = "a\\u0000b", "B=C" = "d" }')


@_target("disk.command-of-4-mib")
def command_of_4_mib() -> str:
    """The command has one argument of 4 MiB."""
    return _file(command="true " + "a" * (4 << 20))


@_target("disk.command-is-a-directory", Expected(status=(2,), says="cannot start"))
def command_is_a_directory() -> str:
    """The command is a directory."""
    return _file(command="/")


@_target("disk.hostile-name")
def hostile_name() -> str:
    """The target's name is a path out of every directory and contains an escape."""
    return _file().replace("hostile", "../../\\u001b[31m::error::x")


@_target("disk.hostile-title", Expected(status=(2,), says="target|start"))
def hostile_title() -> str:
    """Title and homepage contain control sequences for CI systems and terminals, and the command does not exist."""
    words = "\\n::error::HOSTILE\\u001b[2J"
    return f'title = "{words}"\nhomepage = "{words}"\n' + _file(command="/nonexistent\\n::error::x\\u001b[2J")


@_target("disk.deep-toml")
def deep_toml() -> str:
    """The target file nests arrays 100,000 levels deep."""
    return "a = " + "[" * 100_000 + "]" * 100_000


@_target("disk.key-of-20000-parts")
def key_of_20000_parts() -> str:
    """A key of the target file has 20,000 parts, for each of which a parser remembers all before it."""
    return _file(more=".".join("a" * 20_000) + " = 1")


@_target("disk.toml-of-64-mib")
def toml_of_64_mib() -> str:
    """The target file has 64 MiB in one text."""
    return _file().replace('"hostile"', '"' + "a" * (64 << 20) + '"')


@_target("disk.toml-is-no-text")
def toml_is_no_text() -> bytes:
    """The target file consists of bytes that are not text."""
    return bytes(range(256)) * 100


@_target("disk.million-expected-failures", deadline=20.0)
def million_expected_failures() -> str:
    """The target file lists 20,000 expected failures whose globs are extremely slow to match."""
    entry = '[[expected_failures]]\nclause = "' + "*a" * 30 + 'b"\nreason = "fail"\n'
    return _file(command="/nonexistent") + entry * 20_000


@register("disk.endless-target-file", Part.COMMAND, Expected(status=(2,), says="target"))
def endless_target_file(place: Path, cookie: str) -> Command:
    """The target file never ends."""
    return Command(["run", "--target", "/dev/zero"])


@register("disk.endless-log", Part.COMMAND, Expected(status=(2,), says="came through the device"))
def endless_log(place: Path, cookie: str) -> Command:
    """The log of an earlier run never ends."""
    return Command(["report", "/dev/zero"])


@register("disk.log-of-garbage", Part.COMMAND, Expected(status=(2,), says="log"))
def log_of_garbage(place: Path, cookie: str) -> Command:
    """The log of an earlier run nests 100,000 levels deep in its first line."""
    (place / "log.jsonl").write_bytes(b"[" * 100_000 + b"\n" + b"\xff" * 1000)
    return Command(["report", "log.jsonl"])


@_target("disk.number-of-5000-digits")
def number_of_5000_digits() -> str:
    """A number of the target file has 5,000 digits."""
    return _file(more="[limits]\nmessage = " + "9" * 5000)


@register("disk.log-with-5000-digits", Part.COMMAND, Expected(status=(2,), says="log.jsonl, line 1: expected"))
def log_with_5000_digits(place: Path, cookie: str) -> Command:
    """A number in the log of an earlier run has 5,000 digits."""
    (place / "log.jsonl").write_text('{"event":"run-started","format":' + "9" * 5000 + "}\n", encoding="utf-8")
    return Command(["report", "log.jsonl"])


@register("disk.history-with-5000-digits", Part.COMMAND, Expected(status=(2,), says="calls.jsonl, line 1: expected"))
def history_with_5000_digits(place: Path, cookie: str) -> Command:
    """The id of a row in a history has 5,000 digits."""
    text = '{"op":"append","begin":0,"end":1,"rows":[' + "9" * 5000 + "]}\n"
    (place / "calls.jsonl").write_text(text, encoding="utf-8")
    return Command(["history", "calls.jsonl"])


def _case_with(suffix: str) -> Callable[[Path, str], Command]:
    def arranged(place: Path, cookie: str) -> Command:
        command = setups.served(ATTACKS[f"disk.case-in-{suffix}-with-5000-digits"], place, cookie, "calm")
        columns = '[{"name": "row_id", "type": "INT64"}]'
        table = f'{{"columns": {columns}, "recipe": {{"rows": {"9" * 5000}}}}}'
        text = f'{{"id": "long", "title": "t", "table": {table}}}'
        (place / "cases" / f"long.{suffix}").write_text(text, encoding="utf-8")
        return command

    arranged.__doc__ = f"A number of a case in {suffix.upper()} has 5,000 digits."
    return arranged


for _suffix in ("json", "yaml"):
    _name = f"disk.case-in-{_suffix}-with-5000-digits"
    register(_name, Part.COMMAND, Expected(status=(2,), says=f"long.{_suffix}"))(_case_with(_suffix))


@register("disk.endless-gate", Part.COMMAND, Expected(status=(2,), says="came through the device"))
def endless_gate(place: Path, cookie: str) -> Command:
    """The gate, of which only 16 MiB are read, never ends."""
    return Command(["run", "--gate", "/dev/zero", "--select", "types.bool"])


@register("disk.endless-fault-plan", Part.COMMAND, Expected(status=(2,), says="came through the device"))
def endless_fault_plan(place: Path, cookie: str) -> Command:
    """The plan of faults never ends."""
    words = ["record", "--upstream", "127.0.0.1:1", "--out", "said.log", "--faults", "/dev/zero", "--", "true"]
    return Command(words)


@register("disk.case-file-bomb", Part.COMMAND, Expected(status=(2,), says="cases|yaml|expected"))
def case_file_bomb(place: Path, cookie: str) -> Command:
    """A case file of a kilobyte contains a thousand million rows, through references to references."""
    command = setups.served(ATTACKS["disk.case-file-bomb"], place, cookie, "calm")
    lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x,x]"]
    lines += [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    (place / "cases" / "bomb.yaml").write_text("id: bomb\ntitle: t\n" + "\n".join(lines), encoding="utf-8")
    return command


@register("disk.case-of-a-thousand-million-rows", Part.COMMAND, Expected(status=(0, 1, 2)), deadline=20.0)
def case_of_a_thousand_million_rows(place: Path, cookie: str) -> Command:
    """A case's recipe asks for a thousand million rows."""
    command = setups.served(ATTACKS["disk.case-of-a-thousand-million-rows"], place, cookie, "calm")
    text = (
        "id: bomb\ntitle: t\ntable:\n  columns:\n  - {name: row_id, type: INT64, mode: REQUIRED}\n"
        "  recipe: {rows: 1000000000, seed: 1}\nclauses: [types.int64]\n"
    )
    (place / "cases" / "bomb.yaml").write_text(text, encoding="utf-8")
    return command


@register("disk.file-of-a-tib", Part.COMMAND, Expected(status=(2,), says="memory"))
def file_of_a_tib(place: Path, cookie: str) -> Command:
    """A sparse file has a TiB."""
    with (place / "sparse.arrows").open("wb") as file:
        file.truncate(1 << 40)
    return Command(["dissect", "sparse.arrows"])


def _history(place: Path, calls: Iterable[HistoryCall]) -> Command:
    (place / "calls.jsonl").write_bytes(b"".join(map(line_of, as_lines(calls))))
    return Command(["history", "calls.jsonl"])


@register("disk.file-of-3-gib", Part.COMMAND, Expected(status=(2,), says="at most 1024 MiB"))
def file_of_3_gib(place: Path, cookie: str) -> Command:
    """A sparse file has 3 GiB, less than the machine's memory."""
    with (place / "sparse.arrows").open("wb") as file:
        file.truncate(3 << 30)
    return Command(["check", "sparse.arrows"])


@register("disk.corpus-of-3-gib", Part.COMMAND, Expected(status=(2,), says="at most 16 MiB"))
def corpus_of_3_gib(place: Path, cookie: str) -> Command:
    """A case file is sparse and has 3 GiB."""
    command = setups.served(ATTACKS["disk.corpus-of-3-gib"], place, cookie, "calm")
    with (place / "cases" / "large.yaml").open("wb") as file:
        file.truncate(3 << 30)
    return command


@register("disk.file-without-an-end", Part.COMMAND, Expected(status=(2,), says="memory|[Pp]ermi|more than"))
def file_without_an_end(place: Path, cookie: str) -> Command:
    """A regular file declares no size, and has as many bytes as the address space has pages, times eight."""
    return Command(["check", "/proc/self/pagemap"])


@register("disk.pattern-without-an-end", Part.COMMAND, Expected(status=(2,), says="found no file"))
def pattern_without_an_end(place: Path, cookie: str) -> Command:
    """A pattern has eight ``**``, in a directory with a link to itself."""
    (place / "links").mkdir()
    (place / "links" / "self").symlink_to(".")
    return Command(["check", "links/" + "**/" * 8 + "*.arrow"])


@register("disk.pattern-of-links", Part.COMMAND, Expected(status=(2,), says="at most 200000 files"))
def pattern_of_links(place: Path, cookie: str) -> Command:
    """A pattern has nine ``*``, in a directory with ten links to itself."""
    (place / "links").mkdir()
    for number in range(10):
        (place / "links" / f"{number}").symlink_to(".")
    return Command(["check", "links/" + "*/" * 9 + "*"])


@register("disk.log-of-before-is-a-pipe", Part.COMMAND, Expected(status=(2,), says="nobody read from the pipe"))
def log_of_before_is_a_pipe(place: Path, cookie: str) -> Command:
    """The file for the log of a run is a pipe that nobody reads."""
    (place / ".conformance").mkdir()
    os.mkfifo(place / ".conformance" / "reference.jsonl")
    return Command(["run", "--select", "types.int64", "--no-readers"])


@register("disk.explained-log-is-a-pipe", Part.COMMAND, Expected(status=(2,), says="nothing came through the pipe"))
def explained_log_is_a_pipe(place: Path, cookie: str) -> Command:
    """The last log is a pipe into which nobody writes."""
    (place / ".conformance").mkdir()
    os.mkfifo(place / ".conformance" / "reference.jsonl")
    return Command(["explain", "1"])


@register(
    "disk.summary-is-a-pipe", Part.COMMAND, Expected(status=(2,), says="nobody read from the pipe"), deadline=25.0
)
def summary_is_a_pipe(place: Path, cookie: str) -> Command:
    """The file for the summary of a job is a pipe that nobody reads."""
    os.mkfifo(place / "summary.md")
    words = ["run", "--select", "types.int64", "--no-readers"]
    return Command(words, environment={"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": "summary.md"})


@register("disk.gate-of-a-sparse-file", Part.COMMAND, Expected(status=(2,), says="at most 64 MiB"))
def gate_of_a_sparse_file(place: Path, cookie: str) -> Command:
    """A gate is to be made from a file of 200 GB without content."""
    with (place / "run.jsonl").open("wb") as file:
        file.truncate(200_000_000_000)
    return Command(["gate", "run.jsonl"])


@register("disk.history-of-sessions-before", Part.COMMAND, Expected(status=(0,), says="in 39000 calls"))
def history_of_sessions_before(place: Path, cookie: str) -> Command:
    """A history has 13,000 sessions, and after them 13,000 insertions."""
    return _history(place, histories.sessions_before(13_000))


@register("disk.history-of-lost-rows", Part.COMMAND, Expected(status=(2,), says="insertions that sessions lack"))
def history_of_lost_rows(place: Path, cookie: str) -> Command:
    """A history has 13,000 insertions, and after them 13,000 sessions without any row."""
    return _history(place, histories.lost(13_000))


@register("disk.history-of-splits-inside-splits", Part.COMMAND, Expected(status=(2,), says="splits inside splits"))
def history_of_splits_inside_splits(place: Path, cookie: str) -> Command:
    """A history splits 13,000 times, each time what the split before left, and reads 13,000 rows of the last."""
    return _history(place, histories.chain(13_000))


@register("disk.report-over-the-target-file", Part.COMMAND, Expected(status=(2,), says="a file of its own"))
def report_over_the_target_file(place: Path, cookie: str) -> Command:
    """A report is to be written over the target file."""
    (place / "target.toml").write_text(_file(), encoding="utf-8")
    return Command(["run", "--target", "target.toml", "--html", "target.toml"])


@register("disk.reports-in-one-file", Part.COMMAND, Expected(status=(2,), says="a file of its own"))
def reports_in_one_file(place: Path, cookie: str) -> Command:
    """Two reports and the log are to be written to one file."""
    return Command(["run", "--log", "same", "--html", "same", "--junit", "./same"])


@_run("disk.log-is-removed-meanwhile", Expected(status=(2,), says="another program has removed or replaced it"))
def log_is_removed_meanwhile(command: Command, place: Path) -> None:
    """Another program puts a file of its own in the place of the log while the run writes it."""
    command.log = None
    log = place / "log.jsonl"

    def replaced(running: Running) -> None:
        running.wait_for(lambda: log.exists() and log.stat().st_size > 0, 30)
        (place / "another").write_text("", encoding="utf-8")
        (place / "another").replace(log)

    command.during = replaced


@register("disk.state-is-a-link-of-a-stranger", Part.COMMAND, Expected(status=(2,), says="a symbolic link"))
def state_is_a_link_of_a_stranger(place: Path, cookie: str) -> Command:
    """The directory of the suite's own files is a symbolic link to nowhere."""
    (place / ".conformance").symlink_to("events/forbidden.written-through-a-link")
    return Command(["run", "--target", "reference", "--select", "types.bool", "--no-readers"])
