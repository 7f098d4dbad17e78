"""Arrow Flight RPC and Flight SQL, as each layer of the suite needs to know them."""

from typing import Final

TITLE: Final = "Arrow Flight"
