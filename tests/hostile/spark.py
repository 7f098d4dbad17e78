"""Campaigns that are attacked: workers and drivers killed, a full disk. They need Spark, and are slow."""

from __future__ import annotations

import functools
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tests.hostile.attack import Act, Expected, Part, register
from tests.hostile.setups import ROOT, Command

if TYPE_CHECKING:
    from tests.hostile.measure import Running

__all__: list[str] = []

CASES: Final = 400
DEADLINE: Final = 150.0


def _campaign(name: str, expected: Expected) -> Callable[[Act], Act]:
    """Register a function that disturbs a campaign over pyarrow's serializer, while it runs."""

    def registered(disturb: Act) -> Act:
        @functools.wraps(disturb)
        def arranged(place: Path, cookie: str) -> Command:
            target = ROOT / "targets" / "pyarrow.toml"
            words = ["campaign", "--target", str(target), "--cases", str(CASES), "--no-shrink", "--out", "out"]
            return Command([*words, "--master", "local[2]"], during=disturb)

        register(name, Part.COMMAND, expected, deadline=DEADLINE, slow=True)(arranged)
        return disturb

    return registered


def _working(running: Running) -> list[Any]:
    """The Python workers below the campaign, once there are any."""
    from tests.campaign.spark import spark_workers  # noqa: PLC0415  # not in the processes that attack

    running.wait_for(lambda: bool(spark_workers(running.pid)), DEADLINE)
    return spark_workers(running.pid)


@_campaign("spark.killed-worker", Expected(status=(0,)))
def killed_worker(running: Running) -> None:
    """A Python worker of Spark is killed during the campaign."""
    for worker in _working(running)[:1]:
        worker.kill()


@_campaign("spark.killed-driver", Expected(status=(-9,)))
def killed_driver(running: Running) -> None:
    """The main process of a campaign is killed."""
    _working(running)
    running.signal(signal.SIGKILL)


@_campaign("spark.interrupted", Expected(status=(1, 130)))
def interrupted(running: Running) -> None:
    """Ctrl-C arrives during a campaign."""
    _working(running)
    running.interrupt()


@register(
    "spark.full-disk", Part.COMMAND, Expected(status=(1, 2), says="space|File too large"), deadline=DEADLINE, slow=True
)
def full_disk(place: Path, cookie: str) -> Command:
    """No file of a campaign may grow beyond 64 KiB."""
    target = ROOT / "targets" / "pyarrow.toml"
    words = ["campaign", "--target", str(target), "--cases", str(CASES), "--no-shrink", "--out", "out"]
    wrap = ["/bin/sh", "-c", 'ulimit -f 128; exec "$@"', "sh"]
    return Command([*words, "--master", "local[2]"], wrap=wrap)
