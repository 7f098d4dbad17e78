"""Campaigns: millions of cases as a resumable Spark job over Parquet, with the same judge as every other run.

A campaign is divided into ranges of case indices. One Spark task draws, drives, judges and reads a range, writes it
as Parquet and commits it separately (:mod:`conformance.campaign.commits`). Native code of targets and decoders runs
in a *sandbox*, a child process of the Spark worker that may die (:mod:`conformance.campaign.sandbox`). Only the
modules that use Spark import PySpark, so that a sandbox starts without it.
"""
