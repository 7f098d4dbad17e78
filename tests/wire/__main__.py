"""``python -m tests.wire``: write the snapshots of faults and dumps again."""

from __future__ import annotations

from tests.wire.snapshots import DISSECTED, REPORTED, dissected, reported

if __name__ == "__main__":
    REPORTED.write_text(reported(), encoding="utf-8")
    DISSECTED.write_text(dissected(), encoding="utf-8")
