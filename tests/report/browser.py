"""A headless Chromium, asked over its debugging pipe: what a page looks like and does in a real browser."""

from __future__ import annotations

import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from tests.fixtures import ROOT

__all__ = ["AXE", "CHROMIUM", "Browser"]

CHROMIUM: Final = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
AXE: Final = Path(os.environ.get("AXE_CORE") or ROOT / "node_modules" / "axe-core" / "axe.min.js")
"""axe-core, the checker of accessibility; `npm install --no-save axe-core` puts it there."""
_FLAGS: Final = (
    "--headless",
    "--no-sandbox",  # as root in a container; the pages are our own
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--no-first-run",
    "--remote-debugging-pipe",
)
SECONDS: Final = 120.0
"""The longest wait for an answer; most come in milliseconds."""


class Browser:
    """A browser with one page; use it as a context manager."""

    def __init__(self, profile: Path) -> None:
        self._profile = profile
        self._number = 0
        self._left = b""
        self._session = ""
        self.events: list[dict[str, Any]] = []
        """What the page did since it was opened: requests, messages of the console, exceptions."""

    def __enter__(self) -> Self:
        assert CHROMIUM is not None
        ends = [*os.pipe(), *os.pipe()]
        # Above ten, because the browser reads from 3 and writes to 4, which may be among them.
        theirs_in, ours_out, ours_in, theirs_out = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends)
        for end in ends:
            os.close(end)
        command = [CHROMIUM, *_FLAGS, f"--user-data-dir={self._profile}", "about:blank"]
        self._process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}', "bash", *command],
            pass_fds=(theirs_in, theirs_out),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._in, self._out = ours_in, ours_out
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.ask(f"{domain}.enable")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._in)
        os.close(self._out)

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The answer to a command; events that come before it are kept."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._out, data) :]
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer["error"])
                result: dict[str, Any] = answer["result"]
                return result
            self.events.append(answer)

    def _next(self) -> dict[str, Any]:
        until = time.monotonic() + SECONDS
        while b"\0" not in self._left:
            ready, _, _ = select.select([self._in], [], [], max(0.0, until - time.monotonic()))
            came = os.read(self._in, 1 << 20) if ready else b""
            assert came, "the browser ended or does not answer"
            self._left += came
        one, _, self._left = self._left.partition(b"\0")
        message: dict[str, Any] = json.loads(one)
        return message

    def open(self, page: Path, *, width: int = 1280, dark: bool = False, script: bool = True) -> None:
        """Load a page from a file and wait until it is complete."""
        assert page.is_file(), f"{page} is not there: the browser would show a page of its own"
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
        self.media("screen", dark=dark)
        self.ask("Emulation.setScriptExecutionDisabled", value=not script)
        self.events.clear()
        self.ask("Page.navigate", url=page.as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next())

    def media(self, kind: str, *, dark: bool = False) -> None:
        """Show the page as on a screen or in print, light or dark."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", media=kind, features=[scheme])

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page; a promise is awaited."""
        answer = self.ask("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def violations(self) -> list[str]:
        """What axe-core finds in the page as it is now: the rule and the first element of each finding."""
        self.evaluate(AXE.read_text(encoding="utf-8") + "; undefined")
        found = self.evaluate(
            "axe.run().then(result => result.violations.map(one =>"
            " `${one.id} (${one.nodes.length}): ${one.nodes[0].html.slice(0, 200)}: ${one.nodes[0].failureSummary}`))"
        )
        assert isinstance(found, list)
        return found

    @property
    def requests(self) -> list[str]:
        """The addresses that the page requested."""
        return [
            event["params"]["request"]["url"]
            for event in self.events
            if event.get("method") == "Network.requestWillBeSent"
        ]

    @property
    def complaints(self) -> list[str]:
        """Exceptions, and errors and warnings of the console."""
        said = []
        for event in self.events:
            method, parameters = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                said.append(json.dumps(parameters["exceptionDetails"]))
            elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
                said.append(json.dumps(parameters["args"]))
            elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
                said.append(parameters["entry"]["text"])
        return said
