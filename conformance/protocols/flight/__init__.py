"""Arrow Flight RPC and Flight SQL, as each layer of the suite needs to know them."""

from typing import Final

TITLE: Final = "Arrow Flight"
"""Its name in a sentence."""
SOURCE: Final = "https://github.com/apache/arrow/blob/main/format/Flight.proto"
"""The definition of its calls."""
