"""The table of ``docs/dev/faults.md``: each fault, and what every recorded run made of it."""

from __future__ import annotations

import json
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tests.faults.blame import BLAME, First, Sense
from tests.faults.catalogue import FAULTS, NOT_FAULTS, Fault
from tests.fixtures import ROOT

__all__ = ["REPORT", "page", "render"]

REPORT: Final = ROOT / "reports" / "faults.json"
PAGE: Final = ROOT / "docs" / "dev" / "faults.md"
MARK: Final = "<!-- the rest is written by python -m tests.faults -->\n"
_Run = Mapping[str, Any]


def render() -> dict[Path, str]:
    """The page: what stands in it by hand, and the runs of the report."""
    head = PAGE.read_text(encoding="utf-8").partition(MARK)[0]
    report = json.loads(REPORT.read_text(encoding="utf-8"))
    return {PAGE: head + MARK + page(report["runs"], report.get("blame"))}


def page(runs: Sequence[_Run], blame: _Run | None = None) -> str:
    """The runs, the score of each, the results, the first causes if they were looked at, and the list."""
    return "\n".join(_lines(runs, blame)) + "\n"


def _lines(runs: Sequence[_Run], blame: _Run | None) -> Iterator[str]:
    yield from ("", "## Results", "")
    yield from _table(("run", "date", "commit", "command", "died, of those that count"), map(_summary, runs))
    yield ""
    yield "The first case that failed is given, and the clauses that failed on it. Cases run cheapest first here, so"
    yield "other cases may find the same fault."
    yield ""
    labels = [run["label"] for run in runs]
    yield from _table(("fault", *labels), ([f"`{name}`", *(_result(run, name) for run in runs)] for name in FAULTS))
    if blame is not None:
        yield from _blamed(blame)
    yield from ("", "## The list", "")
    yield from _table(("fault", "the server", "acts on", "why a developer writes it"), map(_described, FAULTS.values()))


def _blamed(run: _Run) -> Iterator[str]:
    firsts = {name: one["first"] for name, one in run["results"].items() if one["first"] is not None}
    senses = {name: _sense(name, found) for name, found in firsts.items()}
    count = Counter(senses.values())
    near = count[Sense.RIGHT] + count[Sense.NEAR]
    yield from ("", "## The first cause", "")
    yield f"`{run['command']}`, last on {run['date']}, commit `{run['commit']}`, each fault judged to the end. The"
    yield f"first cause is right in {count[Sense.RIGHT]} of {len(senses)} faults and right or near in {near}, by the"
    yield f"table of `tests/faults/blame.py`; the median run has {_median(firsts)} causes."
    if run["drawn"] > len(run["results"]):
        yield f"Of the {run['drawn']} faults that were drawn, {run['drawn'] - len(run['results'])} were not judged."
    commits = Counter(one["commit"] for one in run["results"].values())
    if len(commits) > 1:
        yield f"The faults were judged at {len(commits)} commits, which the table names, so these figures are joined:"
        yield "no commit has them alone."
    survived = [f"`{name}`" for name in run["results"] if name not in senses]
    if survived:
        yield f"Nothing failed with {', '.join(survived)}."
    yield ""
    rows = [
        (f"`{name}`", sense, *_first(firsts[name]), f"`{run['results'][name]['commit']}`")
        for name, sense in senses.items()
    ]
    yield from _table(("fault", "first cause", "its clause", "what it says", "causes", "commit"), rows)


def _sense(name: str, found: Mapping[str, Any]) -> Sense:
    return BLAME[name].of(First(**{**found, "contrast": tuple(found["contrast"])}))


def _median(firsts: Mapping[str, Any]) -> int:
    return statistics.median_low([one["causes"] for one in firsts.values()]) if firsts else 0


def _first(found: Mapping[str, Any]) -> Sequence[str]:
    said = "; ".join((found["title"], *found["contrast"]))
    return (f"`{found['clause']}`", said, str(found["causes"]))


def _summary(run: _Run) -> Sequence[str]:
    counted = [name for name in run["results"] if name in FAULTS and _reason(FAULTS[name]) == ""]
    died = sum(run["results"][name]["died"] for name in counted)
    share = f"{died} of {len(counted)}" + (f" ({100 * died / len(counted):.0f} %)" if counted else "")
    return (run["label"], run["date"], f"`{run['commit']}`", f"`{run['command']}`", share)


def _reason(fault: Fault) -> str:
    """The reason for which a fault is not counted, empty if it is."""
    if fault.name in NOT_FAULTS:
        return f"not a fault: {NOT_FAULTS[fault.name]}"
    return fault.inexpressible and f"not counted: {fault.inexpressible}"


def _result(run: _Run, name: str) -> str:
    result = run["results"].get(name)
    if result is None:
        return "not run"
    if result["died"]:
        text = f"died: `{result['case']}` by " + ", ".join(f"`{clause}`" for clause in result["clauses"])
    else:
        text = "**survived**"
    reason = _reason(FAULTS[name])
    return f"{text} ({reason})" if reason else text


def _described(fault: Fault) -> Sequence[str]:
    why = f"{fault.why} [Source]({fault.source})" if fault.source else fault.why
    return (f"`{fault.name}`", fault.description, ", ".join(fault.needs), why)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"
