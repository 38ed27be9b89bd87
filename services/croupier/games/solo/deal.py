"""The deal and the restart of a hand of Solo."""

from collections.abc import Iterator
from typing import Any

from croupier.games.cards import Card, cards_of_mask, mask_of, notation
from croupier.games.facts import (
    CardOrderChanged,
    Fact,
    MarkChanged,
    MoveReason,
    RoundStarted,
    Seat,
    TurnChanged,
    moves_to_hand,
)
from croupier.games.interface import CardsShuffled, IllegalAction, ProposalAgreed
from croupier.games.solo.deck import DECK, ORDER_WITHOUT_TRUMP
from croupier.games.solo.state import NOBODY, SEATS, Progress, SoloOptions, SoloState
from croupier.games.solo.turns import Transition, turn
from croupier.games.solo.view import marks

RESTARTS = {"restart_same": "same", "restart_new": "new"}
"""The proposals that seats can agree on, and the form of each in a replay (SOLO-RESTART-2)."""


def draw_bounds(state: SoloState) -> tuple[int, ...]:
    """Return the bounds of the numbers drawn with a deal: the first deal of a game draws a dealer (SOLO-DEAL-1)."""
    return (SEATS,) if state.draws_dealer else ()


def deal(before: SoloState, event: CardsShuffled) -> Transition:
    """Return the state after a deal, and its facts; raises IllegalAction for one that is not due or not valid."""
    dealer = _dealer(before, event)
    progress = before.progress._replace(hand_number=before.due_hand, dealer=dealer, deals=before.progress.deals + 1)
    return _begin(before.options, progress, _hands(before.options, dealer, event.cards))


def restart(before: SoloState, event: ProposalAgreed) -> Transition:
    """Undo everything since the deal, and the deal too if new cards were wanted (SOLO-RESTART-2)."""
    options, progress = before.options, before.progress
    if _cards_again(before, event) == "same":
        hands = list(before.hands)
        for value, seat in before.taken + before.trick:
            hands[seat or 0] |= 1 << value
        return _begin(options, progress, tuple(hands))
    started = RoundStarted(progress.hand_number, progress.dealer)
    state = SoloState(options, progress)
    return state, (started, *map(MarkChanged, marks(state)), TurnChanged("deal", ()))


def record(state: SoloState, event: CardsShuffled | ProposalAgreed) -> dict[str, Any]:
    """Return the deal or restart as a replay writes it; raises IllegalAction for one that is not possible now."""
    if isinstance(event, ProposalAgreed):
        return {"type": "restart_hand", "cards": _cards_again(state, event)}
    return {"type": "deal", "dealer": _dealer(state, event), "deck": notation(event.cards)}


def _dealer(state: SoloState, event: CardsShuffled) -> Seat:
    """Return the dealer of a deal that is due and valid; raises IllegalAction for another (SOLO-DEAL-3)."""
    if state.phase == "over":
        raise IllegalAction("SOLO-END-2", "the game is over, there are no more deals")
    if state.phase != "deal":
        raise IllegalAction("SOLO-DEAL-3", "a hand is in progress, so no deal is due")
    _check(event, draw_bounds(state))
    if state.draws_dealer:
        return event.drawn[0]
    return (state.progress.dealer + (state.progress.deals == 0)) % SEATS


def _cards_again(state: SoloState, event: ProposalAgreed) -> str:
    if state.phase == "over":
        raise IllegalAction("SOLO-END-2", "the game is over and nothing can be restarted")
    if event.proposal not in RESTARTS:
        raise IllegalAction("SOLO-RESTART-2", f"seats can agree on {' or '.join(RESTARTS)}, and nothing else")
    if state.to_act == NOBODY:
        raise IllegalAction("SOLO-RESTART-2", "no hand is in progress that could be restarted")
    return RESTARTS[event.proposal]


def _begin(options: SoloOptions, progress: Progress, hands: tuple[int, ...]) -> Transition:
    """Return the table with dealt hands, of which the left neighbour of the dealer bids (SOLO-BID-1)."""
    state = SoloState(options, progress, hands=hands)
    started = RoundStarted(progress.hand_number, progress.dealer)
    facts: list[Fact] = [started, *_facts(hands), *map(MarkChanged, marks(state))]
    return turn(state, "auction", (progress.dealer + 1) % SEATS, facts)


def _check(event: CardsShuffled, bounds: tuple[int, ...]) -> None:
    """Raise IllegalAction unless it is the whole deck and, for the first deal alone, a dealer (SOLO-DEAL-3)."""
    if tuple(sorted(event.cards)) != DECK:
        raise IllegalAction("SOLO-DEAL-3", "a deal has each of the 32 cards from seven to ace once")
    if not event.has_drawn(bounds):
        raise IllegalAction("SOLO-DEAL-1", "the first deal of a game draws a dealer out of 4 seats, no other draws any")


def _hands(options: SoloOptions, dealer: Seat, cards: tuple[Card, ...]) -> tuple[int, ...]:
    """Deal clockwise from a neighbour of the dealer (SOLO-DEAL-2); the hands as bit sets by seat."""
    first = dealer + 3 if options.deals_right_first else dealer + 1
    dealt = [mask_of([cards[at] for at in deck_positions]) for deck_positions in options.deck_positions]
    return tuple([dealt[(seat - first) % SEATS] for seat in range(SEATS)])


def _facts(dealt: tuple[int, ...]) -> Iterator[Fact]:
    """Yield the counts for everybody, and for each seat its own hand."""
    for seat, hand in enumerate(dealt):
        yield from moves_to_hand(None, seat, cards_of_mask(hand), MoveReason.DEAL)
    yield _SORTED


_SORTED = CardOrderChanged(ORDER_WITHOUT_TRUMP)
