"""The command that meets an attack: target file, cases and words, in a directory of its own.

Attacks of one part whose damage ends with their case share a command: each has a case that is named after it,
and the last case, which nobody attacks, shows that the run went on.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.hostile.attack import Attack, Part, slug

if TYPE_CHECKING:
    from tests.hostile.measure import Running

__all__ = ["COOKIE", "LATER", "SIDE", "Command", "arrange", "groups", "served"]

ROOT: Final = Path(__file__).resolve().parents[2]
COOKIE: Final = "HOSTILE_COOKIE"
"""The variable that every process of an attack inherits, so that the ones left behind are found."""
SIDE: Final = "HOSTILE_SIDE"
"""The variable that distinguishes the attacking processes from those of the suite."""
PLACE: Final = "HOSTILE_PLACE"
"""The variable that holds the attack's directory; processes without an environment note their ids below it."""
LATER: Final = "zz.later"
"""The case that comes last and that nobody attacks."""


@dataclasses.dataclass(slots=True)
class Command:
    """A command to run: ``words`` after ``python -m conformance``, and the files to look at afterwards.

    ``wrap`` are words in front of the whole command. ``during`` is called while the command runs.
    ``reports`` are written only by commands that got as far as a run; ``log`` likewise.
    ``own_group`` ends of output: ``stdout`` is a file's path or empty for one of the measuring's own.
    """

    words: list[str]
    environment: dict[str, str] = dataclasses.field(default_factory=dict)
    wrap: list[str] = dataclasses.field(default_factory=list)
    reports: dict[str, Path] = dataclasses.field(default_factory=dict)
    log: Path | None = None
    during: Callable[[Running], None] | None = None
    stdout: str = ""
    closes_stdout: bool = False
    program: list[str] = dataclasses.field(default_factory=lambda: [sys.executable, "-m", "conformance"])


def groups(chosen: Sequence[Attack]) -> list[list[Attack]]:
    """``chosen``, those together that share a command."""
    together: dict[tuple[str, ...], list[Attack]] = {}
    alone = []
    for attack in chosen:
        if attack.alone or attack.part not in SHARED:
            alone.append([attack])
        else:
            together.setdefault((SHARED[attack.part], json.dumps(attack.settings), *attack.options), []).append(attack)
    return [*together.values(), *alone]


SHARED: Final = {
    Part.SESSION: Part.LIFE,
    Part.ROWS: Part.LIFE,
    Part.WIRE: Part.LIFE,
    Part.REST: Part.LIFE,
    Part.PROGRAM: Part.PROGRAM,
    Part.SERIALIZER: Part.SERIALIZER,
}
"""Parts whose attacks cost their case alone, and the part whose process they share."""


def arrange(attacks: Sequence[Attack], place: Path, cookie: str) -> Command:
    """The command that meets ``attacks`` together; everything that it needs is in ``place`` afterwards."""
    (place / "pids").mkdir(parents=True, exist_ok=True)
    (place / "events").mkdir(exist_ok=True)
    return _SETUPS[attacks[0].part](attacks, place, cookie)


