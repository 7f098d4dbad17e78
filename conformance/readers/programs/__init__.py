"""Real clients in other languages as readers: programs that read a table from a loopback server.

Each directory of ``adapters/`` with a ``client.toml`` is one program; each path in that file is a reader of its own,
because one client often has several ways to read, and their answers differ.
"""
