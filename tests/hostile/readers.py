"""Programs that read Arrow IPC data and attack: once, at the first vector that they are given, or in their process."""

from __future__ import annotations

import functools
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from conformance.readers.ipc.adapters import RECORD, build_directory, shipped
from tests.hostile.attack import Act, Expected, Part, register
from tests.hostile.lives import note, place, sleeper
from tests.hostile.setups import ROOT, Command, target_variables

__all__ = ["main"]

MIB: Final = 1 << 20
FLOOD_SECONDS: Final = 20.0
ADAPTER: Final = "arrow-go"
"""The adapter whose place the program takes: a record of its build is all that a built one is known by."""
VECTORS: Final = "variation.body.bitmap*"


def main(name: str) -> None:
    """Answer requests line by line; the first to read data meets the attack ``name``."""
    for line in sys.stdin:
        request = json.loads(line)
        if request["op"] == "hello":
            reported: Any = {"id": request["id"], **WELCOME}
            if name.startswith("reader.hello-"):
                reported = DEEDS[name](reported)
            if reported is not None:
                _write(reported)
            continue
        reported = {"id": request["id"], "status": "error", "class": "ValueError", "message": "no reader at all"}
        if not (place() / "events" / "attacked").exists():
            note("events", "attacked")
            reported = DEEDS[name](reported)
        if reported is not None:
            _write(reported)


DEEDS: Final[dict[str, Callable[[Any], Any]]] = {}
"""The program's behaviour, by attack; arranging an attack makes the command."""
WELCOME: Final = {
    "status": "ok",
    "protocol": 1,
    "implementation": "hostile",
    "title": "a program that attacks",
    "language": "Python",
    "version": "1",
    "reads": ["stream"],
    "writes": [],
    "read_options": {},
}


def _write(reported: Any) -> None:
    sys.stdout.buffer.write(reported if isinstance(reported, bytes) else json.dumps(reported).encode() + b"\n")
    sys.stdout.flush()


def _command(name: str, folder: Path, cookie: str) -> Command:
    """``conformance read`` of the program that carries out the attack ``name``."""
    variables = [f"{key}={value}" for key, value in target_variables(folder, cookie).items()]
    command = ["/usr/bin/env", *variables, sys.executable, "-m", "tests.hostile.launch", "adapter", name]
    record = build_directory(shipped()[ADAPTER], folder / "adapters") / RECORD
    record.parent.mkdir(parents=True)
    record.write_text(json.dumps({"command": command}), encoding="utf-8")
    reports = {kind: folder / f"report.{kind}" for kind in ("json", "junit", "html")}
    files = [word for kind, path in reports.items() for word in (f"--{kind}", path.name)]
    words = ["read", "--reader", ADAPTER, "--select", VECTORS, "--vectors", str(ROOT / "golden" / "ipc"), *files]
    return Command(
        [*words, "--seconds", "2"],
        {"CONFORMANCE_ADAPTERS": str(folder / "adapters")},
        reports=reports,
        log=folder / ".conformance" / f"read-{ADAPTER}.jsonl",
    )


def _registered(name: str, expected: Expected, **more: Any) -> Callable[[Act], Act]:
    def registered(deed: Act) -> Act:
        arranged = functools.update_wrapper(functools.partial(_command, name), deed)
        register(name, Part.ADAPTER, expected, **more)(arranged)
        DEEDS[name] = deed
        return deed

    return registered


def _reader(name: str, outcomes: tuple[str, ...], says: str = "", **more: Any) -> Callable[[Act], Act]:
    return _registered(name, Expected(outcomes, says), **more)


def _no_reader(name: str, **more: Any) -> Callable[[Act], Act]:
    return _registered(name, Expected(status=(2,), says="skipped"), **more)


BROKEN: Final = ("fail", "crash", "hang")


def _flood(piece: bytes) -> None:
    until = time.monotonic() + FLOOD_SECONDS
    while time.monotonic() < until:
        sys.stdout.buffer.write(piece)
        sys.stdout.flush()


def _library(name: str, **more: Any) -> Callable[[Act], Act]:
    """Register a function that returns the source of a Python library, which takes the place of polars."""

    def registered(source: Act) -> Act:
        @functools.wraps(source)
        def arranged(folder: Path, cookie: str) -> Command:
            module = folder / "library" / "polars" / "__init__.py"
            module.parent.mkdir(parents=True)
            module.write_text(source(), encoding="utf-8")
            words = ["read", "--reader", "polars", "--select", VECTORS, "--vectors", str(ROOT / "golden" / "ipc")]
            return Command([*words, "--seconds", "2"], {"PYTHONPATH": f"{module.parent.parent}{os.pathsep}{ROOT}"})

        register(name, Part.COMMAND, Expected(status=(1, 2), says="."), **more)(arranged)
        return source

    return registered


