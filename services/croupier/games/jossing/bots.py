"""A computer player of Jøssing that bids what pays best, and plays so that it is most likely to hit its bid."""

from collections.abc import Sequence

from croupier.games.actions import Action, Bid, Play
from croupier.games.cards import STANDARD_DECK, Card
from croupier.games.hands import cards_left, hand_of
from croupier.games.interface import Observation, RandomSource
from croupier.games.jossing.chances import HiddenCards, chance_now, later_chance, tricks_distribution
from croupier.games.jossing.scoring import hit_points


def sensible(observation: Observation, randrange: RandomSource) -> Action:  # noqa: ARG001 - the port's signature
    """Bid and play by what the seat sees; it uses no randomness. Raises ValueError if nothing is legal."""
    seat, options, view, (actions, _) = observation
    if not actions:
        raise ValueError(f"seat {seat} has nothing to decide")
    if len(actions) == 1:
        return actions[0]
    unseen = cards_left(STANDARD_DECK * int(options["decks"]), view.cards_seen(seat))
    held = tuple(other.card_count for at, other in enumerate(view.seats) if at != seat)
    hidden = HiddenCards(view.contract.trump or 0, hand_of(unseen), len(unseen), held)
    bids = [action.bid for action in actions if isinstance(action, Bid) and isinstance(action.bid, int)]
    if not bids:
        return Play(_best_card(observation, hidden, [action.card for action in actions if isinstance(action, Play)]))
    is_left_of_dealer = view.dealer is not None and seat == (view.dealer + 1) % len(view.seats)
    leads = is_left_of_dealer and options["leader"] == "left_of_dealer"
    return Bid(best_bid(hidden, view.seats[seat].cards, leads, bids, modern=options["scoring"] == "modern"))


def best_bid(hidden: HiddenCards, hand: Sequence[Card], leads: bool, amounts: Sequence[int], modern: bool) -> int:
    """Return the one of these amounts from which most points can be expected."""
    probabilities = tricks_distribution(later_chance(hidden, value, len(hand), leads) for value in hand)
    return max(amounts, key=lambda amount: probabilities[amount] * hit_points(amount, modern))


def _best_card(observation: Observation, hidden: HiddenCards, playable: Sequence[Card]) -> Card:
    """Return the card that makes it most likely to win exactly as many tricks as were bid."""
    seat, view = observation.seat, observation.view
    hand = view.seats[seat].cards
    trick = [laid.card for laid in view.pile("trick")]
    seats = len(view.seats)
    to_come = [view.seats[(seat + step) % seats].card_count for step in range(1, seats - len(trick))]
    bid = next((call.action.bid for call in view.calls if call.seat == seat and isinstance(call.action, Bid)), 0)
    missing = int(bid) - view.seats[seat].tricks_taken
    last_copy_wins = observation.options["identical_cards"] == "last"
    lead = {value: later_chance(hidden, value, len(hand) - 1, leads=True) for value in hand}
    follow = {value: later_chance(hidden, value, len(hand) - 1, leads=False) for value in hand}

    def chance_to_hit(value: Card) -> tuple[float, float]:
        """Return the chance to hit the bid with a card, and for ties how little the card would win later."""
        rest = list(hand)
        rest.remove(value)
        now = chance_now(hidden, trick, value, to_come, last_copy_wins)
        won = now * _probability(tricks_distribution(lead[other] for other in rest), missing - 1) if now else 0.0
        lost = (1 - now) * _probability(tricks_distribution(follow[other] for other in rest), missing)
        return won + lost, -follow[value]

    return max(playable, key=chance_to_hit)


def _probability(distribution: Sequence[float], tricks: int) -> float:
    return distribution[tricks] if 0 <= tricks < len(distribution) else 0.0
