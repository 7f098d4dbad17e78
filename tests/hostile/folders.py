"""Attacks by folders and by what takes their places: depth, links, sockets, line ends, and files with two names."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from tests.hostile.attack import Expected, Part, register
from tests.hostile.setups import ROOT, Command

__all__: list[str] = []

SUITE: Final = f"{sys.executable} -P -m conformance"
DEEP: Final = """
import os
def deep(levels):
    for _ in range(levels):
        os.mkdir("d")
        os.chdir("d")
    open("a.yaml", "w").close()
"""


def _script(text: str, **environment: str) -> Command:
    """A command of a shell."""
    return Command(["-c", text], program=["/bin/sh"], environment={"PYTHONPATH": str(ROOT), **environment})


# --- the home of a server -----------------------------------------------------------------------------


def _home(place: Path, act: str, check: str) -> Command:
    """A run of a server that does something to its home before it serves; ``check`` is what has to be true later."""
    (place / "server.py").write_text(
        f"{DEEP}import shutil, sys\nhome, here = sys.argv[1], os.getcwd()\n{act}\nos.chdir(here)\n"
        "os.execv(sys.executable, [sys.executable, '-m', 'conformance.reference'])\n",
        encoding="utf-8",
    )
    (place / "target.toml").write_text(
        'name = "x"\nkind = "server"\n[start]\ncommand = ["{python}", "{here}/server.py", "{home}"]\n'
        f'environment = {{ PYTHONPATH = "{ROOT}" }}\n'
        '[ready]\ngrpc_event = "grpc.listen"\nrest_event = "rest.listen"\n',
        encoding="utf-8",
    )
    ran = f"{SUITE} run --target target.toml --select types.bool --no-readers; status=$?"
    gone = '[ -z "$(ls cache/*/homes)" ] || touch events/forbidden.home'
    return _script(f"{ran}; {gone}; {check} || touch events/forbidden.check; exit $status", CONFORMANCE_CACHE="cache")


@register("disk.home-of-thousands-of-levels", Part.COMMAND, Expected(status=(0,)), deadline=30.0)
def home_of_thousands_of_levels(place: Path, cookie: str) -> Command:
    """A server makes 3,000 folders inside each other in its home, which is removed at its end."""
    return _home(place, "os.chdir(home)\ndeep(3000)", "true")


@register("disk.home-becomes-a-link", Part.COMMAND, Expected(status=(0,)), deadline=30.0)
def home_becomes_a_link(place: Path, cookie: str) -> Command:
    """A server puts a link to a folder elsewhere into the place of its home."""
    (place / "other" / "below").mkdir(parents=True)
    (place / "other" / "below").chmod(0o755)
    act = f"shutil.rmtree(home)\nos.symlink({str(place / 'other')!r}, home)"
    return _home(place, act, '[ "$(stat -c %a other/below)" = 755 ]')


# --- folders and files that are given -----------------------------------------------------------------


@register("disk.corpus-of-thousands-of-levels", Part.COMMAND, Expected(status=(2,), says="nest at most"))
def corpus_of_thousands_of_levels(place: Path, cookie: str) -> Command:
    """The case files of a stranger are in 1,700 folders inside each other."""
    (place / "deep.py").write_text(f"{DEEP}deep(1700)\n", encoding="utf-8")
    (place / "cases").mkdir()
    made = f"(cd cases && {sys.executable} ../deep.py)"
    return _script(f"{made}; {SUITE} run --corpus cases --no-readers; status=$?; rm -rf cases; exit $status")


@register("disk.sources-of-thousands-of-levels", Part.COMMAND, Expected(status=(2,), says="nest at most"))
def sources_of_thousands_of_levels(place: Path, cookie: str) -> Command:
    """The sources that a target file names are in 1,700 folders inside each other."""
    (place / "deep.py").write_text(f"{DEEP}deep(1700)\n", encoding="utf-8")
    (place / "src").mkdir()
    (place / "src" / "pyproject.toml").touch()
    (place / "target.toml").write_text(
        'name = "x"\nkind = "program"\n[start]\ncommand = ["true"]\n[environment]\npython = ["./src"]\n',
        encoding="utf-8",
    )
    made = f"(cd src && {sys.executable} ../deep.py)"
    return _script(f"{made}; {SUITE} prepare --target target.toml --dry-run; status=$?; rm -rf src; exit $status")


OWN_FILE: Final = Expected(status=(2,), says="expected a file of its own")


@register("disk.output-is-an-input-by-another-name", Part.COMMAND, OWN_FILE, deadline=30.0)
def output_is_an_input_by_another_name(place: Path, cookie: str) -> Command:
    """A report is to be written to a hard link of the log that it is made from."""
    made = f"{SUITE} run --select types.bool --no-readers --log log.jsonl >first.txt 2>&1"
    linked = "ln log.jsonl other.json && cp log.jsonl kept"
    ended = f"{SUITE} report log.jsonl --json other.json; status=$?; cmp log.jsonl kept || touch events/forbidden.lost"
    return _script(f"{made}; {linked}; {ended}; exit $status")


@register("disk.target-file-with-other-line-ends", Part.COMMAND, Expected(status=(0,), says="1 change"), deadline=40.0)
def target_file_with_other_line_ends(place: Path, cookie: str) -> Command:
    """Lines of a target file end as on Windows, and one of its texts looks like a table of known failures."""
    text = (ROOT / "targets" / "broken.toml").read_text(encoding="utf-8")
    text = f'homepage = """https://x.example/\n[[expected_failures]]\n"""\n{text}'.replace("\n", "\r\n")
    (place / "target.toml").write_bytes(text.encode())
    made = f"cp target.toml kept; {SUITE} run --target target.toml --select types.bool --no-readers >first.txt 2>&1"
    ended = f"{SUITE} expect --target target.toml --write; status=$?"
    same = 'cmp -n "$(stat -c %s kept)" kept target.toml && ! grep -qv "\r$" target.toml'
    return _script(f"{made}; {ended}; {{ {same}; }} || touch events/forbidden.changed; exit $status")


