"""Reads the table p.d.t of the server in GRPC as users of google-cloud-bigquery-storage do.

With the argument ``list-rows``, as users of google-cloud-bigquery do.
"""

import os
import sys

import grpc
from google.auth.credentials import AnonymousCredentials
from google.cloud import bigquery
from google.cloud.bigquery_storage_v1 import BigQueryReadClient, types
from google.cloud.bigquery_storage_v1.services.big_query_read.transports import BigQueryReadGrpcTransport

client = BigQueryReadClient(transport=BigQueryReadGrpcTransport(channel=grpc.insecure_channel(os.environ["GRPC"])))
if sys.argv[1:] == ["list-rows"]:
    options = {"api_endpoint": os.environ["REST"]}
    found = bigquery.Client(project="p", credentials=AnonymousCredentials(), client_options=options).list_rows("p.d.t")
    tables = [found.to_arrow(bqstorage_client=client, create_bqstorage_client=False)]
else:
    asked = types.ReadSession(table="projects/p/datasets/d/tables/t", data_format="ARROW")
    session = client.create_read_session(parent="projects/p", read_session=asked)
    tables = [client.read_rows(stream.name).to_arrow(session) for stream in session.streams]
sys.stdout.write(f"{[{name: table[name].to_pylist() for name in table.column_names} for table in tables]}\n")
