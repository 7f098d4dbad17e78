"""pyarrow 18.1.0: a decimal32 column is read, and Python code that uses it gets a KeyError. 20.0.0 has the type.

The stream is of pyarrow 26.0.1. It has one column, a decimal32(5, 2) with the value 1.20.
"""

import base64
import sys
import zlib

import pyarrow as pa

STREAM = (
    "c-nQ3OA3TQ3`DD)))vX47a}fPco2^>hnVFoy>+aFh$2{!UsHLcRaO50Dog_e9a{A4sFXQ_Q_q|u^O-UF&d9e8#a%TRsaRdYi|~I*tj-W;w"
    "~U6dhKFb99$b@Pic7@l_+-p}%c+60IMH}p{2}2|gLmaypB{Ur-|a4|2R`o*ga"
)
table = pa.ipc.open_stream(zlib.decompress(base64.b85decode(STREAM))).read_all()
sys.stdout.write(f"{table.num_rows} row, {table.schema}\n")
try:
    sys.stdout.write(f"{table.column(0).to_pylist()}\n")
except KeyError as error:
    sys.stdout.write(f"KeyError: {error}\n")