def target_variables(place: Path, cookie: str) -> dict[str, str]:
    """The environment of a process that attacks."""
    return {COOKIE: cookie, SIDE: "target", PLACE: str(place), "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}


def run_command(
    attacks: Sequence[Attack], place: Path, kind: str, tables: Mapping[str, Mapping[str, object]]
) -> Command:
    """``conformance run`` of one case for each attack and the later one, with every report."""
    corpus = place / "cases"
    for name, steps in (*((attack.id, attack.steps) for attack in attacks), (LATER, "")):
        file = corpus / f"{name.replace('.', '/')}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(_case(name) + steps, encoding="utf-8")
    changed = attacks[0].settings
    tables = {name: {**tables.get(name, {}), **changed.get(name, {})} for name in {**tables, **changed}}
    (place / "target.toml").write_text(_target(kind, tables), encoding="utf-8")
    reports = {kind: place / f"report.{kind}" for kind in ("json", "junit", "html")}
    files = [word for kind, path in reports.items() for word in (f"--{kind}", path.name)]
    readers = [] if "--readers" in attacks[0].options else ["--no-readers"]
    words = ["run", "--target", "target.toml", "--corpus", "cases", "--log", "log.jsonl", *readers, *files]
    return Command([*words, *attacks[0].options], reports=reports, log=place / "log.jsonl")


def _case(name: str) -> str:
    columns = ["{name: row_id, type: INT64, mode: REQUIRED}", f"{{name: {slug(name)}, type: INT64}}"]
    rows = "".join(f"  - {{row_id: {row}, {slug(name)}: {row * 7}}}\n" for row in range(4))
    return (
        f"id: {name}\ntitle: {'an attack' if name != LATER else 'what comes after the attacks is served'}\n"
        f"table:\n  columns:\n  - {columns[0]}\n  - {columns[1]}\n  rows:\n{rows}"
        "clauses: [types.int64, values.int64]\n"
    )


def _target(kind: str, tables: Mapping[str, Mapping[str, object]]) -> str:
    """A target file; JSON's texts, numbers and lists are TOML's as well."""
    text = f'name = "hostile"\nkind = "{kind}"\n'
    for table, pairs in tables.items():
        text += f"\n[{table}]\n"
        for key, value in pairs.items():
            shown = _inline(value) if isinstance(value, dict) else json.dumps(value)
            text += f"{key} = {shown}\n"
    return text


def _inline(value: Mapping[str, object]) -> str:
    return "{ " + ", ".join(f"{key} = {json.dumps(it)}" for key, it in value.items()) + " }"


DEADLINES: Final = {"start": 8.0, "call": 2.0, "seed": 2.0, "case": 4.0}


def served(attack: Attack, place: Path, cookie: str, life: str) -> Command:
    """``conformance run`` against a server that attacks nobody by itself, whose process lives as ``life`` has it."""
    return _server([attack], place, cookie, [life])


def _server(attacks: Sequence[Attack], place: Path, cookie: str, life: Sequence[str] = ()) -> Command:
    life = life or [attack.id for attack in attacks if attack.part is Part.LIFE]
    command = ["{python}", "-m", "tests.hostile.launch", "server", *life]
    start = {"command": command, "environment": target_variables(place, cookie), "grace": 0.5}
    ready = {"rest_event": "rest.listen", "grpc_event": "grpc.listen"}
    return run_command(attacks, place, "server", {"start": start, "ready": ready, "deadlines": DEADLINES})


def _program(attacks: Sequence[Attack], place: Path, cookie: str) -> Command:
    life = [attack.id for attack in attacks if attack.part is Part.PROGRAM_LIFE]
    command = ["{python}", "-m", "tests.hostile.launch", "program", *life]
    start = {"command": command, "environment": target_variables(place, cookie), "grace": 0.5}
    return run_command(attacks, place, "program", {"start": start, "deadlines": DEADLINES})


def _serializer(attacks: Sequence[Attack], place: Path, cookie: str) -> Command:
    entry = {"entry": "tests.hostile.serializers:Hostile", "path": [str(ROOT)]}
    # The process that takes the place of one that died imports pyarrow first: on a busy machine, that takes seconds.
    patient = DEADLINES | {"call": 5.0, "case": 7.0}
    return run_command(attacks, place, "serializer", {"serializer": entry, "deadlines": patient})


def _own(attacks: Sequence[Attack], place: Path, cookie: str) -> Command:
    """The attack's own function makes the command."""
    command: Command = attacks[0].act(place, cookie)
    return command


_SETUPS: Final[dict[Part, Callable[[Sequence[Attack], Path, str], Command]]] = {
    **dict.fromkeys((Part.SESSION, Part.ROWS, Part.WIRE, Part.REST, Part.LIFE), _server),
    **dict.fromkeys((Part.PROGRAM, Part.PROGRAM_LIFE), _program),
    Part.SERIALIZER: _serializer,
    **dict.fromkeys((Part.ADAPTER, Part.BYTES, Part.COMMAND), _own),
}


def suite_environment(place: Path, cookie: str) -> dict[str, str]:
    """The environment of the suite under attack."""
    kept = {key: value for key, value in os.environ.items() if key not in (SIDE, "COLUMNS")}
    return kept | {COOKIE: cookie, PLACE: str(place), "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
