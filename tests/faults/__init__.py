"""Faults of behaviour that developers of servers make, to measure what a run of the suite finds.

The list was written from the public description of the service, public defects and the reference server alone: not
from clauses, cases or mutants, and before any fault was judged. ``docs/dev/faults.md`` has the results.
"""
