"""Compiles ipc.cc against the headers and the library of the installed pyarrow: ``build.py SOURCE OUTPUT``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa


def main() -> int:
    """Run the compiler; its status is that of the build."""
    source, output = sys.argv[1:]
    (folder,) = map(Path, pa.get_library_dirs())
    # The wheel has the library under its versioned name alone.
    (library,) = (each for each in folder.glob("libarrow.*") if each.suffixes and "dylib" not in each.name)
    arguments = ["-std=c++20", "-O1", "-fPIC", "-shared", f"-I{pa.get_include()}", source, "-o", output]
    linked = [f"-L{folder}", f"-l:{library.name}", f"-Wl,-rpath,{folder}"]
    return subprocess.run(["g++", *arguments, *linked], check=False).returncode  # noqa: S603, S607  # on the PATH


if __name__ == "__main__":
    sys.exit(main())
