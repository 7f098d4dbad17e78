"""Reads the stream of the server in FLIGHT as users of adbc-driver-flightsql do."""

import os
import sys

from adbc_driver_flightsql import dbapi

with dbapi.connect(f"grpc://{os.environ['FLIGHT']}", autocommit=True) as connection, connection.cursor() as cursor:
    cursor.execute("SELECT * FROM t")
    sys.stdout.write(f"{cursor.fetch_arrow_table().column(0).to_pylist()}\n")
