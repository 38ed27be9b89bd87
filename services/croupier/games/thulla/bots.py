"""A computer player of Thulla that sheds high cards where nobody can cut, and keeps low where somebody may."""

from croupier.games.actions import Action, Play
from croupier.games.cards import STANDARD_DECK, Card, suit_of
from croupier.games.facts import Seat, View
from croupier.games.hands import cards_left
from croupier.games.interface import Observation, RandomSource

SAFE_ENOUGH = 0.25
"""The chance of a cut below which a high card is worth playing."""


def sensible(observation: Observation, randrange: RandomSource) -> Action:  # noqa: ARG001 - the port's signature
    """Play by what the seat sees; it uses no randomness. Raises ValueError if nothing is legal."""
    seat, view = observation.seat, observation.view
    playable = [action.card for action in observation.legal.actions if isinstance(action, Play)]
    if not playable:
        raise ValueError(f"seat {seat} has nothing to decide")
    suits = [suit_of(value) for value in cards_left(STANDARD_DECK, view.cards_seen(seat))]
    unseen = [suits.count(suit) for suit in range(4)]
    trick = view.pile("trick")
    played = {seat, *[laid.seat for laid in trick]}
    later = [other for other, held in enumerate(view.seats) if other not in played and held.card_count]
    cutter_picks_up = observation.options["pickup"] == "cutter"
    if observation.options["opening_trick"] == "spared" and not view.pile("waste"):
        later, cutter_picks_up = [], False  # No one can cut this trick (THU-OPEN-1).
    if not trick:
        chance = [_cut_chance(view, unseen, suit, later) for suit in range(4)]
        if cutter_picks_up:
            # A high card of the suit in which most likely a cutter has to pick up.
            return Play(max(playable, key=lambda value: (chance[suit_of(value)], value)))
        return Play(_lead(unseen, playable, chance))
    led = suit_of(trick[0].card)
    if suit_of(playable[0]) != led:
        return Play(max(playable, key=lambda value: _danger(value, unseen)))
    if cutter_picks_up:
        return Play(max(playable))
    highest = max(laid.card for laid in trick)
    return Play(_follow(playable, highest, _cut_chance(view, unseen, led, later)))


def _cut_chance(view: View, unseen: list[int], suit: int, seats: list[Seat]) -> float:
    """Return the chance that one of the seats is void in the suit, if the cards unseen by suit lie at random."""
    share = unseen[suit] / max(sum(unseen), 1)
    all_follow = 1.0
    for seat in seats:
        all_follow *= 1 - (1 - share) ** view.seats[seat].card_count
    return 1 - all_follow


def _danger(value: Card, unseen: list[int]) -> tuple[float, int]:
    """Return the risk of holding a card: high ranks, in a suit that few others hold."""
    suit = suit_of(value)
    return (value % 13) / (1 + unseen[suit] / 4), value % 13


def _lead(unseen: list[int], playable: list[Card], chance: list[float]) -> Card:
    """Return the highest card of a suit that hardly anybody cuts, or else a low one for somebody else to pick up."""
    safest = min({suit_of(value) for value in playable}, key=lambda suit: (chance[suit], suit))
    if chance[safest] < SAFE_ENOUGH:
        return max(value for value in playable if suit_of(value) == safest)
    return min(playable, key=lambda value: (value % 13, -unseen[suit_of(value)]))


def _follow(playable: list[Card], highest: Card, cut_chance: float) -> Card:
    below = [value for value in playable if value < highest]
    if cut_chance < SAFE_ENOUGH:
        return max(playable)
    return max(below) if below else min(playable)
