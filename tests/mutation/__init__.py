"""Mutation testing: how much of a change to the judge's code the suite's own tests notice.

``python -m tests.mutation`` draws a seeded sample of small changes to the code ("mutants"), runs the tests that reach
each one, and publishes which mutants no test noticed. ``docs/dev/mutation.md`` holds the result and the method.
"""