@register("disk.socket-of-a-server-that-runs", Part.COMMAND, Expected(status=(2,), says="another server listens"))
def socket_of_a_server_that_runs(place: Path, cookie: str) -> Command:
    """`serve` is to listen at the socket at which another server listens."""
    begun = f"{SUITE} serve --flight --socket s >first.txt & until grep -q listen first.txt; do :; done"
    asked = f"{sys.executable} -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"s\")'"
    ended = f"{SUITE} serve --flight --socket s; status=$?; {asked} || touch events/forbidden.taken"
    return _script(f"{begun}; {ended}; kill %1 || kill $!; wait; exit $status")


# --- names that lead elsewhere ------------------------------------------------------------------------


@register("disk.corpus-is-a-pipe", Part.COMMAND, Expected(status=(2,), says="Not a directory"))
def corpus_is_a_pipe(place: Path, cookie: str) -> Command:
    """A pipe is in the place of the folder of cases."""
    return _script(f"mkfifo cases; {SUITE} run --corpus cases --no-readers")


@register("disk.gate-over-a-file-of-the-user", Part.COMMAND, Expected(status=(2,), says="to replace it"), deadline=30.0)
def gate_over_a_file_of_the_user(place: Path, cookie: str) -> Command:
    """A file of the user, which is no gate, has the name that `gate` gives its own."""
    made = f"{SUITE} run --select types.bool --no-readers --log log.jsonl >first.txt 2>&1; echo mine >gate.toml"
    ended = f"{SUITE} gate log.jsonl; status=$?; [ $(cat gate.toml) = mine ] || touch events/forbidden.lost"
    return _script(f"{made}; {ended}; exit $status")


@register("disk.report-through-a-link-to-a-pipe", Part.COMMAND, Expected(status=(0,)), deadline=30.0)
def report_through_a_link_to_a_pipe(place: Path, cookie: str) -> Command:
    """A gate and a log go to `/dev/stdout`, which is a pipe: the text of the link is no path."""
    made = f"{SUITE} run --select types.bool --no-readers --log log.jsonl >first.txt 2>&1"
    gate = f"{SUITE} gate log.jsonl --out /dev/stdout | grep -q schema_version || touch events/forbidden.gate"
    log = f"{SUITE} run --select types.bool --no-readers --log /dev/stdout | grep -q run-ended"
    return _script(f"{made}; {gate}; {log} || touch events/forbidden.log")


@register(
    "process.one-of-two-shards-is-killed",
    Part.COMMAND,
    Expected(status=(1,), says="the process was ended by SIGKILL; the report is incomplete"),
    deadline=90.0,
)
def one_of_two_shards_is_killed(place: Path, cookie: str) -> Command:
    """The system kills one of the two processes of `run --parallel 2`, as it does without memory."""
    lock = "x.jsonl.parts/.part-2-of-2.jsonl.lock"
    judged = "grep -q case-judged x.jsonl.parts/part-2-of-2.jsonl 2>first.txt"
    killed = f"for _ in $(seq 600); do {judged} && break; sleep 0.1; done; kill -9 $(cut -d ' ' -f 1 {lock})"
    cases = "--cases 0 --scenarios 0 --no-readers --select 'types.*' --select 'rows.*'"
    return _script(
        f"({killed}) & {SUITE} run --parallel 2 {cases} --repeat 3 --log x.jsonl; status=$?; wait; exit $status"
    )
