"""``python -m tests.contract``: the snapshots of every finding, written anew."""

from __future__ import annotations

from tests.contract.snapshots import PARTS, found, path_of

if __name__ == "__main__":
    for part in PARTS:
        path_of(part).write_text(found(part), encoding="utf-8")
