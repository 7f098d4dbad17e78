"""Truth packs: what the service itself did, as exchanges that are judged again offline.

A pack is made of two or more recordings of the same cases. It keeps an answer only if two recordings of one region
agree on it. Names, instants and ids that differ from run to run are numbered references (``<stream:1>``), so that two
recordings can be compared, and a value that occurs twice is still the same value in both places.
``docs/truth.md`` documents the form of a pack.
"""
