"""The clauses on servers of Arrow Flight and on its clients, one module for each chapter."""
