"""The result of a run in forms for people and programs: terminal, JSON, JUnit, HTML, badge.

Each writer takes a :class:`conformance.engine.result.Result` and adds nothing to it: the engine decides the result,
and two reports of one log always agree.
"""
