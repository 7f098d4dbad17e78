"""Programs in other languages that read and write Arrow IPC data for the suite, and what builds them.

Each directory with an ``adapter.toml`` is one program that speaks line JSON on standard input and output;
``docs/adapters.md`` has the protocol. ``python -m adapters`` builds what can be built on this machine.
"""
