"""Generation of cases of the Storage Read API: which steps fit each other, and scenarios of its servers."""
