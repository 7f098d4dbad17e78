"""The Storage Read API in a campaign."""
