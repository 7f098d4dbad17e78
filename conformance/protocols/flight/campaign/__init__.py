"""Arrow Flight in a campaign."""
