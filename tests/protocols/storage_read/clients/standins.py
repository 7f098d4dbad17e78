"""Every stand-in of a client in one program: a path names the fault."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Final

from conformance.protocols.storage_read.clients.standin import FAULTS, answer
from conformance.readers.info import ReaderInfo, Takes
from conformance.readers.ipc.adapters import Adapter
from conformance.readers.programs.clientspec import ClientProgram

__all__ = ["reader_of", "standins"]

_CORRECT: Final = "correct"
_PATHS: Final = {fault or _CORRECT: fault for fault in ("", *FAULTS)}


class _Standins(ClientProgram):
    """A program that needs no build."""

    def command(self) -> list[str]:
        """The command that starts it."""
        return [sys.executable, "-m", __name__]


def reader_of(fault: str) -> str:
    """The name of the reader that has the fault."""
    return f"standin.{fault or _CORRECT}"


def standins(*faults: str) -> dict[str, ClientProgram]:
    """One program with a path for each of these faults; none is the correct client."""
    infos = {
        name.partition(".")[2]: ReaderInfo(name, "a stand-in", "", Takes.SERVER) for name in map(reader_of, faults)
    }
    return {"standin": _Standins(Adapter("standin", "Stand-in", "Python", Path(__file__).parent), "", infos)}


def main() -> None:
    """Answer requests until standard input ends, each with the fault that its path names."""
    for line in sys.stdin:
        asked = json.loads(line)
        answered = answer(_PATHS[asked.get("path", _CORRECT)], asked)
        if asked["op"] == "hello":
            answered["paths"] = [*_PATHS]
        sys.stdout.write(json.dumps({"id": asked["id"], **answered}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
