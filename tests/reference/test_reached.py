"""Which attributes of a service a case uses, and in which a deviation differs."""

from __future__ import annotations

import abc
import copy

from conformance.reference.reached import Recorder, differences


class Shop:
    """A service with two methods that calls are given to, and steps of its own."""

    price = 2

    def sell(self, count: int) -> int:
        """A call."""
        return count * self.price

    def close(self) -> str:
        """Another call."""
        return self.farewell()

    def farewell(self) -> str:
        """A step."""
        return "goodbye"


class Dear(Shop):
    """Asks for more."""

    price = 3


class Made(Shop):
    """Is made in another way."""

    def __init__(self) -> None:
        self.price = 4


class Beside:
    """Another base."""


class Stall(abc.ABC):
    """A service whose class is abstract, as that of Storage Read is."""

    @abc.abstractmethod
    def place(self) -> str:
        """A step that each service has to have."""


class Market(Stall):
    """Has that step."""

    def place(self) -> str:
        """The step."""
        return "here"


class Fair(Market):
    """Has another one."""

    def place(self) -> str:
        """The step."""
        return "there"


class Mixed(Beside, Dear):
    """Has a base beside the service."""


def used_by(call: str, *arguments: int) -> set[str]:
    """What a call uses."""
    recorder = Recorder(frozenset({"sell", "close"}))
    service = recorder.recording(Shop)()
    with recorder.afresh() as used:
        getattr(service, call)(*arguments)
    return set(used)


def test_a_deviation_differs_in_what_it_replaces() -> None:
    """An attribute that a base class replaced counts too; a docstring does not."""
    assert differences(Shop, Shop) == frozenset()
    assert differences(Dear, Shop) == {"price"}


def test_the_bookkeeping_of_abstract_classes_is_no_difference() -> None:
    """Each class below one has its own, and no service of Storage Read would be known."""
    assert differences(Fair, Market) == {"place"}


def test_what_is_made_in_another_way_may_differ_in_anything() -> None:
    """A constructor may set attributes of the instance, which the class does not show."""
    assert differences(Made, Shop) is None


def test_a_class_beside_the_reference_adds_attributes() -> None:
    """The reference's own bases come last in both, and what stands before them is compared."""
    assert differences(Mixed, Shop) == {"price"}
    assert differences(Beside, Shop) is None


def test_an_attribute_is_used_where_it_is_looked_up() -> None:
    """Through a method of the service as well."""
    assert used_by("sell", 2) == {"sell", "price"}
    assert used_by("close") == {"close", "farewell"}


def test_a_method_that_calls_are_given_to_is_used_when_it_is_called() -> None:
    """A server looks all of them up to register them."""
    recorder = Recorder(frozenset({"sell", "close"}))
    service = recorder.recording(Shop)()

    with recorder.afresh() as used:
        handlers = [service.sell, service.close]
        handlers[0](1)

    assert used == {"sell", "price"}


def test_a_class_whose_instances_were_copied_differs_in_nothing_more() -> None:
    """Python notes on the class what is copied, when an instance is copied for the first time."""
    copy.copy(Dear())

    assert differences(Dear, Shop) == {"price"}
