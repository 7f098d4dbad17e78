"""A Spark session for a campaign: find Java, redirect Spark's output, and send the package to the executors.

Everything that Spark, the JVM and the Python workers print goes to ``spark.log`` in the run's directory.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import shutil
import signal
import sys
import threading
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import conformance
from conformance.contain.command import run_command
from conformance.contain.errors import CannotStart
from conformance.contain.importing import SAFE_PATH
from conformance.contain.supervised import end_foreign
from conformance.targets.targeterrors import TargetError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["JavaMissing", "check_java", "package_archive", "settled_conf", "spark_session"]

JAVA: Final = 17
"""The oldest Java version that PySpark 4 supports (https://spark.apache.org/docs/latest/#downloading)."""

LOG4J: Final = "log4j2.properties"
JAVA_SECONDS: Final = 30.0
JVM_SECONDS: Final = 30.0

_LOG4J: Final = """\
rootLogger.level = warn
rootLogger.appenderRef.file.ref = file
appender.file.type = File
appender.file.name = file
appender.file.fileName = {log}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d{{HH:mm:ss}} %p %c{{1}}: %m%n%ex
"""


class JavaMissing(TargetError):  # noqa: N818  # it names a missing requirement, not an error
    """No usable Java is installed; the text is one sentence that says how to get it."""


def check_java() -> None:
    """Raise :class:`JavaMissing` unless ``JAVA_HOME`` or the path has a Java on which Spark runs."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=os.path.join(home, "bin")) if home else shutil.which("java")  # noqa: PTH118
    advice = (
        f"a campaign runs on Spark, which needs Java {JAVA} or newer: install one"
        " (apt install openjdk-17-jre-headless, dnf install java-17-openjdk-headless, brew install openjdk@17)"
        " or point JAVA_HOME at it"
    )
    if java is None:
        raise JavaMissing(f"no java in {f'JAVA_HOME={home}' if home else 'PATH'}; {advice}")
    try:
        done = run_command([java, "-version"], environment=os.environ, seconds=JAVA_SECONDS)
        said = done.stderr + done.stdout
    except CannotStart as error:
        said = str(error)
    match = re.search(r'version "(?:1\.)?(\d+)', said)
    if match is None or int(match[1]) < JAVA:
        found = f"Java {match[1]}" if match else "no version of Java"
        raise JavaMissing(f"{java} is {found}; {advice}")


def package_archive(directory: Path) -> Path:
    """The package as a zip file from which Python imports, for executors on which it is not installed."""
    root = Path(conformance.__file__).parent
    archive = directory / "conformance.zip"
    directory.mkdir(parents=True, exist_ok=True)
    temporary = archive.with_name(f".{archive.name}.{os.getpid()}")
    with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as target:
        for path in sorted(root.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                target.write(path, Path("conformance") / path.relative_to(root))
    temporary.replace(archive)
    return archive


def _with_retries(master: str) -> str:
    """``local[N]`` with four attempts per task; otherwise one lost Python worker would end the campaign."""
    match = re.fullmatch(r"local(?:\[([^,\]]+)\])?", master)
    return f"local[{match[1] or 1},4]" if match else master


@contextlib.contextmanager
def _quiet(log: Path) -> Iterator[None]:
    """Let processes started inside inherit ``log`` as their standard output and error."""
    log.parent.mkdir(parents=True, exist_ok=True)
    sys.stdout.flush()
    sys.stderr.flush()
    # The descriptors and not sys.stdout: the JVM and Spark's Python workers inherit descriptors.
    saved = [os.dup(1), os.dup(2)]
    try:
        with log.open("ab") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
            yield
    finally:
        for number, copy in enumerate(saved, 1):
            os.dup2(copy, number)
            os.close(copy)


def settled_conf(directory: Path, master: str, python: str, conf: Mapping[str, str]) -> dict[str, str]:
    """The settings of a session in ``directory``, in which Spark also keeps its warehouse: its default is a folder in
    the current directory, which SQL makes even if no table is kept there.
    """
    local = master.startswith("local")
    return {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.pyspark.python": python,
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile=file:{directory / LOG4J}",
        "spark.sql.warehouse.dir": (directory / "spark-warehouse").as_uri(),
        "spark.sql.execution.arrow.maxRecordsPerBatch": "64",
        # The partitions of a plan are work, not data: the few result rows do not need the default of 200 shuffle
        # partitions.
        "spark.sql.shuffle.partitions": "4",
        "spark.python.worker.faulthandler.enabled": "false",
        **({"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"} if local else {}),
        **conf,
    }


@contextlib.contextmanager
def spark_session(
    directory: Path, *, master: str = "local[*]", conf: Mapping[str, str] | None = None
) -> Iterator[SparkSession]:
    """A session with ``master``; logs and the package's archive go to ``directory``.

    Raises:
        JavaMissing: no Java 17 or newer is installed.
    """
    check_java()
    from pyspark.sql import SparkSession  # noqa: PLC0415  # the command reports in one sentence that pyspark is missing

    directory = directory.absolute()
    log = directory / "spark.log"
    directory.mkdir(parents=True, exist_ok=True)
    (directory / LOG4J).write_text(_LOG4J.format(log=log))
    # In a session that spark-submit did not start, PYSPARK_PYTHON names the workers' interpreter and overrides the
    # setting.
    python = (conf or {}).get("spark.pyspark.python", sys.executable)
    os.environ["PYSPARK_PYTHON"], os.environ["PYSPARK_DRIVER_PYTHON"] = python, sys.executable
    # Spark starts its Python workers with -m.
    os.environ.update(SAFE_PATH)
    settled = settled_conf(directory, master, python, conf or {})
    builder = SparkSession.builder.master(_with_retries(master)).appName("conformance campaign")
    for key, value in settled.items():
        builder = builder.config(key, value)
    interrupt = signal.getsignal(signal.SIGINT)
    with _quiet(log):
        session = builder.getOrCreate()
    if threading.current_thread() is threading.main_thread():
        # Spark replaces the handler by one with which a second Ctrl-C would not end this process.
        signal.signal(signal.SIGINT, interrupt)
    # pyspark warns on every conversion that it was not tested with this pandas; a campaign converts by Arrow only.
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    # If an interrupt cut off its request, pyspark also warns that the JVM did not answer.
    warnings.filterwarnings("ignore", "Unable to cleanly shutdown Spark JVM process", RuntimeWarning)
    with _logged(log):
        try:
            session.sparkContext.addPyFile(str(package_archive(directory)))
            yield session
        finally:
            session.stop()
            gateway = session.sparkContext._gateway  # noqa: SLF001  # there is no public handle to the JVM
            if gateway is not None:
                _end_jvm(gateway.proc)


@contextlib.contextmanager
def _logged(log: Path) -> Iterator[None]:
    """Send py4j's log, including its tracebacks of an interrupt, to ``log`` and not to the terminal."""
    root, handler = logging.getLogger(), logging.FileHandler(log, encoding="utf-8")
    ours = not root.handlers  # the handlers of a caller are left alone
    if ours:
        root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
        handler.close()


def _end_jvm(process: Any) -> None:
    """End the JVM that the session started, so that a later one may have other settings."""
    from pyspark import SparkContext  # noqa: PLC0415  # as above

    if process is None:
        return
    if SparkContext._gateway is not None:  # noqa: SLF001  # as above
        SparkContext._gateway.shutdown()  # noqa: SLF001
    SparkContext._gateway = None  # noqa: SLF001
    SparkContext._jvm = None  # noqa: SLF001
    if process.stdin is not None:
        process.stdin.close()  # the JVM of a gateway ends when its stdin closes
    end_foreign(process, JVM_SECONDS)
