"""Servers of the Storage Write API as targets."""
