"""Build a client in Python: ``build.py FOLDER CACHE`` makes a virtual environment with what requirements.txt pins.

The environment has the client's own versions and sees nothing that is installed beside the suite, except the suite's
package itself, which writes values down. ``build.py FOLDER CACHE --pin`` writes ``requirements.txt`` anew from what
``pip`` resolves for ``wanted.txt``.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import conformance


def main() -> int:
    """Make the environment; returns the exit status."""
    folder, cache, *options = sys.argv[1:]
    home = Path(cache) / "venv"
    wanted = Path(folder) / ("wanted.txt" if "--pin" in options else "requirements.txt")
    done_before = home / wanted.name
    if done_before.exists() and done_before.read_bytes() == wanted.read_bytes():
        return 0
    venv.create(home, with_pip=True, clear=True)
    python = str(home / "bin" / "python")
    install = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement", str(wanted))
    done = subprocess.run(install, check=False)  # noqa: S603  # its own arguments
    if done.returncode:
        return done.returncode
    if "--pin" in options:
        found = subprocess.run([python, "-m", "pip", "freeze"], check=True, capture_output=True, text=True).stdout  # noqa: S603  # as above
        (Path(folder) / "requirements.txt").write_text(found, encoding="utf-8")
    # A folder with a link to the package alone: its neighbours are other versions of what is installed here.
    alone = Path(cache) / "suite"
    alone.mkdir(exist_ok=True)
    (alone / "conformance").unlink(missing_ok=True)
    (alone / "conformance").symlink_to(Path(conformance.__file__).resolve().parent)
    places = sysconfig.get_path("purelib", "venv", {"base": str(home), "platbase": str(home)})
    (Path(places) / "suite.pth").write_text(f"{alone}\n", encoding="utf-8")
    done_before.write_bytes(wanted.read_bytes())  # last: an interrupted build begins again
    return 0


if __name__ == "__main__":
    sys.exit(main())
