"""Every stand-in of a Flight client in one program: a path names the fault and what it asks for."""

from __future__ import annotations

import json
import sys
from typing import Final

from conformance.protocols.flight.clients.standin import ASKS, FAULTS, answer

__all__ = ["path_of"]

_CORRECT: Final = "correct"


def path_of(fault: str) -> str:
    """The name of a fault in paths."""
    return fault or _CORRECT


def main() -> None:
    """Answer requests until standard input ends, each with the fault that its path names."""
    faults = {path_of(fault): fault for fault in ("", *FAULTS)}
    for line in sys.stdin:
        asked = json.loads(line)
        name, _, path = asked.get("path", path_of("")).rpartition(".")
        answered = answer(faults.get(name, ""), asked | {"path": path})
        if asked["op"] == "hello":
            answered["paths"] = [f"{one}.{asks}" for one in faults for asks in ASKS]
        sys.stdout.write(json.dumps({"id": asked["id"], **answered}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