@_library("reader.library-segfaults-at-import")
def library_segfaults_at_import() -> str:
    """A Python library dies of SIGSEGV when it is imported."""
    return "import ctypes; ctypes.string_at(0)"


@_library("reader.library-exits-at-import")
def library_exits_at_import() -> str:
    """A Python library ends its process with status 0 when it is imported, with hostile text as its last output."""
    return "import os; os.write(2, b'::error::HOSTILE\\n\\x1b[2J\\n'); os._exit(0)"


@_library("reader.library-raises-at-import")
def library_raises_at_import() -> str:
    """A Python library raises KeyboardInterrupt with hostile text when it is imported."""
    return "raise KeyboardInterrupt('\\n::error::HOSTILE\\ud800\\x1b[2J')"


@_library("reader.library-hangs-at-import", deadline=75.0)
def library_hangs_at_import() -> str:
    """The import of a Python library never ends."""
    return "import threading; threading.Event().wait()"


@_library("reader.library-allocates-at-import", deadline=30.0)
def library_allocates_at_import() -> str:
    """A Python library allocates 6 GiB of memory when it is imported, and writes to all of it."""
    return "kept = [b'x' * (64 << 20) for _ in range(96)]"


@_library("reader.library-is-another")
def library_is_another() -> str:
    """A Python library has none of the functions that the suite calls."""
    return "__version__ = '\\n::error::HOSTILE\\x1b[2J'"


@_library("reader.library-forks-at-import")
def library_forks_at_import() -> str:
    """A Python library leaves a child in its own session when it is imported."""
    return "import os, time\nif not os.fork():\n    os.setsid()\n    time.sleep(100)\n    os._exit(0)\n"


@_reader("reader.hangs", BROKEN, "no answer within")
def hangs(reported: dict[str, Any]) -> None:
    """The program never answers."""
    threading.Event().wait()


@_reader("reader.segfaults", BROKEN, "SIGSEGV|signal")
def segfaults(reported: dict[str, Any]) -> None:
    """The program dies of SIGSEGV."""
    os.kill(os.getpid(), signal.SIGSEGV)


@_reader("reader.allocates", BROKEN, "MiB|memory")
def allocates(reported: dict[str, Any]) -> None:
    """The program allocates 6 GiB of memory in steps, and writes to all of it."""
    kept = []
    for _ in range(96):
        kept.append(b"\xff" * (64 * MIB))
        time.sleep(0.01)
    threading.Event().wait()


@_reader("reader.child-allocates", BROKEN)
def child_allocates(reported: dict[str, Any]) -> None:
    """A child of the program allocates 6 GiB of memory in its own session."""

    def take() -> None:
        os.setsid()
        kept = []
        for _ in range(96):
            kept.append(b"\xff" * (64 * MIB))
            time.sleep(0.01)

    sleeper(before=take)
    threading.Event().wait()


@_reader("reader.spins", BROKEN, "processor|within")
def spins(reported: dict[str, Any]) -> None:
    """The program loops in eight threads."""
    until = time.monotonic() + 30

    def spin() -> None:
        while time.monotonic() < until:
            pass

    for _ in range(8):
        threading.Thread(target=spin, daemon=True).start()
    threading.Event().wait()


@_reader("reader.rubbish", ("untestable", "fail"), "protocol")
def rubbish(reported: dict[str, Any]) -> bytes:
    """The program answers with bytes that are not JSON."""
    return b"\x00\xff\x1b[2J::error::HOSTILE\n"


@_reader("reader.deep-json", ("untestable", "fail"), "protocol")
def deep_json(reported: dict[str, Any]) -> bytes:
    """The program's answer nests 100,000 levels deep."""
    return b'{"id":%d,"status":"ok","columns":' % reported["id"] + b"[" * 100_000 + b"]" * 100_000 + b"}\n"


@_reader("reader.deep-values", ("untestable", "fail"), "")
def deep_values(reported: dict[str, Any]) -> dict[str, Any]:
    """A value of the program's answer nests 200 levels deep."""
    value: Any = 1
    for _ in range(200):
        value = [value]
    return {"id": reported["id"], "status": "ok", "names": ["a"], "types": ["x"], "rows": 1, "columns": [[value]]}


