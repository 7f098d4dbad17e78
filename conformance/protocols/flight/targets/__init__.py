"""Driving servers of Arrow Flight: their locations, logins, puts, exchanges and Flight SQL."""
