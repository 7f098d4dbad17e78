"""Programs that measure what the suite costs."""
