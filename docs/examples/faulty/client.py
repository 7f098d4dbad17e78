"""Reads the table p.d.t of the server in GRPC as users of google-cloud-bigquery-storage do."""

import os
import sys

import grpc
from google.cloud.bigquery_storage_v1 import BigQueryReadClient, types
from google.cloud.bigquery_storage_v1.services.big_query_read.transports import BigQueryReadGrpcTransport

client = BigQueryReadClient(transport=BigQueryReadGrpcTransport(channel=grpc.insecure_channel(os.environ["GRPC"])))
asked = types.ReadSession(table="projects/p/datasets/d/tables/t", data_format="ARROW")
session = client.create_read_session(parent="projects/p", read_session=asked)
tables = [client.read_rows(stream.name).to_arrow(session) for stream in session.streams]
sys.stdout.write(f"{[text for table in tables for text in table.column('s').to_pylist()]}\n")
