"""A computer player of Jøssing that bids what pays best, and plays so that it is most likely to hit its bid.

It estimates the chances of cards to win tricks as far as a seat knows: cards that the seat does not see lie at random
in other hands or in the box. Players with other figures than those below did not do better against players with these.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from croupier.games.actions import Action, Bid, Play
from croupier.games.cards import STANDARD_DECK, Card, Suit
from croupier.games.hands import PACK, SUIT_OF, cards_left, hand_of
from croupier.games.interface import Observation, RandomSource
from croupier.games.jossing.scoring import WORTH, hit_points

RUFFING = 0.5
"""The probability that a trump wins in the long run although a higher one is in another hand."""
UNUSED = 0.75
"""The probability that a trick that somebody else leads has no use for a certain card."""
TOO_LATE = 0.3
"""The probability that a card wins nothing in the long run because its seat, which leads now, leads others first."""
CONTESTED = 0.7
"""The probability that a seat that could beat a card does so."""
DOUBT = 0.01
"""The least chance of a card to win or to lose later, so that of two bad bids the nearer one is better."""
HIGHER: tuple[int, ...] = tuple(
    SUIT_OF[value] & ~((2 << value) - 1) & ~((2 << value) - 1 << PACK) for value in range(52)
)
"""For each card the higher ones of its suit, twice."""


class HiddenCards(NamedTuple):
    """Trump, the cards that a seat does not see, and how many cards others hold."""

    trump: Suit
    unseen: int
    held: tuple[int, ...]


def later_chance(hidden: HiddenCards, value: Card, tricks: int, leads: bool) -> float:
    """Return the chance that a card wins one of so many tricks to come; with `leads` its seat leads the first."""
    unseen, total = hidden.unseen, max(hidden.unseen.bit_count(), 1)
    elsewhere = min(sum(hidden.held) / total, 1.0)
    unbeaten = (1 - elsewhere) ** (unseen & HIGHER[value]).bit_count()
    if value // 13 == hidden.trump:
        return _doubted(unbeaten + (1 - unbeaten) * RUFFING * (1 - UNUSED ** (tricks - 1)))
    for count in hidden.held:
        unbeaten *= 1 - _ruffs(hidden, value // 13, count)
    unused = TOO_LATE * (1 - 1 / tricks) if leads else UNUSED**tricks
    return _doubted(unbeaten * (1 - unused))


def _doubted(chance: float) -> float:
    return min(max(chance, DOUBT), 1 - DOUBT)


def chance_now(
    hidden: HiddenCards, trick: Sequence[Card], value: Card, to_come: Iterable[int], last_copy_wins: bool
) -> float:
    """Return the chance that a card wins the trick to which it is played; seats with `to_come` cards follow."""
    led = trick[0] // 13 if trick else value // 13
    value_of = WORTH[hidden.trump][led]
    highest = max((value_of[laid] for laid in trick), default=0)
    if value_of[value] < highest or (value_of[value] == highest and not (highest and last_copy_wins)):
        return 0.0
    chance = 1.0
    for count in to_come:
        chance *= 1 - CONTESTED * _beats(hidden, led, value, count)
    return chance


def _beats(hidden: HiddenCards, led: Suit, value: Card, count: int) -> float:
    """Return the chance that a seat with so many cards can beat a card that leads the trick."""
    higher = _holds(hidden, hidden.unseen & HIGHER[value], count)
    if led == hidden.trump:
        return higher
    if value // 13 == hidden.trump:
        return higher * (1 - _holds(hidden, hidden.unseen & SUIT_OF[13 * led], count))
    return higher + (1 - higher) * _ruffs(hidden, led, count)


def _ruffs(hidden: HiddenCards, suit: Suit, count: int) -> float:
    """Return the chance that a seat with so many cards has none of a suit, but a trump."""
    void = 1 - _holds(hidden, hidden.unseen & SUIT_OF[13 * suit], count)
    return void * _holds(hidden, hidden.unseen & SUIT_OF[13 * hidden.trump], count)


def _holds(hidden: HiddenCards, wanted: int, count: int) -> float:
    """Return the chance that a seat with so many cards has one of these."""
    return 1.0 - (1 - wanted.bit_count() / max(hidden.unseen.bit_count(), 1)) ** count


def tricks_distribution(chances: Iterable[float]) -> list[float]:
    """Return the probability of each number of tricks, from none to all, if these cards win independently."""
    likely = [1.0]
    for chance in chances:
        missed = 1 - chance
        likely = [
            as_many * missed + one_less * chance for as_many, one_less in zip((*likely, 0), (0, *likely), strict=True)
        ]
    return likely


def sensible(observation: Observation, randrange: RandomSource) -> Action:  # noqa: ARG001 - the port's signature
    """Bid and play by what the seat sees; it uses no randomness. Raises ValueError if nothing is legal."""
    seat, options, view, (actions, _) = observation
    if not actions:
        raise ValueError(f"seat {seat} has nothing to decide")
    if len(actions) == 1:
        return actions[0]
    unseen = cards_left(STANDARD_DECK * int(options["decks"]), view.cards_seen(seat))
    held = tuple(other.card_count for at, other in enumerate(view.seats) if at != seat)
    hidden = HiddenCards(view.contract.trump or 0, hand_of(unseen), held)
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
