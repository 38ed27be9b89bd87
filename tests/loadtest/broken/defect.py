"""A defect that can be switched on in one service, from outside: a method or function of it is replaced."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from croupier.cli.replicas import service_of


class Defect(NamedTuple):
    """What is done to which service before it starts."""

    service: str
    break_it: Callable[[], None]

    @property
    def meaning(self) -> str:
        """What the service does wrong, in a sentence."""
        return (self.break_it.__doc__ or "").strip()

    def is_of(self, instance: str) -> bool:
        """Whether an instance, such as "engine" or "engine-2", has it."""
        return service_of(instance) == self.service


def named(service: str, breaks: Sequence[Callable[[], None]]) -> Mapping[str, Defect]:
    """Defects of a service by the names of what makes them."""
    return {break_it.__name__.replace("_", "-"): Defect(service, break_it) for break_it in breaks}


def put(owner: Any, name: str, new: Callable[..., object] | object) -> None:
    """Replace an attribute of a class or a module for as long as this process lives."""
    if not hasattr(owner, name):
        raise AttributeError(f"{owner!r} has no {name} any more: the defect has to be made in another way")
    setattr(owner, name, new)


def now_at(owner: Any, name: str) -> Any:
    """What a class or module has under a name so far, also what a module imported for itself alone."""
    return getattr(owner, name)


class Every:
    """True every so many times."""

    def __init__(self, times: int) -> None:
        self._times = times
        self._count = 0

    def __call__(self) -> bool:
        self._count += 1
        return self._count % self._times == 0
