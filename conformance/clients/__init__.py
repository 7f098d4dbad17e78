"""Judging clients: each path of a client program is put before a server that behaves in known ways.

:mod:`.situations` makes the ways, :mod:`.pool` runs the programs, :mod:`.task` judges their answers into the events of
a run. The requirements are the clauses of the chapter ``client``.
"""
