"""``conformance drift``: the differences between versions of pyarrow, found before an upgrade."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack, nullcontext
from pathlib import Path

import click

from conformance.cli._group import Unusable
from conformance.cli._interrupts import Interrupted
from conformance.cli._numbers import CASES, DURATION, Number, seed_option
from conformance.cli._options import EXISTING, FILE, FOLDER
from conformance.cli._progress import progress, quiet_option
from conformance.cli._reading import named_files
from conformance.disk.files import data_file, write_inside, write_whole
from conformance.disk.locks import held
from conformance.drift.digests import check_digests, read_digests, write_digests
from conformance.drift.run import MUTANTS, Drift, DriftPlan, run_drift
from conformance.drift.userfiles import NO_FILES, find_files
from conformance.drift.versions import distinct, find_version, ordered
from conformance.report.driftpages import as_json, as_text, read_known, unknown, write_html


@click.command()
@click.option("--from", "older", metavar="VERSION", multiple=True, help="The older version; may be repeated.")
@click.option("--to", "newer", metavar="VERSION", multiple=True, help="The newer version; may be repeated.")
@click.option("--versions", "listed", metavar="VERSION…", multiple=True, help="Several versions at once.")
@click.argument("more", metavar="[VERSION]…", nargs=-1)
@seed_option
@click.option("--share", type=Number(0, 1), default=1.0, help="The fraction of the cases to write.")
@click.option("--mutants", type=CASES, default=MUTANTS, show_default=True, help="Number of mutants to read.")
@click.option("--files", "files", metavar="PATH", multiple=True, help="Your own streams and files, too.")
@click.option("--budget", metavar="TIME", type=DURATION, help="Leave out what takes longer than this, such as 60s.")
@click.option("--case", "case", metavar="ID", default="", help="Only this case; a replay line gives the id.")
@click.option("--every", is_flag=True, help="Report every difference, not one for each group.")
@click.option("--json", "json_file", metavar="FILE", type=FILE, help="Write all results as JSON.")
@click.option("--html", metavar="FILE", type=FILE, help="Write one HTML page.")
@click.option("--save", metavar="DIR", type=FOLDER, help="Write the bytes of every difference.")
@click.option(
    "--known",
    metavar="FILE",
    type=EXISTING,
    help="An earlier JSON report: differences in it do not fail this run.",
)
@click.option("--record", is_flag=True, help="Record digests of the bytes that each version writes.")
@click.option("--check", is_flag=True, help="Compare with the recorded digests; exit with status 1 if they differ.")
@click.option(
    "--golden",
    metavar="DIR",
    type=FOLDER,
    default=lambda: data_file("golden") / "pyarrow",
    show_default="golden/pyarrow",
    help="Directory of the recorded digests.",
)
@quiet_option
def command(
    *,
    older: tuple[str, ...],
    newer: tuple[str, ...],
    listed: tuple[str, ...],
    more: tuple[str, ...],
    seed: int,
    share: float,
    mutants: int,
    files: tuple[str, ...],
    budget: float | None,
    case: str,
    every: bool,
    json_file: Path | None,
    html: Path | None,
    save: Path | None,
    known: Path | None,
    record: bool,
    check: bool,
    golden: Path,
) -> None:
    """Write and read the same cases with several versions of pyarrow, and report the changes from each version to
    the next.

    \b
    conformance drift --from 24.0.0 --to 26.0.1
    conformance drift --from 22 --to 26                     the newest release of each
    conformance drift --versions 14.0.2 16.1.0 18.1.0 20.0.0
    conformance drift --from 24.0.0 --to installed --html drift.html
    conformance drift --from 24.0.0 --to ./pyarrow-27.0.0-cp311-cp311-linux_x86_64.whl --files data --budget 60s

    Each version gets an environment of its own, made once. ``installed`` is the version that the suite itself uses. The
    first line of the report is the decision: SAFE, LOOK HERE or STOP.

    \b
    Exit status: 0 nothing that matters changed, 1 drift that matters or digests that differ, 2 unusable input or a
    file that cannot be written, 130 interrupted.
    """  # noqa: D301  # click wants the character, not the escape
    names = ordered([*older, *newer, *listed, *more])
    _check_options(names, digests=record or check, part=bool(case or share != 1.0 or files or budget is not None))
    own = find_files(files, named_files(files)) if files else NO_FILES
    excused = read_known(known) if known is not None else frozenset()
    with ExitStack() as stack:
        for folder in (golden if record else None, save):
            stack.enter_context(held(folder) if folder is not None else nullcontext())
        shown = stack.enter_context(progress("preparing"))
        plan = DriftPlan(seed, share, mutants, case, files=own, seconds=budget)
        try:
            versions = distinct(find_version(name, say=shown.update) for name in names)
            drift = run_drift(versions, plan, say=shown.update)
        except KeyboardInterrupt:
            raise Interrupted("nothing was compared; environments that were made are kept") from None
        complaints = list(_digests(drift, golden, record=record, check=check))
        click.echo(as_text(drift, every=every, known=excused))
        for complaint in complaints:
            click.echo(complaint)
        _write(drift, json_file, html, save)
    if unknown(drift, excused) or complaints:
        raise click.exceptions.Exit(1)


def _check_options(names: Sequence[str], *, digests: bool, part: bool) -> None:
    """Refuse too few versions, and the digests of a part of the cases."""
    if len(names) < 2 and not (names and digests):
        raise Unusable("expected at least two versions, such as --from 24.0.0 --to 26.0.1")
    if digests and part:
        raise Unusable("digests cover all cases; omit --case, --share, --files and --budget")


def _digests(drift: Drift, folder: Path, *, record: bool, check: bool) -> list[str]:
    found: list[str] = []
    for version, now in drift.digests.items():
        if check:
            found += check_digests(version, read_digests(folder, version), now)
        if record:
            write_digests(folder, version, now)
    return found


def _write(drift: Drift, json_file: Path | None, html: Path | None, save: Path | None) -> None:
    if json_file is not None:
        write_whole(json_file, json.dumps(as_json(drift), indent=1, ensure_ascii=False) + "\n")
    if html is not None:
        write_html(drift, html)
    if save is not None:
        for name, data in drift.saved.items():
            write_inside(save, name, data)
