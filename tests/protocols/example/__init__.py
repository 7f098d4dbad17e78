"""The toy protocol of the guide ``docs/dev/protocols.md``."""
