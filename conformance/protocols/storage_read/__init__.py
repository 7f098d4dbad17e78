"""The BigQuery Storage Read API, as each layer of the suite needs to know it."""
