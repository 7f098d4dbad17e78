"""A Deephaven server with one table, which anybody may read who says that they are anonymous.

python with_deephaven.py PORT
"""

from __future__ import annotations

import json
import sys
import threading

from deephaven_server import Server

if __name__ == "__main__":
    server = Server(
        port=int(sys.argv[1]),
        jvm_args=["-Xmx2g", "-DAuthHandlers=io.deephaven.auth.AnonymousAuthenticationHandler"],
    )
    server.start()
    # The packages of Deephaven can be imported once the virtual machine runs.
    from deephaven import new_table
    from deephaven.column import long_col, string_col

    words = new_table([long_col("row_id", [1, 2, 3]), string_col("word", ["one", "two", None])])
    sys.stdout.write(json.dumps({"event": "grpc.listen", "port": server.port}) + "\n")
    sys.stdout.flush()
    threading.Event().wait()
