"""A client's answer in a situation has one class, and measurements are kept as they are made."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Self

import pytest

from conformance.clients.consequences import Consequence, Measured, Measurements, Measuring, Suite
from conformance.disk.locks import InUseError
from conformance.protocols.storage_read.clients.pool import ClientPool
from conformance.protocols.storage_read.clients.situations import Set, faulty
from tests.patience import LONG
from tests.protocols.storage_read.clients.healthy import healthy
from tests.protocols.storage_read.clients.standins import reader_of, standins

INTERRUPTED = "interrupted.unavailable.stream-0.after-1"
REFUSED = "refused.permission-denied.after-1"
BROKEN = "broken.cut-in-half.response-2"
HARMLESS: Final = ("", "drops-last-row", "starts-again", "backwards", "skips-broken")
"""The faults whose stand-ins neither end their process nor have to be ended."""
KEPT: Final[list[ClientPool]] = []
"""The pool of this module while its tests run."""


def situation(name: str) -> Set:
    """The situation of this name."""
    return healthy() if name == "healthy.numbers" else next(one for one in faulty() if one.id == name)


@pytest.fixture(scope="module", autouse=True)
def _kept() -> Iterator[None]:
    """Clients that leave their process as it was share it, and the server."""
    with ClientPool(standins(*HARMLESS), seconds=LONG) as pool:
        KEPT.append(pool)
        yield
        KEPT.clear()


class View:
    """One path of the kept pool, as a pool that is left open."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def absent(self) -> dict[str, str]:
        """Nothing."""
        return {}

    def __getattr__(self, name: str) -> Any:
        return getattr(KEPT[0], name)


def measuring(into: Measurements, fault: str, *, seconds: float = LONG, **more: Any) -> Measuring[Set]:
    """What measures the stand-in with a fault."""
    if fault in HARMLESS:
        more["pool"] = lambda _programs, names, **_: View(*names)
    more.setdefault("pool", ClientPool)
    return Measuring(standins(fault), [reader_of(fault)], into, seconds=seconds, **more)


def measured(fault: str, asked: Set, file: Path, *, rounds: int = 1, seconds: float = LONG) -> list[Measured]:
    """The measurements of the stand-in with a fault."""
    with (
        Measurements(file) as into,
        measuring(into, fault, rounds=rounds, seconds=seconds) as made,
    ):
        assert made.absent == {}
        made.measure([asked])
        return list(into.all)


@pytest.mark.parametrize(
    ("fault", "name", "expected"),
    [
        ("", INTERRUPTED, Consequence.UNHARMED),
        ("", REFUSED, Consequence.REFUSED),
        ("dies", REFUSED, Consequence.CRASH),
        ("loops", REFUSED, Consequence.HANG),
        ("fills-memory", REFUSED, Consequence.MEMORY),
        ("drops-last-row", "healthy.numbers", Consequence.LOSS),
        ("starts-again", INTERRUPTED, Consequence.DUPLICATES),
        ("backwards", "healthy.numbers", Consequence.WRONG),
    ],
)
def test_a_client_has_the_class_of_its_fault(fault: str, name: str, expected: Consequence, tmp_path: Path) -> None:
    """Each class is that of a stand-in that was made to have it."""
    found = measured(fault, situation(name), tmp_path / "measured", seconds=1.0 if fault == "loops" else LONG)

    assert [one.consequence for one in found] == [expected]
    assert bool(found[0].text) == (expected is not Consequence.UNHARMED)


def test_lost_and_repeated_rows_are_a_loss(tmp_path: Path) -> None:
    """A batch that is skipped behind an interruption is a loss, although the rows before it come twice."""
    broken, interrupted = situation(BROKEN), situation(INTERRUPTED)
    both = dataclasses.replace(broken, plan=interrupted.plan, expected=interrupted.expected)

    assert measured("skips-broken", both, tmp_path / "measured")[0].consequence is Consequence.LOSS


