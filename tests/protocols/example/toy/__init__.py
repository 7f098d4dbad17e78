"""A toy protocol: a server that gives back the words that it gets. ``docs/dev/protocols.md`` explains it."""
