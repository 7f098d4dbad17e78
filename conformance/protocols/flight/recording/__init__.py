"""Arrow Flight for the proxy."""
