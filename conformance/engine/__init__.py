"""Running a suite: what is chosen, how each case is judged, what is excused, and the log from which reports are made.

Nothing here knows a report format; nothing here knows how a target is driven or what a clause means.
"""
