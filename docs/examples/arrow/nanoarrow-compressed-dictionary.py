"""nanoarrow 0.9.0: a compressed dictionary is read without decompression, as other values or with an error.

The stream is of pyarrow 26.0.1 with LZ4. It has one column, a dictionary of 10 and 20 with the indices 0, 1, 0.
"""

import base64
import io
import sys
import zlib

import nanoarrow
from nanoarrow import ipc

STREAM = (
    "c-oauK?=e!5S%oz4JAkqJ&5!m1;Iyn=+TRR@Zdv=FYxFSe1y;P9%qxPX_0~xwwvzEZg#x){tBRipoBw?1uSobGB8XJY9uR09keSd"
    "auifoti)cG3Abl741);iIWsJeRPDe$Ia6pGIL9agC$)|r(*8cYCvbc-ZsvH1%&-FN@J0GY6?z(G^XWMZyUENf=`)Bv)7li<<gR{bt"
    "M{z-xH@&0C9iEsWnYhV;_Ei&OPjFcCh3{;q5t%;p7_ucUXOk7w-35>f5|T=@gxK"
)
data = zlib.decompress(base64.b85decode(STREAM))
read = nanoarrow.ArrayStream(ipc.InputStream.from_readable(io.BytesIO(data))).read_all()
sys.stdout.write(f"read {read.child(0).to_pylist()}, written [10, 20, 10]\n")
