"""Reads the table p.d.t as users of the Spark BigQuery connector do, through the proxy of front.py.

The argument is the connector's jar. It needs ``keytool`` of the JDK, and PySpark 3.5.
"""

import os
import shlex
import subprocess
import sys
import tempfile

from pyspark.sql import SparkSession

store = f"{tempfile.mkdtemp()}/store"
trust = f"keytool -importcert -noprompt -alias ca -storetype PKCS12 -storepass public -keystore {store} -file"
subprocess.run([*shlex.split(trust), os.environ["SSL_CERT_FILE"]], check=True, stderr=-3)  # noqa: S603
settings = {
    "spark.jars": sys.argv[1],
    "spark.driver.extraJavaOptions": f"-Djavax.net.ssl.trustStore={store} -Djavax.net.ssl.trustStorePassword=public",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
}
options = {"parentProject": "p", "gcpAccessToken": "x", "proxyAddress": os.environ["HTTPS_PROXY"]}
session = SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
rows = session.read.format("bigquery").options(**options).load("p.d.t").collect()
sys.stdout.write(f"{[row[0] for row in rows]}\n")
