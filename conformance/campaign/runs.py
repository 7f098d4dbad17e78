"""Find the runs in a campaign's directory."""

from __future__ import annotations

from pathlib import Path

from conformance.campaign.campaignjob import CampaignJob
from conformance.campaign.runfolders import RunFiles
from conformance.contain.parse import ForeignJsonError, parse_object
from conformance.disk.files import LARGEST_TEXT, read_whole
from conformance.records import RecordError, from_json
from conformance.targets.targeterrors import TargetError

__all__ = ["RunError", "find_run", "load_job"]


class RunError(TargetError):
    """The run does not exist; the text lists the existing runs."""


def load_job(run: Path) -> CampaignJob:
    """The arguments of the run whose directory is ``run``."""
    path = run / "run.json"
    try:
        return from_json(CampaignJob, parse_object(read_whole(path, LARGEST_TEXT)).get("job"))
    except (ForeignJsonError, RecordError) as error:
        raise RunError(f"{path}: expected the arguments of a campaign of this version: {error}") from None


def find_run(name: str) -> tuple[RunFiles, CampaignJob]:
    """The run that ``DIR`` or ``DIR:RUN`` names; for a directory with one run, ``DIR`` is enough.

    Raises:
        RunError: no run matches, or several do.
    """
    text, _, wanted = name.rpartition(":")
    root, wanted = (Path(text), wanted) if text and not Path(name).is_dir() else (Path(name), "")
    found = sorted(path.parent for path in (root / "runs").glob("*/run.json"))
    chosen = [path for path in found if not wanted or path.name == wanted]
    if len(chosen) != 1:
        names = ", ".join(path.name for path in found) or "none"
        raise RunError(f"expected {name} to name one run, but {root} has these: {names}; name one as DIR:RUN")
    job = load_job(chosen[0])
    layout = RunFiles(root.absolute(), chosen[0].name, job.spec.name, job.profile)
    return layout, job
