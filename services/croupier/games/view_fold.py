"""The fold of facts into a view, as values; the client folds the messages of the contract in the same way."""

from collections.abc import Iterable, Sequence
from typing import Any

from croupier.games import facts
from croupier.games.cards import Card
from croupier.games.facts import Call, CardsMoved, Contract, Fact, Mark, OwnedPile, Pile, PileCard, Seat, View, Viewer


def fold(view: View, told: Iterable[Fact], viewer: Viewer) -> View:
    """Return the view of a viewer after those of these facts that the viewer receives."""
    for fact in told:
        if fact.audience >> viewer & 1:
            view = _folded(view, fact, viewer)
    return view


def _folded(view: View, fact: Fact, viewer: Viewer) -> View:
    match fact:
        case CardsMoved():
            return _moved(view, fact, viewer)
        case facts.TurnChanged(phase, seats_to_act):
            return view._replace(phase=phase, seats_to_act=seats_to_act)
        case facts.MarkChanged(mark):
            return view._replace(marks=_with_mark(view.marks, mark))
        case facts.Called(call):
            return view._replace(calls=_with_call(view.calls, call))
        case facts.ContractChanged(changes):
            return view._replace(contract=_merged(view.contract, changes))
        case facts.CardOrderChanged(cards):
            return view._replace(card_order=cards)
        case _:
            return _with_result(view, fact)


def _with_result(view: View, fact: Fact) -> View:
    """Fold the beginning of a round, what seats have won or shown, and the end of the round and the game."""
    match fact:
        case facts.RoundStarted(round_number, dealer):
            seats = tuple(facts.SeatView(score=seat.score) for seat in view.seats)
            return View(round_number, view.phase, dealer, seats, ranking=view.ranking)
        case facts.TrickTaken(seat):
            return _with_seat(view, seat, tricks_taken=view.seats[seat].tricks_taken + 1)
        case facts.SeatOut(seat, place):
            return _with_seat(view, seat, is_out=True, place=place)
        case facts.HandRevealed(seat, cards):
            return _with_seat(view, seat, cards=tuple(sorted(cards)), known_cards=())
        case facts.RoundEnded(score):
            pairs = zip(view.seats, score.totals, strict=True)
            return view._replace(seats=tuple(seat._replace(score=total) for seat, total in pairs))
        case facts.GameEnded(ranking, is_void=is_void):
            return view._replace(seats_to_act=(), ranking=ranking, is_void=is_void)
    raise ValueError(f"invalid fact {fact}: expected one of the classes of Fact")


def _with_seat(view: View, seat: Seat, **changes: Any) -> View:
    changed = view.seats[seat]._replace(**changes)
    return view._replace(seats=(*view.seats[:seat], changed, *view.seats[seat + 1 :]))


def _moved(view: View, fact: CardsMoved, viewer: Viewer) -> View:
    moved: Sequence[PileCard] = [PileCard(card, None) for card in fact.cards]
    match fact.source:
        case int(seat):
            moved, view = [PileCard(card, seat) for card in fact.cards], _taken_from_hand(view, seat, fact)
        case str() | OwnedPile():
            view, moved = _taken_from_pile(view, fact)
    match fact.target:
        case int(seat):
            return _added_to_hand(view, seat, fact, is_own=viewer == seat)
        case str() | OwnedPile():
            return _added_to_pile(view, fact, moved)
    return view


def _taken_from_hand(view: View, seat: Seat, fact: CardsMoved) -> View:
    hand = view.seats[seat]
    # Any card may have left a hand that some left unseen.
    is_named = len(fact.cards) == fact.card_count
    cards, known = (list(hand.cards), list(hand.known_cards)) if is_named else ([], [])
    for card in fact.cards:
        listed = cards or known
        if card in listed:
            listed.remove(card)
    count = hand.card_count - fact.card_count
    return _with_seat(view, seat, card_count=count, cards=tuple(cards), known_cards=tuple(known))


def _added_to_hand(view: View, seat: Seat, fact: CardsMoved, *, is_own: bool) -> View:
    hand = view.seats[seat]
    count = hand.card_count + fact.card_count
    if is_own or (hand.cards and len(fact.cards) == fact.card_count):
        return _with_seat(view, seat, card_count=count, cards=_sorted(hand.cards, fact.cards))
    known = _sorted((*hand.cards, *hand.known_cards), fact.cards)
    return _with_seat(view, seat, card_count=count, cards=(), known_cards=known)


def _sorted(one: Iterable[Card], other: Iterable[Card]) -> tuple[Card, ...]:
    return tuple(sorted((*one, *other)))


def _taken_from_pile(view: View, fact: CardsMoved) -> tuple[View, list[PileCard]]:
    """Return the view without the cards, and these with the seats that they came from."""
    pile = _pile_at(view, fact.source)
    left, taken = list(pile.cards), []
    for card in fact.cards:
        lying = next((laid for laid in left if laid.card == card), None)
        if lying is not None:
            left.remove(lying)
        taken.append(lying or PileCard(card, None))
    return _with_pile(view, pile._replace(card_count=pile.card_count - fact.card_count, cards=tuple(left))), taken


def _added_to_pile(view: View, fact: CardsMoved, moved: Iterable[PileCard]) -> View:
    pile = _pile_at(view, fact.target)
    count, cards = pile.card_count + fact.card_count, (*pile.cards, *moved)
    return _with_pile(view, pile._replace(card_count=count, cards=cards, face_down=fact.face_down))


def _pile_at(view: View, place: facts.Place) -> Pile:
    """Return the pile at a place, by default an empty one."""
    name, owner = place if isinstance(place, OwnedPile) else (str(place), None)
    for pile in view.piles:
        if (pile.name, pile.owner) == (name, owner):
            return pile
    return Pile(name, 0, (), owner)


def _with_pile(view: View, changed: Pile) -> View:
    """Return the view with a pile in its order, without it if it has no cards."""
    piles = {_order(pile.name, pile.owner): pile for pile in (*view.piles, changed)}
    ordered = [piles[key] for key in sorted(piles)]
    return view._replace(piles=tuple(pile for pile in ordered if pile.card_count))
    return view._replace(
        piles=tuple(pile for _, pile in sorted(piles.items(), key=lambda item: item[0]) if pile.card_count)
    )


def _with_mark(marks: Iterable[Mark], changed: Mark) -> tuple[Mark, ...]:
    by_name = {_order(mark.name, mark.seat): mark for mark in (*marks, changed)}
    return tuple(mark for _, mark in sorted(by_name.items(), key=lambda item: item[0]) if mark.value is not None)


def _order(name: str, seat: Seat | None) -> tuple[str, int]:
    return name, -1 if seat is None else seat


def _with_call(calls: tuple[Call, ...], said: Call) -> tuple[Call, ...]:
    """Return the calls with one more, which replaces a secret one of the same seat."""
    for at, call in enumerate(calls):
        if call.seat == said.seat and call.action is None:
            return (*calls[:at], said, *calls[at + 1 :])
    return (*calls, said)


def _merged(contract: Contract, changes: Contract) -> Contract:
    told = {name: value for name, value in changes._asdict().items() if value is not None}
    return contract._replace(**told)
