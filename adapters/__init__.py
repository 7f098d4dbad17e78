"""Programs in other languages that read and write Arrow IPC data for the suite, and their builds.

Each directory with an ``adapter.toml`` is one program that exchanges JSON lines on standard input and output;
``docs/adapters.md`` describes the protocol. ``python -m adapters`` builds those that this machine can build.
"""