@_reader("reader.line-without-end", BROKEN, "more than|within")
def line_without_end(reported: dict[str, Any]) -> None:
    """The program's answer is a line that never ends."""
    _flood(b"[" * MIB)


@_reader("reader.million-columns", ("untestable", "fail"), "", deadline=20.0)
def million_columns(reported: dict[str, Any]) -> dict[str, Any]:
    """The program's answer has a million columns without rows."""
    names = [f"c{number}" for number in range(1_000_000)]
    return {
        "id": reported["id"],
        "status": "ok",
        "names": names,
        "types": names,
        "rows": 0,
        "columns": [[]] * 1_000_000,
    }


@_reader("reader.ten-million-values", ("untestable", "fail", "hang"), "", deadline=20.0)
def ten_million_values(reported: dict[str, Any]) -> dict[str, Any]:
    """The program's answer has ten million values, although the vector has a few."""
    count = 10_000_000
    return {
        "id": reported["id"],
        "status": "ok",
        "names": ["a"],
        "types": ["x"],
        "rows": count,
        "columns": [[1] * count],
    }


@_reader("reader.rows-of-2-to-the-60", ("untestable", "fail"), "")
def rows_of_2_to_the_60(reported: dict[str, Any]) -> dict[str, Any]:
    """The program's answer declares 2^60 rows and no column."""
    return {"id": reported["id"], "status": "ok", "names": [], "types": [], "rows": 1 << 60, "columns": []}


@_reader("reader.number-of-a-million-digits", ("untestable", "fail"), "")
def number_of_a_million_digits(reported: dict[str, Any]) -> bytes:
    """A value of the program's answer is a number of a million digits."""
    head = b'{"id":%d,"status":"ok","names":["a"],"types":["x"],"rows":1,"columns":[[' % reported["id"]
    return head + b"9" * 1_000_000 + b"]]}\n"


@_reader("reader.hostile-words", ("fail",), "")
def hostile_words(reported: dict[str, Any]) -> dict[str, Any]:
    """The class and message of an error contain control sequences for terminals and CI systems, and lone surrogates."""
    words = "\n::error::HOSTILE\n##vso[task.complete]\x1b[2J\u202e\ud800</td><script>alert(1)</script>"
    return {**reported, "class": words, "message": words}


@_reader("reader.message-of-64-mib", ("fail",), "")
def message_of_64_mib(reported: dict[str, Any]) -> dict[str, Any]:
    """An error's message has 64 MiB."""
    return {**reported, "message": "m" * (64 * MIB)}


@_reader("reader.leaves-a-daemon", ("fail",), "")
def leaves_a_daemon(reported: dict[str, Any]) -> dict[str, Any]:
    """The program leaves a child in its own session, which holds its pipes open."""
    sleeper(before=os.setsid)
    return reported


@_reader("reader.dies-and-child-holds-the-pipes", BROKEN, "")
def dies_and_child_holds_the_pipes(reported: dict[str, Any]) -> None:
    """The program dies, and a child in its own session holds its pipes open."""
    sleeper(before=os.setsid)
    os.kill(os.getpid(), signal.SIGKILL)


@_reader("reader.floods-stderr", ("fail",), "")
def floods_stderr(reported: dict[str, Any]) -> dict[str, Any]:
    """The program prints 512 MiB to its standard error, without a line end."""
    for _ in range(512):
        os.write(2, b"x" * MIB)
    return reported


@_reader("reader.closes-its-input", ("fail",), "")
def closes_its_input(reported: dict[str, Any]) -> dict[str, Any]:
    """The program closes its standard input before it answers."""
    os.close(0)
    return reported


@_no_reader("reader.hello-is-rubbish")
def hello_is_rubbish(reported: dict[str, Any]) -> bytes:
    """The program answers hello with hostile rubbish."""
    return b"\x1b[2J::error::HOSTILE\xff\n"


@_no_reader("reader.hello-of-million-options", deadline=20.0)
def hello_of_million_options(reported: dict[str, Any]) -> dict[str, Any]:
    """The program declares a million options with a million kinds of data that no schema knows."""
    return {**reported, "reads": ["stream"] * 1_000_000, "read_options": {f"o{n}": True for n in range(1_000_000)}}


@_no_reader("reader.hello-then-nothing")
def hello_then_nothing(reported: dict[str, Any]) -> bytes:
    """The program dies in the middle of its answer to hello."""
    sys.stdout.buffer.write(json.dumps(reported).encode()[:30])
    sys.stdout.flush()
    os._exit(0)
