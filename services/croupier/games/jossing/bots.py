"""A computer player of Jøssing that bids what pays best, and plays so that it is most likely to hit its bid."""

from collections.abc import Sequence

from croupier.games.actions import Action, Bid, Play
from croupier.games.cards import Card
from croupier.games.facts import Seat, View
from croupier.games.hands import hand_of
from croupier.games.interface import Observation, RandomSource
from croupier.games.jossing.chances import HiddenCards, chance_now, later_chance, tricks_distribution
from croupier.games.jossing.packs import cards_left
from croupier.games.jossing.scoring import hit_points


def sensible(observation: Observation, randrange: RandomSource) -> Action:  # noqa: ARG001 - the port's signature
    """Bid and play by what the seat sees; it uses no randomness. Raises ValueError if nothing is legal."""
    if not observation.legal.actions:
        raise ValueError(f"seat {observation.seat} has nothing to decide")
    if len(observation.legal.actions) == 1:
        return observation.legal.actions[0]
    hidden = _hidden_cards(observation)
    bids = [
        action.bid for action in observation.legal.actions if isinstance(action, Bid) and isinstance(action.bid, int)
    ]
    if bids:
        hand, leads = observation.view.seats[observation.seat].cards, _leads(observation)
        return Bid(best_bid(hidden, hand, leads, bids, modern=observation.options["scoring"] == "modern"))
    return Play(
        _best_card(
            observation, hidden, [action.card for action in observation.legal.actions if isinstance(action, Play)]
        )
    )


def best_bid(hidden: HiddenCards, hand: Sequence[Card], leads: bool, amounts: Sequence[int], modern: bool) -> int:
    """Return the one of these amounts from which most points can be expected."""
    probabilities = tricks_distribution(later_chance(hidden, value, len(hand), leads) for value in hand)
    return max(amounts, key=lambda amount: probabilities[amount] * hit_points(amount, modern))


def _leads(observation: Observation) -> bool:
    """Return whether it is certain while bidding that the seat will lead the first trick."""
    dealer, seats = observation.view.dealer, len(observation.view.seats)
    return (
        dealer is not None
        and observation.seat == (dealer + 1) % seats
        and observation.options["leader"] == "left_of_dealer"
    )


def _hidden_cards(observation: Observation) -> HiddenCards:
    view = observation.view
    laid_cards = [laid.card for pile in view.piles for laid in pile.cards]
    unseen = cards_left(int(observation.options["decks"]), (*view.seats[observation.seat].cards, *laid_cards))
    held = tuple(other.card_count for seat, other in enumerate(view.seats) if seat != observation.seat)
    return HiddenCards(view.contract.trump or 0, hand_of(unseen), len(unseen), held)


def _best_card(observation: Observation, hidden: HiddenCards, playable: Sequence[Card]) -> Card:
    """Return the card that makes it most likely to win exactly as many tricks as were bid."""
    seat, view = observation.seat, observation.view
    hand = view.seats[seat].cards
    trick = next(([laid.card for laid in pile.cards] for pile in view.piles if pile.name == "trick"), [])
    seats = len(view.seats)
    to_come = [view.seats[(seat + step) % seats].card_count for step in range(1, seats - len(trick))]
    missing = _bid_of(view, seat) - view.seats[seat].tricks_taken
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


def _bid_of(view: View, seat: Seat) -> int:
    action = next((call.action for call in view.calls if call.seat == seat), None)
    return action.bid if isinstance(action, Bid) and isinstance(action.bid, int) else 0
