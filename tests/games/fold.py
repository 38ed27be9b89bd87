"""The fold law's left side: a view made of nothing but the facts that a viewer got.

This is what every client does; it knows no rule of any game.
"""

from collections import Counter
from collections.abc import Iterable

from croupier.games.facts import (
    Call,
    Called,
    CardOrderChanged,
    CardsMoved,
    ContractChanged,
    Fact,
    GameEnded,
    HandRevealed,
    Mark,
    MarkChanged,
    OwnedPile,
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


def facts_for(facts: Iterable[Fact], viewer: Viewer) -> list[Fact]:
    """Return the facts whose audience includes a viewer."""
    return [fact for fact in facts if fact.audience >> viewer & 1]


def fold(view: View, facts: Iterable[Fact], viewer: Viewer) -> View:
    """Return the view after facts, all of which the viewer received."""
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
        case RoundEnded(score):
            scored = zip(view.seats, score.totals, strict=True)
            return view._replace(seats=tuple(seat._replace(score=total) for seat, total in scored))
        case GameEnded(ranking):
            return view._replace(ranking=ranking, seats_to_act=())
        case _:
            return _fold_said(view, fact)


def _fold_said(view: View, fact: Fact) -> View:
    """Apply a call, a revealed hand or a mark; other facts do not change the view."""
    match fact:
        case Called(call):
            return view._replace(calls=_called(view.calls, call))
        case ContractChanged(changes):
            known = {name: value for name, value in changes._asdict().items() if value is not None}
            return view._replace(contract=view.contract._replace(**known))
        case TrickTaken(seat):
            return _seat(view, seat, tricks_taken=view.seats[seat].tricks_taken + 1)
        case SeatOut(seat, place):
            return _seat(view, seat, is_out=True, place=place)
        case HandRevealed(seat, cards):
            return _seat(view, seat, cards=tuple(sorted(cards)))
        case MarkChanged(mark):
            return view._replace(marks=_marked(view.marks, mark))
        case CardOrderChanged(order):
            return view._replace(card_order=order)
        case _:
            return view


def _seat(view: View, seat: Seat, **changes: object) -> View:
    seats = list(view.seats)
    seats[seat] = SeatView(**(seats[seat]._asdict() | changes))
    return view._replace(seats=tuple(seats))


def _remove(view: View, fact: CardsMoved) -> tuple[View, tuple[PileCard, ...]]:
    """Remove the cards from their source; a card of a pile keeps the seat of its hand."""
    source = fact.source
    if isinstance(source, int):
        held = view.seats[source]
        left = tuple(sorted((Counter(held.cards) - Counter(fact.cards)).elements()))
        view = _seat(view, source, card_count=held.card_count - fact.card_count, cards=left)
    if source is None or isinstance(source, int):
        return view, tuple(PileCard(value, source) for value in fact.cards)
    pile = _pile(view, source)
    lying, taken = list(pile.cards), []
    for value in fact.cards:
        pile_card = next((pile_card for pile_card in lying if pile_card.card == value), None)
        if pile_card is not None:
            lying.remove(pile_card)
        taken.append(pile_card or PileCard(value, None))
    smaller = pile._replace(card_count=pile.card_count - fact.card_count, cards=tuple(lying))
    return _piles(view, smaller), tuple(taken)


def _add(view: View, fact: CardsMoved, taken: tuple[PileCard, ...], viewer: Viewer) -> View:
    target = fact.target
    if isinstance(target, int):
        held = view.seats[target]
        shown = target == viewer or held.cards
        cards = tuple(sorted(held.cards + fact.cards)) if shown else ()
        return _seat(view, target, card_count=held.card_count + fact.card_count, cards=cards)
    if target is None:
        return view
    pile = _pile(view, target)
    larger = pile._replace(
        card_count=pile.card_count + fact.card_count, cards=pile.cards + taken, face_down=fact.face_down
    )
    return _piles(view, larger)


def _pile(view: View, place: str | OwnedPile) -> Pile:
    """Return the pile at a place, empty if there is none."""
    name, owner = place if isinstance(place, OwnedPile) else (place, None)
    found = (pile for pile in view.piles if (pile.name, pile.owner) == (name, owner))
    return next(found, Pile(name, 0, (), owner))


def _piles(view: View, changed: Pile) -> View:
    piles = [pile for pile in view.piles if _place_key(pile) != _place_key(changed)] + [changed]
    return view._replace(piles=tuple(sorted((pile for pile in piles if pile.card_count), key=_place_key)))


def _place_key(pile: Pile) -> tuple[str, Seat]:
    """Return the key that sorts piles by name, a pile of the whole table first."""
    return pile.name, -1 if pile.owner is None else pile.owner


def _called(calls: tuple[Call, ...], call: Call) -> tuple[Call, ...]:
    for at, earlier in enumerate(calls):
        if earlier.seat == call.seat and earlier.action is None:
            return (*calls[:at], call, *calls[at + 1 :])
    return (*calls, call)


def _marked(marks: tuple[Mark, ...], mark: Mark) -> tuple[Mark, ...]:
    others = [other for other in marks if (other.name, other.seat) != (mark.name, mark.seat)]
    kept = [*others, mark] if mark.value else others
    return tuple(sorted(kept, key=lambda mark: (mark.name, -1 if mark.seat is None else mark.seat)))
