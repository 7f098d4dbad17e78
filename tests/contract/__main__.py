"""``python -m tests.contract``: write the snapshots of all findings again."""

from __future__ import annotations

from tests.contract.snapshots import PARTS, found, path_of

if __name__ == "__main__":
    for part in PARTS:
        path_of(part).write_text(found(part), encoding="utf-8")
