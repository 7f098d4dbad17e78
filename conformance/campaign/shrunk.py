"""Shrink the first case of each failure on the driver, with the shrinker of every run and the target in a sandbox."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from conformance.campaign.campaignjob import CampaignJob
from conformance.campaign.guidance import Weights, begin
from conformance.campaign.results import Failure, Results
from conformance.campaign.runfolders import RunFiles
from conformance.campaign.sandboxed import Sandbox
from conformance.engine.casestep import CaseStep
from conformance.engine.counterexample import Shrinker
from conformance.engine.selection import all_clauses
from conformance.readers import ReaderPool

__all__ = ["shrink_failures"]


def shrink_failures(
    layout: RunFiles, job: CampaignJob, results: Results, weights: Weights | None, *, say: Callable[[str], None]
) -> Results:
    """The results with the file of a counterexample for each failure that could be shrunk.

    A failure that does not occur again when its case is put to the target alone gets no file, because the case alone
    does not cause it.
    """
    if not results.failures:
        return results
    register = all_clauses()
    clauses = tuple(register[clause] for clause in job.clauses)
    files: dict[tuple[str, str], str] = {}
    with Sandbox(job) as sandbox, ReaderPool(1, readers=job.readers) as readers:
        step = CaseStep(clauses, sandbox, readers if job.readers else None)
        shrinker = Shrinker(step, layout.counterexamples, expectations=job.spec.expected_failures)
        shrinker.count(results.cases)
        for index in sorted({failure.index for failure in results.failures}):
            work = begin(job, index, weights)
            if work.judged is not None:
                continue  # the suite could not draw it, and its verdict says so
            step.take(work)
            if work.error is not None:
                raise work.error
            for saved in shrinker.pursue(work.case, step.verdicts(work)):
                files[saved.clause, saved.reason] = saved.file
                say(f"shrunk {saved.clause}")
    return dataclasses.replace(results, failures=tuple(_with_file(failure, files) for failure in results.failures))


def _with_file(failure: Failure, files: dict[tuple[str, str], str]) -> Failure:
    return dataclasses.replace(failure, file=files.get((failure.clause, failure.reason), ""))
