"""What came beside what the case holds: what has to come, which row is which, and what differs.

The clauses that ask about it are the chapters'.
"""
