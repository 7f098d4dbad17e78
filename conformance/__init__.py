"""The conformance suite for the BigQuery Storage APIs and the Arrow bytes under them."""

import os
import sys

__version__ = "0.5.0.dev0"

# ``python -m conformance`` puts the current directory first in sys.path, where a json.py or a grpc.py would be imported
# in place of the module. argv[0] is "-m" while Python looks for the module that it is to run.
if (
    sys.argv[:1] == ["-m"]
    and not sys.flags.safe_path
    and any(word.removeprefix("-m").partition(".")[0] == "conformance" for word in sys.orig_argv[1:])
    and sys.path[0] != os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120
):
    del sys.path[0]
