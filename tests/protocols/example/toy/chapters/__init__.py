"""The clauses of the toy protocol."""
