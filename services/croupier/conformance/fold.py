"""The sides of the fold law: a view that the client makes of a viewer's facts alone, and the one of the rules.

The viewer may be ALL_SEATS.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

import croupier_client
from croupier.conformance.law import require
from croupier.engine.api.fact_codec import encode_fact
from croupier.games.facts import ALL_SEATS, SPECTATOR, Fact, Seat, View, Viewer, known_together
from croupier_api.v1.facts_pb2 import TableView

Part = TypeVar("Part")


def facts_for(facts: Iterable[Fact], viewer: Viewer) -> list[Fact]:
    """Return the facts that a viewer receives."""
    return known_together(facts) if viewer == ALL_SEATS else [fact for fact in facts if fact.audience >> viewer & 1]


def fold(view: TableView, facts: Iterable[Fact], viewer: Viewer) -> TableView:
    """Return the view as a message after those of these facts that the viewer receives."""
    names: Mapping[Viewer, croupier_client.Viewer] = {SPECTATOR: None, ALL_SEATS: "all"}
    return croupier_client.fold(view, map(encode_fact, facts_for(facts, viewer)), names.get(viewer, viewer))


def known_view(view_of: Callable[[Viewer], View], seats: int, viewer: Viewer) -> View:
    """Return the view of a viewer by those of the rules; of all seats together each one's own hand.

    What is no hand a seat knows as the spectators do, or it knows more: then all seats that do agree, and it is so.
    """
    if viewer != ALL_SEATS:
        return view_of(viewer)
    public, own = view_of(SPECTATOR), [view_of(seat) for seat in range(seats)]
    views = (public, *own)
    piles = ({(pile.name, _order(pile.owner)): pile for pile in view.piles} for view in views)
    marks = ({(mark.name, _order(mark.seat)): mark for mark in view.marks} for view in views)
    return public._replace(
        seats=tuple(view.seats[seat] for seat, view in enumerate(own)),
        piles=tuple(_most_known(piles)),
        calls=tuple(_told(*calls) for calls in zip(public.calls, *(view.calls for view in own), strict=True)),
        contract=_told(public.contract, *(view.contract for view in own)),
        marks=tuple(_most_known(marks)),
        card_order=_told(public.card_order, *(view.card_order for view in own)),
    )


def _order(owner: Seat | None) -> int:
    return -1 if owner is None else owner


def _most_known(by_view: Iterable[Mapping[tuple[str, int], Part]]) -> Iterator[Part]:
    """Yield by key the part as the seats know it, if it is there."""
    views = list(by_view)
    for key in sorted({key for view in views for key in view}):
        told = _told(*(view.get(key) for view in views))
        if told is not None:
            yield told


def _told(public: Part, *own: Part) -> Part:
    told = {part for part in own if part != public}
    require(len(told) <= 1, f"seats disagree: {told}")
    return told.pop() if told else public
