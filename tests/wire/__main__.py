"""``python -m tests.wire``: the snapshots of places, words and values, written anew."""

from __future__ import annotations

from tests.wire.snapshots import DISSECTED, REPORTED, dissected, reported

if __name__ == "__main__":
    REPORTED.write_text(reported(), encoding="utf-8")
    DISSECTED.write_text(dissected(), encoding="utf-8")
