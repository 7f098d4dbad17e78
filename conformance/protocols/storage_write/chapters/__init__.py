"""The clauses on servers of the Storage Write API."""
