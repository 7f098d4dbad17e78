"""The adapters that are built on this machine, each in one process for all tests."""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from adapters.building import Built, find
from adapters.spec import shipped

BUILT = {name: built for name, spec in sorted(shipped("adapter.toml").items()) if (built := find(spec)) is not None}
"""The adapters that are built here; a module that needs them is skipped as a whole if there are none."""
NONE_BUILT = "no adapter is built here: run python -m adapters"


class Program:
    """A started adapter: one request, one answer."""

    def __init__(self, name: str, built: Built) -> None:
        self.name = name
        self.version = built.version
        self._asked = 0
        self._process = subprocess.Popen(
            built.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    def line(self, line: bytes) -> dict[str, Any]:
        """The answer to a line, whatever it holds."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line + b"\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def ask(self, op: str, *, data: bytes = b"", schema: bytes = b"", **members: Any) -> dict[str, Any]:
        """The answer to a request, whose id it repeats."""
        self._asked += 1
        request = {
            "id": self._asked,
            "op": op,
            "data": base64.b64encode(data).decode(),
            "schema": base64.b64encode(schema).decode(),
            **members,
        }
        answer = self.line(json.dumps(request).encode())
        assert answer.pop("id") == self._asked
        return answer

    def read(self, data: bytes, kind: str = "stream", **options: Any) -> dict[str, Any]:
        """The answer to a request to read."""
        return self.ask("read", kind=kind, data=data, options=options)

    def write(self, data: bytes, kind: str = "stream", **options: Any) -> bytes:
        """The bytes that the library writes for a stream; fails with the answer if it writes none."""
        answer = self.ask("write", kind=kind, data=data, options=options)
        assert answer["status"] == "ok", answer
        return base64.b64decode(answer["data"])

    def close(self) -> None:
        """Let the program end by itself, as it does when its input ends."""
        self._process.communicate()


@pytest.fixture(scope="session", params=BUILT)
def program(request: pytest.FixtureRequest) -> Iterator[Program]:
    """Every adapter that is built here; ``test_built.py`` names the others."""
    started = Program(request.param, BUILT[request.param])
    yield started
    started.close()
