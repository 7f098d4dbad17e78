"""Building adapters: once, again when something changed, and with the reason where it cannot be done."""

from __future__ import annotations

import os
import re
import select
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from adapters.__main__ import main
from adapters.building import BUILD_SECONDS, NotBuiltError, build, cache_directory, find, reason_not_built
from adapters.spec import AdapterSpec, SpecError, shipped
from conformance.disk.locks import held
from conformance.readers.ipc.adapters import RECORD
from tests.patience import patiently

SPEAKS = 'import json; input(); print(json.dumps({"id": 1, "status": "ok", "version": "1.2"}))\n'


def adapter(here: Path, *, program: str = SPEAKS, build: str = "[]", needs: str = "[]") -> AdapterSpec:
    """A small adapter in Python."""
    here.mkdir(exist_ok=True)
    (here / "program.py").write_text(program)
    (here / "adapter.toml").write_text(
        'name = "small"\ntitle = "Small"\nlanguage = "Python"\nsources = ["program.py"]\n'
        f'build = {build}\ncommand = ["{{python}}", "{{cache}}/program.py"]\nneeds = {needs}\n'
    )
    return AdapterSpec.load(here / "adapter.toml")


def test_six_adapters_ship() -> None:
    """Their names are permanent, and each directory has the name of its adapter."""
    assert sorted(shipped("adapter.toml")) == [
        "arrow-cpp",
        "arrow-go",
        "arrow-java",
        "arrow-js",
        "arrow-rs",
        "flechette",
    ]
    assert all(spec.here.name == name for name, spec in shipped().items())


def test_a_build_is_done_once(tmp_path: Path) -> None:
    """The program says hello, is recorded, and is found the next time."""
    spec = adapter(tmp_path / "small")

    assert find(spec, tmp_path / "cache") is None
    first, second = build(spec, tmp_path / "cache"), build(spec, tmp_path / "cache")

    assert (first.found, second.found) == (False, True)
    assert first.version == second.version == "1.2"
    assert first.command == (sys.executable, str(cache_directory(spec, tmp_path / "cache") / "program.py"))


def test_a_build_without_its_record_starts_again(tmp_path: Path) -> None:
    """The record is written last: whatever else an interrupted build left, it is not found."""
    spec = adapter(tmp_path / "small")
    build(spec, tmp_path / "cache")
    (cache_directory(spec, tmp_path / "cache") / RECORD).unlink()

    assert find(spec, tmp_path / "cache") is None
    assert not build(spec, tmp_path / "cache").found


def test_two_processes_build_one_after_the_other(tmp_path: Path) -> None:
    """The second waits, and finds what the first has built; the build holds a lock, which its command sees."""
    here, cache = tmp_path / "small", tmp_path / "cache"
    check = "import sys, pathlib, conformance.disk.locks as locks; sys.exit(not locks.is_locked(pathlib.Path.cwd()))"
    spec = adapter(here, build=f"""["{{python}}", "-c", "{check}"]""")
    with ThreadPoolExecutor(1) as threads:
        with held(cache_directory(spec, cache)):
            second = threads.submit(build, spec, cache)
            assert find(spec, cache) is None
        assert not second.result().found
    assert build(spec, cache).found


def test_another_version_of_a_runtime_builds_again(tmp_path: Path) -> None:
    """The record has the versions with which the program was built."""
    spec = adapter(tmp_path / "small", needs='["numpy"]')
    build(spec, tmp_path / "cache")
    record = cache_directory(spec, tmp_path / "cache") / RECORD
    record.write_text(record.read_text().replace('"numpy": "', '"numpy": "0.'))

    assert find(spec, tmp_path / "cache") is None
    assert not build(spec, tmp_path / "cache").found


def test_a_changed_source_is_built_again(tmp_path: Path) -> None:
    """A build from other sources is not found."""
    build(adapter(tmp_path / "small"), tmp_path / "cache")

    changed = adapter(tmp_path / "small", program=SPEAKS.replace("1.2", "1.3"))

    assert find(changed, tmp_path / "cache") is None
    assert build(changed, tmp_path / "cache").version == "1.3"


@pytest.mark.parametrize(
    ("needs", "reason"),
    [
        ('["numpy>=999"]', "needs numpy>=999, and numpy is"),
        ('["nosuchthing"]', "needs nosuchthing, and nosuchthing is not installed"),
        ('["a b"]', "expected a need such as node>=18 but got 'a b'"),
    ],
)
def test_a_missing_runtime_is_named(tmp_path: Path, needs: str, reason: str) -> None:
    """Nothing is built where something that it needs is missing or too old."""
    spec = adapter(tmp_path / "small", needs=needs)

    with pytest.raises(NotBuiltError, match=reason):
        build(spec, tmp_path)
    assert reason in reason_not_built(spec)


