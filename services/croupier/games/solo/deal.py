"""The deal and the restart of a hand of Solo."""

from typing import Any

from croupier.games import facts
from croupier.games.cards import Card, cards_of_mask, mask_of, notation
from croupier.games.facts import Fact, MoveReason, Seat
from croupier.games.interface import CardsShuffled, IllegalAction
from croupier.games.solo.deck import ORDER_WITHOUT_TRUMP
from croupier.games.solo.state import NOBODY, SEATS, Progress, SoloOptions, SoloState
from croupier.games.solo.turns import Transition, turn
from croupier.games.solo.view import marks


def deal(before: SoloState, event: CardsShuffled) -> Transition:
    """Return the state after a deal, and its facts."""
    dealer = _dealer(before, event)
    progress = before.progress._replace(hand_number=before.due_hand, dealer=dealer, deals=before.progress.deals + 1)
    return _begin(before.options, progress, _hands(before.options, dealer, event.cards))


def restart(before: SoloState, proposal: str) -> Transition:
    """Undo everything since the deal, and the deal too if new cards were wanted (SOLO-RESTART-2)."""
    options, progress = before.options, before.progress
    if cards_again(before, proposal) == "same":
        hands = list(before.hands)
        for value, seat in before.taken + before.trick:
            hands[seat or 0] |= 1 << value
        return _begin(options, progress, tuple(hands))
    started = facts.RoundStarted(progress.hand_number, progress.dealer)
    state = SoloState(options, progress)
    return state, (started, *map(facts.MarkChanged, marks(state)), facts.TurnChanged("deal", ()))


def cards_again(state: SoloState, proposal: str) -> str:
    """Return "same" or "new", the cards with which a hand is restarted; raises IllegalAction."""
    if state.phase == "over":
        raise IllegalAction("SOLO-END-2", "the game is over and nothing can be restarted")
    if state.to_act == NOBODY:
        raise IllegalAction("SOLO-RESTART-2", "no hand is in progress that could be restarted")
    return proposal.removeprefix("restart_")


def record(state: SoloState, event: CardsShuffled) -> dict[str, Any]:
    """Return the deal as a replay writes it (SOLO-DEAL-3)."""
    return {"type": "deal", "dealer": _dealer(state, event), "deck": notation(event.cards)}


def _dealer(state: SoloState, event: CardsShuffled) -> Seat:
    """Return the dealer of a deal (SOLO-DEAL-1)."""
    if state.draws_dealer:
        return event.drawn[0]
    return (state.progress.dealer + (state.progress.deals == 0)) % SEATS


def _begin(options: SoloOptions, progress: Progress, hands: tuple[int, ...]) -> Transition:
    """Return the table with dealt hands, of which the left neighbour of the dealer bids (SOLO-BID-1)."""
    state = SoloState(options, progress, hands=hands)
    news: list[Fact] = [facts.RoundStarted(progress.hand_number, progress.dealer)]
    for seat, hand in enumerate(hands):
        news += facts.moves_to_hand(None, seat, cards_of_mask(hand), MoveReason.DEAL)
    news += [facts.CardOrderChanged(ORDER_WITHOUT_TRUMP), *map(facts.MarkChanged, marks(state))]
    return turn(state, "auction", (progress.dealer + 1) % SEATS, news)


def _hands(options: SoloOptions, dealer: Seat, cards: tuple[Card, ...]) -> tuple[int, ...]:
    """Deal clockwise from a neighbour of the dealer (SOLO-DEAL-2); the hands as bit sets by seat."""
    first = dealer + 3 if options.deals_right_first else dealer + 1
    dealt = [mask_of([cards[at] for at in deck_positions]) for deck_positions in options.deck_positions]
    return tuple([dealt[(seat - first) % SEATS] for seat in range(SEATS)])
