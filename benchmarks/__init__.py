"""Programs that measure the suite, and the one that makes the published reports."""
