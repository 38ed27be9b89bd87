"""The fold law's left side: a view made of nothing but the facts that a viewer got.

This is what every client does; it knows no rule of any game.
"""

from collections import Counter
from collections.abc import Iterable

from croupier.games.facts import (
    Called,
    CardOrder,
    CardsMoved,
    ContractChanged,
    Fact,
    GameEnded,
    HandRevealed,
    Mark,
    Marked,
    Pile,
    PileCard,
    RoundEnded,
    RoundStarted,
    Seat,
    SeatOut,
    SeatView,
    TrickTaken,
    TurnChanged,
    View,
    Viewer,
)


def heard(facts: Iterable[Fact], viewer: Viewer) -> list[Fact]:
    """The facts that are for a viewer."""
    return [fact for fact in facts if fact.audience >> viewer & 1]


def fold(view: View, facts: Iterable[Fact], viewer: Viewer) -> View:
    """The view after facts, all of which the viewer got."""
    for fact in facts:
        view = _fold(view, fact, viewer)
    return view


def _fold(view: View, fact: Fact, viewer: Viewer) -> View:
    match fact:
        case RoundStarted(round_number, dealer):
            seats = tuple(SeatView(score=seat.score) for seat in view.seats)
            return View(round_number, view.phase, dealer, seats, ranking=view.ranking)
        case CardsMoved():
            left, taken = _remove(view, fact)
            return _add(left, fact, taken, viewer)
        case TurnChanged(phase, to_act):
            return view._replace(phase=phase, seats_to_act=to_act)
        case RoundEnded(totals=totals):
            scored = zip(view.seats, totals, strict=True)
            return view._replace(seats=tuple(seat._replace(score=total) for seat, total in scored))
        case GameEnded(ranking):
            return view._replace(ranking=ranking, seats_to_act=())
        case _:
            return _fold_said(view, fact)


def _fold_said(view: View, fact: Fact) -> View:
    """What was called, shown or marked; all else leaves the view as it is."""
    match fact:
        case Called():
            return view._replace(calls=_called(view.calls, fact))
        case ContractChanged():
            known = {name: value for name, value in fact._asdict().items() if name != "audience" and value is not None}
            return view._replace(contract=view.contract._replace(**known))
        case TrickTaken(seat):
            return _seat(view, seat, tricks_taken=view.seats[seat].tricks_taken + 1)
        case SeatOut(seat, place):
            return _seat(view, seat, out=True, place=place)
        case HandRevealed(seat, cards):
            return _seat(view, seat, cards=tuple(sorted(cards)))
        case Marked(name, marked_seat, value):
            return view._replace(marks=_marked(view.marks, Mark(name, marked_seat, value)))
        case CardOrder(order):
            return view._replace(card_order=order)
        case _:
            return view


def _seat(view: View, seat: Seat, **changes: object) -> View:
    seats = list(view.seats)
    seats[seat] = SeatView(**(seats[seat]._asdict() | changes))
    return view._replace(seats=tuple(seats))


def _remove(view: View, fact: CardsMoved) -> tuple[View, tuple[PileCard, ...]]:
    """Take the cards from where they were; a card that lay on a pile remembers whose hand it came from."""
    source = fact.source
    if isinstance(source, int):
        held = view.seats[source]
        left = tuple(sorted((Counter(held.cards) - Counter(fact.cards)).elements()))
        view = _seat(view, source, card_count=held.card_count - fact.card_count, cards=left)
    if not isinstance(source, str):
        return view, tuple(PileCard(value, source) for value in fact.cards)
    pile = next(pile for pile in view.piles if pile.name == source)
    lying, taken = list(pile.cards), []
    for value in fact.cards:
        laid = next((laid for laid in lying if laid.card == value), None)
        if laid is not None:
            lying.remove(laid)
        taken.append(laid or PileCard(value, None))
    return _piles(view, Pile(source, pile.card_count - fact.card_count, tuple(lying))), tuple(taken)


def _add(view: View, fact: CardsMoved, taken: tuple[PileCard, ...], viewer: Viewer) -> View:
    target = fact.target
    if isinstance(target, int):
        held = view.seats[target]
        shown = target == viewer or held.cards
        cards = tuple(sorted(held.cards + fact.cards)) if shown else ()
        return _seat(view, target, card_count=held.card_count + fact.card_count, cards=cards)
    if target is None:
        return view
    pile = {pile.name: pile for pile in view.piles}.get(target, Pile(target, 0, ()))
    return _piles(view, Pile(target, pile.card_count + fact.card_count, pile.cards + taken))


def _piles(view: View, changed: Pile) -> View:
    piles = [pile for pile in view.piles if pile.name != changed.name] + [changed]
    return view._replace(piles=tuple(sorted((pile for pile in piles if pile.card_count), key=lambda pile: pile.name)))


def _called(calls: tuple[Called, ...], call: Called) -> tuple[Called, ...]:
    call = call._replace(audience=Called(0, None).audience)
    for at, earlier in enumerate(calls):
        if earlier.seat == call.seat and earlier.action is None:
            return (*calls[:at], call, *calls[at + 1 :])
    return (*calls, call)


def _marked(marks: tuple[Mark, ...], mark: Mark) -> tuple[Mark, ...]:
    others = [other for other in marks if (other.name, other.seat) != (mark.name, mark.seat)]
    kept = [*others, mark] if mark.value else others
    return tuple(sorted(kept, key=lambda mark: (mark.name, -1 if mark.seat is None else mark.seat)))
