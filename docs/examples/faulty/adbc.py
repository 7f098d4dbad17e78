"""Reads the table p.d.t as users of adbc-driver-bigquery do, through the proxy of front.py."""

import json
import sys

from adbc_driver_bigquery import DatabaseOptions as Option
from adbc_driver_bigquery import dbapi

user = {"type": "authorized_user", "client_id": "x", "client_secret": "x", "refresh_token": "x"}
options = {
    Option.PROJECT_ID.value: "p",
    Option.AUTH_CREDENTIALS.value: json.dumps(user),
    Option.AUTH_TYPE.value: Option.AUTH_VALUE_JSON_CREDENTIAL_STRING.value,
}
with dbapi.connect(db_kwargs=options) as connection, connection.cursor() as cursor:
    cursor.execute("SELECT * FROM d.t")
    sys.stdout.write(f"{cursor.fetch_arrow_table().column(0).to_pylist()}\n")
