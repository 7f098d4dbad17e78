"""The result of a run in the forms that people and programs read: terminal, JSON, JUnit, HTML, badge.

Each writer takes a :class:`conformance.engine.result.Result` and adds nothing to it: what a run comes to is decided
in the engine, and two reports of one log never disagree.
"""