def test_other_values_are_wrong(tmp_path: Path) -> None:
    """Rows of another table are no loss."""
    asked = healthy()
    other = asked.expected.set_column(1, "text", [["other"] * asked.expected.num_rows])

    found = measured("", dataclasses.replace(asked, expected=other), tmp_path / "measured")

    assert [one.consequence for one in found] == [Consequence.WRONG]


def test_measuring_goes_on_where_it_ended(tmp_path: Path) -> None:
    """What the file has is not measured again, and a line that was cut off is."""
    file = tmp_path / "measured"
    first = measured("", healthy(), file, rounds=2)
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(lines[0] + lines[1][:20])

    again = measured("", healthy(), file, rounds=2)

    assert [one.round for one in again] == [0, 1]
    assert again[0] == first[0]
    assert file.read_bytes().splitlines(keepends=True)[0] == lines[0]
    assert [json.loads(line)["round"] for line in file.read_text().splitlines()] == [0, 1]


def test_what_was_published_is_not_measured_again(tmp_path: Path) -> None:
    """It counts as if the file had it, and the file keeps what is new alone."""
    first = measured("", healthy(), tmp_path / "first")
    file = tmp_path / "second"

    with (
        Measurements(file, first) as into,
        measuring(into, "", rounds=2, suite=Suite("1", "abc")) as made,
    ):
        made.measure([healthy()])

    assert [(one.round, one.suite.commit) for one in into.all] == [(0, ""), (1, "abc")]
    assert [json.loads(line)["round"] for line in file.read_text().splitlines()] == [1]


def test_another_situation_of_the_same_name_is_measured(tmp_path: Path) -> None:
    """What is served counts, and not its name alone."""
    file = tmp_path / "measured"
    measured("", healthy(), file)
    other = dataclasses.replace(healthy(), plan=situation(INTERRUPTED).plan)

    assert len({one.digest for one in measured("", other, file)}) == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("limit: it held 1037 MiB more than before, of 1024 allowed; it was ended", Consequence.MEMORY),
        ("limit: it used 5.0 s of processor time, of 5 allowed; it was ended", Consequence.HANG),
        ("deadline: no answer within 15 s; no byte of an answer was seen", Consequence.HANG),
    ],
)
def test_an_old_measurement_has_the_class_of_its_reason(text: str, expected: Consequence, tmp_path: Path) -> None:
    """The end at the limit of memory was a hang once, and its text says which limit it was."""
    file = tmp_path / "measured"
    with Measurements(file) as into:
        into.add(Measured("a.b", "1", "refused.x", "d", 0, Consequence.HANG, text))

    with Measurements(file) as again:
        assert [one.consequence for one in again.all] == [expected]


def test_a_line_that_is_no_measurement_is_named(tmp_path: Path) -> None:
    """The error says the file and the line."""
    file = tmp_path / "measured"
    file.write_text("{}\n")

    with pytest.raises(ValueError, match=r"measured, line 1: expected a measurement, got b'\{\}'"), Measurements(file):
        pass


def test_two_processes_do_not_measure_into_one_file(tmp_path: Path) -> None:
    """The second one ends with a sentence."""
    file = tmp_path / "measured"

    with Measurements(file), pytest.raises(InUseError, match="--measured"), Measurements(file):
        pass


def test_a_client_that_is_not_here_is_said_once(tmp_path: Path) -> None:
    """It is no measurement."""
    asked = [healthy(), situation(REFUSED)]
    (program,) = standins("").values()
    (path,) = program.paths.values()
    other = dataclasses.replace(path, name="standin.other")
    gone = dataclasses.replace(program, paths={"other": other})

    with Measurements(tmp_path / "measured") as into:
        made: Measuring[Set] = Measuring({"standin": gone}, ["standin.other"], into, pool=ClientPool, rounds=1)
        with made:
            made.measure(asked)

    assert list(made.absent) == ["standin.other"]
    assert into.all == []
