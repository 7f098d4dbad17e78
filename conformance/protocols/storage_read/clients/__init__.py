"""Clients of the Storage Read API: situations of sessions, and mutants before clients that read query results."""
