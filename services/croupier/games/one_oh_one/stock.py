"""Taking cards from the stock of 101, and renewing it."""

from croupier.games.cards import Card
from croupier.games.facts import CardsMoved, Fact, Mark, MarkChanged, MoveReason, PileCard, TurnChanged, moves_to_hand
from croupier.games.hands import with_cards
from croupier.games.interface import CardsShuffled
from croupier.games.one_oh_one.state import OneOhOneState, Owed


def take(state: OneOhOneState, owed: Owed, facts: list[Fact]) -> OneOhOneState:
    """Return the table after a seat took the cards it owes, as far as there are any (101-STOCK-1, 101-STOCK-4).

    With `recycle` = `shuffle` it may come to a halt before, in the phase "reshuffle".
    """
    while owed.card_count and state.can_take:
        if state.stock:
            state, owed = _hand_out(state, owed, facts)
        elif state.options.recycle_shuffled:
            facts += [MarkChanged(Mark("to_take", owed.seat, str(owed.card_count))), _RESHUFFLE]
            return state._replace(owed=owed)
        else:
            facts += _recycling(state.pile)
            state = state._replace(stock=under_top(state.pile), pile=state.pile[-1:])
    return state


def under_top(pile: tuple[PileCard, ...]) -> tuple[Card, ...]:
    """Return the cards that can become a new stock, those played first in front (101-STOCK-2)."""
    return tuple([lying.card for lying in pile[:-1]])


def resume(state: OneOhOneState, owed: Owed, event: CardsShuffled, facts: list[Fact]) -> OneOhOneState:
    """Return the table after a reshuffle and the taking that had to wait for it (101-STOCK-3)."""
    facts += [MarkChanged(Mark("to_take", owed.seat, "")), *_recycling(state.pile)]
    renewed = state._replace(stock=event.cards, pile=state.pile[-1:], owed=None, reshuffles=state.reshuffles + 1)
    return take(renewed, owed, facts)


def _hand_out(state: OneOhOneState, owed: Owed, facts: list[Fact]) -> tuple[OneOhOneState, Owed]:
    """Move what is owed, or as much as the stock has, from the stock to the seat."""
    seat, wanted, reason, turn = owed
    taken, hands = state.stock[:wanted], state.hands
    facts += moves_to_hand("stock", seat, taken, reason)
    hands = (*hands[:seat], with_cards(hands[seat], taken), *hands[seat + 1 :])
    return state._replace(hands=hands, stock=state.stock[wanted:]), Owed(seat, wanted - len(taken), reason, turn)


def _recycling(pile: tuple[PileCard, ...]) -> list[Fact]:
    """Return the moves of all but the top card to the stock: face down, so through the box (101-VIS-3)."""
    cards = under_top(pile)
    return [
        CardsMoved("pile", None, cards, len(cards), MoveReason.RECYCLE),
        CardsMoved(None, "stock", (), len(cards), MoveReason.RECYCLE, face_down=True),
    ]


_RESHUFFLE = TurnChanged("reshuffle", ())
