"""``python -m tests.report``: the snapshot of every report, written anew."""

from __future__ import annotations

from tests.report.snapshots import PRINTED, printed

if __name__ == "__main__":
    PRINTED.write_text(printed(), encoding="utf-8")
