"""The part of the Flight reference that speaks Flight SQL, over tables in memory."""
