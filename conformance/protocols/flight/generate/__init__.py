"""Generation of cases of Arrow Flight: which steps fit each other, and histories of several clients."""
