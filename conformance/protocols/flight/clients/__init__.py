"""Judging Flight clients: each path of a client program is put before a server that answers by a script.

:mod:`.script` is what a server answers, :mod:`.server` serves it, :mod:`.situations` makes the scripts from one
covering array, and :mod:`.mutated` from the mutants of the Flight reference. The requirements are the clauses of the
chapter ``flight-client``.
"""