def test_a_program_that_does_not_say_its_version_is_not_called_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is there; the reason is what it printed."""
    node = tmp_path / "node"
    node.write_text("#!/bin/sh\necho 'error: no memory' >&2\nexit 3\n")
    node.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(NotBuiltError, match="node --version ended with status 3: error: no memory"):
        build(adapter(tmp_path / "small", needs='["node>=18"]'), tmp_path)


def test_a_failed_build_tells_why(tmp_path: Path) -> None:
    """The line that speaks of an error, and where the rest is; nothing is recorded."""
    fails = r"raise SystemExit('some words\\nError: no such host\\nmore')"
    spec = adapter(tmp_path / "small", build=f"""["{{python}}", "-c", "{fails}"]""")

    with pytest.raises(NotBuiltError, match=r"ended with status 1: Error: no such host .*build\.log"):
        build(spec, tmp_path / "cache")
    assert find(spec, tmp_path / "cache") is None


def test_a_build_that_takes_too_long_ends_with_all_its_processes(tmp_path: Path) -> None:
    """A compiler that the build started would go on for minutes; the pipe that it writes hangs up when it ends."""
    os.mkfifo(tmp_path / "alive")
    reader = os.open(tmp_path / "alive", os.O_RDONLY | os.O_NONBLOCK)
    spec = adapter(tmp_path / "small", build=f"""["sh", "-c", "sleep 600 > '{tmp_path}/alive' & wait"]""")

    hung_up = select.poll()
    hung_up.register(reader, 0)

    def within(seconds: float) -> list[tuple[int, int]]:
        with pytest.raises(NotBuiltError, match=r"sh -c did not end within \d+ s"):
            build(spec, tmp_path / "cache", seconds=seconds)
        return hung_up.poll(0)

    assert patiently(within, bool, seconds=1) == [(reader, select.POLLHUP)]
    os.close(reader)


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("raise SystemExit('no way')", "it did not answer hello; it printed: no way"),
        ('print(\'{"status": "error"}\')', "it answered hello with {'status': 'error'}"),
    ],
)
def test_a_program_that_does_not_speak_is_not_built(tmp_path: Path, program: str, reason: str) -> None:
    """A build counts when the program answers."""
    with pytest.raises(NotBuiltError, match=re.escape(reason)):
        build(adapter(tmp_path / "small", program=program), tmp_path / "cache")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("name = 3", "expected name to be a text but got 3"),
        ('name = "a"\ntitle = "A"\nlanguage = "B"\ncommand = "c"', "expected command to be a list of texts"),
        ('name = "a"\ntitle = "A"\nlanguage = "B"', "expected command to name a program but got an empty list"),
        ("nmae = 1", "expected only name, .* but got nmae"),
        ("name =", "adapter.toml: Invalid value"),
    ],
)
def test_an_unusable_file_is_told_apart(tmp_path: Path, text: str, reason: str) -> None:
    """The key, what it should hold, what it holds."""
    (tmp_path / "adapter.toml").write_text(text)

    with pytest.raises(SpecError, match=reason):
        AdapterSpec.load(tmp_path / "adapter.toml")


def test_an_unknown_name_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """The command says which names there are, and ends with 2."""
    with pytest.raises(SystemExit) as ended:
        main(["arrow-cobol"])

    assert ended.value.code == 2
    assert f"expected names among {', '.join(shipped())} but got arrow-cobol" in capsys.readouterr().err


def test_a_skipped_adapter_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its reason; it fails the command only where it was asked for by name."""
    spec = adapter(tmp_path / "small", needs='["nosuchthing"]')
    monkeypatch.setattr("adapters.__main__.shipped", lambda: {"small": spec})

    assert main(["--cache", str(tmp_path)]) == 0
    assert main(["--cache", str(tmp_path), "small"]) == 1
    line = "small  skipped: needs nosuchthing, and nosuchthing is not installed\n"
    assert capsys.readouterr().out == line * 2


def test_builds_share_the_minutes_that_they_get(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is not ready in time is left out like anything else that cannot be built."""
    spec = adapter(tmp_path / "small", build='["sleep", "600"]')
    monkeypatch.setattr("adapters.__main__.shipped", lambda: {"small": spec})

    assert main(["--cache", str(tmp_path / "cache"), "--minutes", "0"]) == 0
    monkeypatch.setenv("CONFORMANCE_BUILD_MINUTES", "0")
    assert main(["--cache", str(tmp_path / "cache"), "--minutes", "10"]) == 0
    assert capsys.readouterr().out == "small  skipped: sleep 600 did not end within 0 s\n" * 2


def test_lock_files_name_no_registry() -> None:
    """Which registry packages come from is for the machine that installs them to say."""
    for spec in shipped().values():
        for lock in (*spec.here.glob("package-lock.json"), *spec.here.glob("go.sum")):
            assert "://" not in lock.read_text(encoding="utf-8")


@pytest.mark.slow(env="environments")
@pytest.mark.timeout(BUILD_SECONDS + 100)
@pytest.mark.parametrize("name", sorted(shipped()))
def test_every_adapter_builds_from_nothing(tmp_path: Path, name: str) -> None:
    """With the runtimes and the network that this machine has."""
    spec = shipped()[name]
    reason = reason_not_built(spec)
    if reason:
        pytest.skip(reason)

    assert build(spec, tmp_path).version
