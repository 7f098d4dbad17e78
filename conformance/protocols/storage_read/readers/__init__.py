"""What readers can read of an exchange of Storage Read, and the rows that are in it."""
