"""Laws: what holds for every game, each with the remedy if it does not."""

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class LawBroken(AssertionError):
    """A law does not hold; the message says what was found."""


class Law(NamedTuple, Generic[T]):
    """A law about games, or about each of their tables; `remedy` says in one sentence what to change.

    `check` raises LawBroken. Anything else that it raises comes from the rules, which then break the law too.
    """

    name: str
    remedy: str
    check: Callable[[T], None]


def require(holds: object, found: str) -> None:
    """Raise LawBroken unless something holds."""
    if not holds:
        raise LawBroken(found)


def require_equal(what: str, found: object, expected: object) -> None:
    """Raise LawBroken with both values unless they are equal."""
    if found != expected:
        raise LawBroken(f"{what}: {found}, expected {expected}")
