"""Generation of cases of the Storage Write API."""
