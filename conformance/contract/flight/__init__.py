"""Arrow Flight RPC as the clauses see it: messages read and written by hand, calls, infos and streams of data."""
