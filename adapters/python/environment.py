"""Build a client in Python: ``environment.py FOLDER CACHE`` makes a virtual environment of what requirements.txt pins.

The environment has the client's own versions and sees nothing that is installed beside the suite, except the suite's
package itself, which writes values down. ``environment.py FOLDER CACHE --pin`` writes ``requirements.txt`` anew from
what ``pip`` resolves for ``wanted.txt``. If there is a ``pom.xml``, ``build.py`` of ``adapters/java`` fetches its jars.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import conformance


def main() -> int:
    """Make the environment, and fetch the jars; returns the exit status."""
    folder, cache, *options = sys.argv[1:]
    status = environment(Path(folder), Path(cache), pin="--pin" in options)
    if status or not (Path(folder) / "pom.xml").exists():
        return status
    java = [sys.executable, str(Path(cache) / "build.py"), folder, cache]
    return subprocess.run(java, check=False).returncode  # noqa: S603  # its own arguments


def environment(folder: Path, cache: Path, *, pin: bool) -> int:
    """Make the environment, unless there is one of the same packages; returns the exit status."""
    home = cache / "venv"
    wanted = folder / ("wanted.txt" if pin else "requirements.txt")
    made_of = home / wanted.name
    if made_of.exists() and made_of.read_bytes() == wanted.read_bytes():
        return 0
    venv.create(home, with_pip=True, clear=True)
    python = str(home / "bin" / "python")
    install = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement", str(wanted))
    done = subprocess.run(install, check=False)  # noqa: S603  # its own arguments
    if done.returncode:
        return done.returncode
    if pin:
        found = subprocess.run([python, "-m", "pip", "freeze"], check=True, capture_output=True, text=True).stdout  # noqa: S603  # as above
        (folder / "requirements.txt").write_text(found, encoding="utf-8")
    # A folder with a link to the package alone: its neighbours are other versions of what is installed here.
    alone = cache / "suite"
    alone.mkdir(exist_ok=True)
    (alone / "conformance").unlink(missing_ok=True)
    (alone / "conformance").symlink_to(Path(conformance.__file__).resolve().parent)
    places = sysconfig.get_path("purelib", "venv", {"base": str(home), "platbase": str(home)})
    (Path(places) / "suite.pth").write_text(f"{alone}\n", encoding="utf-8")
    made_of.write_bytes(wanted.read_bytes())  # last: an interrupted build begins again
    return 0


if __name__ == "__main__":
    sys.exit(main())
