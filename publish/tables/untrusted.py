"""``docs/untrusted.md``: the call that suffices for untrusted input, from the counts in ``reports/untrusted.json``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

__all__ = ["COUNTS", "NAME", "rows", "text"]

NAME: Final = "untrusted.md"
COUNTS: Final = Path(__file__).resolve().parents[2] / "reports" / "untrusted.json"

_HEAD: Final = """\
# Which call suffices for untrusted input

<!-- made by `python -m publish.refresh`; a test fails where this file is out of date -->

The format's page on [security](https://arrow.apache.org/docs/format/Security.html) says that libraries "will typically
ensure IPC streams are structurally valid but may not also validate the underlying Array data", and recommends to
validate. This table says how far each call goes. It counts the inputs of [the corpus of invalid
Arrow](ipc.md#the-corpus-of-invalid-arrow) that permit only an error: {inputs} streams and files of version {corpus}.
Their faults are in the structure: lengths, references, offsets, counts, unknown types.

- **through**: the call returns rows, although there is no correct answer. The share is of the inputs that it was given.
- **panic**: it ends in a failed assertion, which callers cannot handle as an error of the library.
- **crash, hang**: the process dies, does not answer within 5 seconds of processor time, or exceeds 1 GiB.

The rest is refused with an error. A call suffices for input from strangers if all three counts are 0. Tensors are left
out, because only pyarrow reads them.

| library | call | inputs | through | share | panic | crash, hang |
|---|---|--:|--:|--:|--:|--:|
"""

_TAIL: Final = """
`python -m publish.untrusted` counts again; calls whose library is not installed are left out. Corpora are samples: a
share of 0 says that no input of this corpus gets through, and not that none exists.
"""


def text() -> str:
    """The content of the file."""
    counts = json.loads(COUNTS.read_text(encoding="utf-8"))
    head = _HEAD.format(inputs=counts["inputs"], corpus=counts["corpus"])
    return head + "".join(rows(counts["calls"])) + _TAIL


def rows(calls: list[Mapping[str, Any]]) -> Iterator[str]:
    """A row for each call, in the order of the file: calls of one library are together."""
    for each in calls:
        answers, inputs = each["answers"], each["inputs"]
        share = f"{100 * answers['through'] / inputs:.1f} %"
        cells = (
            each["library"],
            each["call"],
            inputs,
            answers["through"],
            share,
            answers["panicked"],
            answers["ended"],
        )
        yield f"| {' | '.join(map(str, cells))} |\n"
