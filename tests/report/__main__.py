"""``python -m tests.report``: write the snapshot of all reports again."""

from __future__ import annotations

from tests.report.snapshots import PRINTED, printed

if __name__ == "__main__":
    PRINTED.write_text(printed(), encoding="utf-8")
