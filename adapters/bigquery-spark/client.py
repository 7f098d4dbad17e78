"""Client of the Spark BigQuery connector under PySpark: reads tables of a loopback server for the suite.

Built by ``python -m adapters bigquery-spark``; ``serving.py`` speaks the protocol. One Spark session serves every
request. The connector speaks gRPC over TLS alone, so the suite's authority goes into a trust store of this process.
Values are those of Spark's rows, which Spark itself writes as Arrow for pandas.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from serving import serve, whole

HERE = Path(__file__).parent
JAR = next((HERE / "jars").glob("spark-3.5-bigquery-*.jar"))
SECRET = "conformance"  # noqa: S105  # of a store of certificates, which are public
DIGITS = "38"
"""Spark's decimals have no more; the connector takes a BIGNUMERIC as one with these digits before and behind."""

scratch = tempfile.TemporaryDirectory(prefix="client-spark-")
store = Path(scratch.name) / "trust.p12"
trusted: set[str] = set()


def started() -> SparkSession:
    """The session; the first request fills the trust store, which Java opens when it first needs it."""
    trusting = f"-Djavax.net.ssl.trustStore={store} -Djavax.net.ssl.trustStorePassword={SECRET}"
    builder = SparkSession.builder.master("local[2]").appName("conformance")
    settings = {
        "spark.jars": str(JAR),
        "spark.driver.extraJavaOptions": trusting,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.task.maxFailures": "1",
        "spark.sql.session.timeZone": "UTC",
        "spark.local.dir": scratch.name,
        "spark.sql.warehouse.dir": f"{scratch.name}/warehouse",
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def trust(authority: str) -> None:
    """Put the certificate into the store; a session trusts one authority."""
    if authority not in trusted:
        command = ["keytool", "-importcert", "-noprompt", "-alias", "ca", "-storetype", "PKCS12", "-file", authority]
        command += ["-keystore", str(store), "-storepass", SECRET]
        subprocess.run(command, check=True, stdout=2)  # noqa: S603  # its own arguments
        trusted.add(authority)


class JavaError(Exception):
    """The innermost Java exception of a call: the class ``name``, and its message without the stack."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


def load(asked: Mapping[str, Any]) -> list[pa.RecordBatch]:
    """The rows of a data frame of the table; raises :class:`JavaError`, and ends the program if Spark ends."""
    try:
        return loaded(asked)
    except Py4JJavaError as error:
        cause = error.java_exception
        while cause.getCause() is not None:
            cause = cause.getCause()
        name = str(cause.getClass().getName())
        if name == "java.lang.OutOfMemoryError":
            # Spark ends its virtual machine after this error, but not at once: the next request would be blamed for it.
            end(error)
        raise JavaError(name, str(cause.getMessage())) from None
    except (Py4JError, ConnectionError) as error:
        # Not of Java: the connection to the virtual machine broke, and the next request would be blamed for it.
        end(error)


def loaded(asked: Mapping[str, Any]) -> list[pa.RecordBatch]:
    """The rows of a data frame of the table."""
    project, dataset, table = whole(asked)
    trust(asked["ca"])
    options = {
        "parentProject": project,
        "gcpAccessToken": "none",
        "bigQueryHttpEndpoint": asked["rest"],
        "bigQueryStorageGrpcEndpoint": asked["grpc_tls"],
        "bigNumericDefaultPrecision": DIGITS,
        "bigNumericDefaultScale": DIGITS,
        # A session that is cached would be the one of an earlier table with the same name.
        "enableReadSessionCaching": "false",
    }
    frame = spark.read.format("bigquery").options(**options).load(f"{project}.{dataset}.{table}")
    schema = to_arrow_schema(frame.schema)
    return [pa.RecordBatch.from_pylist([], schema=schema), *frame._collect_as_arrow()]  # noqa: SLF001  # as toPandas does


def class_of(error: Exception) -> str:
    """The class of a Java exception, else the error's type."""
    return error.name if isinstance(error, JavaError) else type(error).__name__


def end(error: Exception) -> NoReturn:
    """Say why the virtual machine of Spark ends, and end the program."""
    sys.stderr.write(f"the virtual machine of Spark ends: {error}\n")
    sys.stderr.flush()
    os._exit(1)


if __name__ == "__main__":
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    spark = started()
    version = JAR.stem.rpartition("-")[2]
    serve(
        {"implementation": "bigquery-spark", "title": "spark-3.5-bigquery", "version": version},
        {"load": load},
        class_of,
    )
