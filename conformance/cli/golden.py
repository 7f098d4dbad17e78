"""``conformance golden``: write the golden messages and vectors again, or report differences from them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Final

import click

import conformance
from conformance.cli._interrupts import Interrupted
from conformance.cli._progress import progress, quiet_option
from conformance.disk.files import data_file, inside, write_inside
from conformance.disk.locks import held


def _pairs(folder: Path, *, only_check: bool) -> list[str]:
    from conformance.reference.goldenpairs import check, regenerate  # noqa: PLC0415  # one set does not need the code of the other

    if only_check:
        return check(folder)
    regenerate(folder)
    return []


def _vectors(folder: Path, *, only_check: bool) -> list[str]:
    from conformance.generate.vectors import VectorSet  # noqa: PLC0415  # as above
    from conformance.reference.vectors import make_vectors  # noqa: PLC0415  # as above

    made = make_vectors()
    if only_check:
        return VectorSet.load(folder).differences(made)
    made.write(folder)
    return []


SETS: Final[dict[str, Callable[..., list[str]]]] = {"bq-arrow": _pairs, "ipc": _vectors}


@click.command()
@click.option("--check", "only_check", is_flag=True, help="Write nothing; exit with status 1 if anything differs.")
@click.option(
    "--set", "chosen", type=click.Choice([*SETS]), multiple=True, help="A set; may be repeated. All by default."
)
@click.option(
    "--archive",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write nothing but two archives with an index into this folder: all vectors, and the corpus of invalid data.",
)
@click.option(
    "--dir",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=lambda: data_file("golden"),
    show_default="golden",
    help="The directory with one subdirectory per set.",
)
@quiet_option
def command(*, only_check: bool, chosen: tuple[str, ...], archive: Path | None, folder: Path) -> None:
    """Regenerate the golden files: message pairs of every BigQuery type, and vectors for readers of Arrow IPC.

    Exit status: 0 written, or unchanged; 1 something differs; 2 the directory has no such set, or cannot be written;
    130 interrupted.
    """
    if archive is not None:
        if only_check or chosen:
            raise click.UsageError("expected --archive without --check and --set: it takes all vectors as they are")
        _archive(folder / "ipc", archive)
        return
    complaints: list[str] = []
    done: list[str] = []
    for name in chosen or SETS:
        # Files that are not of the set are removed: behind a link they would be somebody else's.
        place = folder / name if only_check else inside(folder, name)
        with nullcontext() if only_check else held(place), progress(f"making {name}"):
            try:
                complaints += SETS[name](place, only_check=only_check)
            except KeyboardInterrupt:
                raise Interrupted(_kept(done, name, only_check=only_check)) from None
        done.append(name)
    for complaint in complaints:
        click.echo(complaint)
    if complaints:
        raise click.exceptions.Exit(1)
    for name in chosen or SETS:
        click.echo(f"{folder / name}: {'unchanged' if only_check else 'written'}")


def _archive(vectors: Path, into: Path) -> None:
    from conformance.engine.invalidarchive import invalid_archive, invalid_name  # noqa: PLC0415  # as above
    from conformance.generate.vectorarchive import archive_name, vector_archive  # noqa: PLC0415  # as above

    version = conformance.__version__
    for name, make in ((archive_name(version), vector_archive), (invalid_name(version), invalid_archive)):
        data = make(vectors, version)
        write_inside(into, name, data)
        click.echo(f"{into / name}: written, SHA-256 {hashlib.sha256(data).hexdigest()}")


def _kept(done: Sequence[str], name: str, *, only_check: bool) -> str:
    if only_check:
        return f"sets compared: {', '.join(done) or 'none'}"
    whole = f"{' and '.join(done)} is written, " if done else ""
    return f"{whole}{name} may be incomplete; every file is complete, and `conformance golden` writes the rest"
