"""Run a suite: select cases, judge each one, apply expected failures, and write the log from which reports are made.

This package does not know report formats, how a target is driven, or what a clause means.
"""
