"""Laws: what holds for every game, each with the remedy if it does not."""

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class LawBroken(AssertionError):
    """A law does not hold; the message says what was found, `remedy` what to change if it is not that of the law."""

    def __init__(self, found: str, remedy: str = "") -> None:
        super().__init__(found)
        self.remedy = remedy


class Law(NamedTuple, Generic[T]):
    """A law about games, or about each of their tables; `remedy` says in one sentence what to change.

    `check` raises LawBroken. Anything else that it raises comes from the rules, which then break the law too.
    """

    name: str
    remedy: str
    check: Callable[[T], None]


def require(holds: object, found: str, remedy: str = "") -> None:
    """Raise LawBroken unless something holds."""
    if not holds:
        raise LawBroken(found, remedy)


def require_equal(what: str, found: object, expected: object) -> None:
    """Raise LawBroken with both values unless they are equal."""
    if found != expected:
        place, one, other = first_difference(found, expected)
        raise LawBroken(f"{what}{place}: {one}, expected {other}")


def first_difference(one: object, other: object, place: str = "") -> tuple[str, object, object]:
    """Return the first place at which two different values differ, such as ".seats[1].score", and the values there."""
    if isinstance(one, tuple | list) and type(one) is type(other) and len(one) == len(other):
        for at, (mine, theirs) in enumerate(zip(one, other, strict=True)):
            if mine != theirs:
                name = f".{one._fields[at]}" if hasattr(one, "_fields") else f"[{at}]"
                return first_difference(mine, theirs, place + name)
    return place, one, other
