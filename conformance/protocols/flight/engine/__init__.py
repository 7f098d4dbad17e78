"""Arrow Flight in the engine: what its servers offer, the flights that a target file describes, recorded calls."""
