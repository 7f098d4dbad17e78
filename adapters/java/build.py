"""Build a Java program: ``build.py FOLDER CACHE`` fetches the jars of its pom.xml, checks and compiles them.

``FOLDER/jars.sha256`` pins every jar by name and SHA-256; a jar that is missing, new or different fails the build.
``build.py FOLDER CACHE --pin`` writes the file anew from what Maven resolves.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
"""Maven has no command of its own that fetches jars; this plugin of the Maven project does."""


def main() -> int:
    """Fetch, check and compile; returns the exit status."""
    folder, cache, *options = sys.argv[1:]
    pins, jars = Path(folder) / "jars.sha256", Path(cache) / "jars"
    shutil.rmtree(jars, ignore_errors=True)
    maven = ("mvn", "--batch-mode", "-Dstyle.color=never", "--quiet", "--file", str(Path(folder) / "pom.xml"), COPY)
    command = [*maven, f"-DoutputDirectory={jars}", "-DincludeScope=runtime"]
    subprocess.run(command, check=True)  # noqa: S603  # its own arguments
    found = "".join(
        f"{hashlib.sha256(jar.read_bytes()).hexdigest()}  {jar.name}\n" for jar in sorted(jars.glob("*.jar"))
    )
    if "--pin" in options:
        pins.write_text(found, encoding="utf-8")
    expected = pins.read_text(encoding="utf-8")
    if found != expected:
        differ = sorted(set(found.splitlines()) ^ set(expected.splitlines()))
        sys.stderr.write(f"error: expected the jars of {pins}, but these lines differ: {'; '.join(differ)}\n")
        return 1
    sources = sorted(str(file) for file in Path(cache).glob("*.java"))
    if not sources:
        return 0
    command = ["javac", "-d", cache, "-cp", f"{jars}/*", *sources]
    return subprocess.run(command, check=False).returncode  # noqa: S603  # as above


if __name__ == "__main__":
    sys.exit(main())
