"""Campaigns: millions of cases as a Spark job over Parquet, resumable, comparable, with the judge of every other run.

A campaign is planned as ranges of case indices; each range is drawn, driven, judged and read inside one Spark task,
written as Parquet and committed on its own (:mod:`conformance.campaign.commits`). Native code of targets and decoders
runs in a *lab*, a process beside the Spark worker that may die (:mod:`conformance.campaign.sandbox`).
PySpark is imported by the modules that talk to Spark and by no other, so that a lab starts without it.
"""
