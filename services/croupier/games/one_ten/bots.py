"""A computer player of 110 that counts its likely tricks, bids by these, and spends its trumps with care."""

from croupier.games.actions import Action, Bid, KeepCards, MatchBid, Pass, Play, StandPat, SwapCards
from croupier.games.cards import Card, Suit
from croupier.games.choices import ActionChoice, CardChoice
from croupier.games.facts import PileCard, View
from croupier.games.hands import PACK, cards_left
from croupier.games.interface import Observation, RandomSource
from croupier.games.one_ten.state import TRICK_POINTS, UNNAMED, OneTenOptions
from croupier.games.one_ten.tricks import taking
from croupier.games.one_ten.trumps import TRUMP_POWER, TRUMPS, Trumps, shown_trump

DARING = 0.5
"""Tricks beyond those to be expected for which it still bids: to leave kitty and lead to others costs as well."""
TRICKS_PER_WORTH = 1.25
"""The tricks that a bid winner takes for each trick that their dealt hand is worth."""
DRAWING = 0.4
"""The gain for the bid winner of leading a trump to a trick, which draws those of the others."""
HIGHEST_WORTH = 1.05
"""The worth of the five of trumps: more than any one trick, so that it is not spent where another card will do."""
SHORT_ROUND = 5
RUFFING = 0.5
"""The probability that somebody who could trump a plain trick does so."""


def _worth(trumps: Trumps, value: Card) -> float:
    """Return about how likely a card takes a trick at some time."""
    power = trumps.power[trumps.led[value]]
    if trumps.trumps >> value & 1:
        return max(0.3, HIGHEST_WORTH - 0.06 * trumps.order.index(value))
    above = sum(other > power[value] for other in power if other < TRUMP_POWER)
    return (0.4, 0.2, 0.1)[above] if above < 3 else 0.06 - above / 250


_WORTH_NAMED = [tuple(_worth(trumps, value) for value in range(PACK)) for trumps in TRUMPS[:UNNAMED]]
WORTH: tuple[tuple[float, ...], ...] = (
    *_WORTH_NAMED,
    tuple(sum(column) / UNNAMED for column in zip(*_WORTH_NAMED, strict=True)),
)
"""By trump suit and card; for UNNAMED the mean over the four suits."""


def sensible(observation: Observation, randrange: RandomSource) -> Action:  # noqa: ARG001 - the port's signature
    """Play by what the seat sees; it uses no randomness. Raises ValueError if nothing is legal."""
    for choice in observation.legal.choices:
        if choice.cards is not None:
            return _choose_cards(choice, choice.cards, observation.view)
    match observation.legal.actions:
        case ():
            raise ValueError(f"seat {observation.seat} has nothing to decide")
        case (Play(), *_):
            return _play(observation)
        case _:
            return _call(observation)


def best_keep(cards: tuple[Card, ...], count: int, trumps: tuple[Suit, ...]) -> KeepCards:
    """Return the most valuable cards under the best of these suits."""
    kept = [KeepCards(_best(cards, count, trump), trump) for trump in trumps]
    return max(kept, key=lambda keep: sum(WORTH[keep.trump][value] for value in keep.cards))


def _best(cards: tuple[Card, ...], count: int, trump: Suit) -> tuple[Card, ...]:
    worth = WORTH[trump]
    return tuple(sorted(sorted(cards, key=lambda value: worth[value], reverse=True)[:count]))


def _choose_cards(choice: ActionChoice, held: CardChoice, view: View) -> Action:
    """Keep the best, or give up to as many as allowed of the plain cards that are worth least."""
    if isinstance(choice.action, KeepCards):
        return best_keep(held.cards, held.max_cards, choice.suits)
    trump = shown_trump(view)
    worth, trumps = WORTH[trump], TRUMPS[trump]
    weak = [value for value in held.cards if worth[value] < 0.2 and not trumps.trumps >> value & 1]
    given = tuple(sorted(sorted(weak, key=lambda value: worth[value])[: held.max_cards]))
    return SwapCards(given) if given else StandPat()


def expected_tricks(cards: tuple[Card, ...], seats: int, tricks: int) -> float:
    """Return about how many tricks of a round a dealt hand takes for the bid winner; fitted to games.

    The bonus counts as one. Where there are fewer tricks than cards, the best cards count (110-KEEP-4).
    """
    worth = max(sum(sorted([of_suit[value] for value in cards], reverse=True)[:tricks]) for of_suit in WORTH[:UNNAMED])
    if tricks < len(cards):
        from_kitty_and_lead = 2 - 0.4 * seats
    else:
        from_kitty_and_lead = 3 - 0.25 * seats if tricks == SHORT_ROUND else 4.6 - 0.6 * seats
    return TRICKS_PER_WORTH * worth + from_kitty_and_lead


def _call(observation: Observation) -> Action:
    """Return the lowest bid or a match, while it is worth no more than the tricks to be expected; else a pass."""
    view, actions = observation.view, observation.legal.actions
    cards = view.seats[observation.seat].cards
    tricks = OneTenOptions.of(len(view.seats), observation.options).tricks
    limit = TRICK_POINTS * (expected_tricks(cards, len(view.seats), tricks) + DARING)
    if MatchBid() in actions and (view.contract.amount or 0) <= limit:
        return MatchBid()
    lowest = min(
        (action.bid for action in actions if isinstance(action, Bid) and isinstance(action.bid, int)), default=0
    )
    if lowest and (lowest <= limit or Pass() not in actions):
        return Bid(lowest)
    return Pass()


def _play(observation: Observation) -> Action:
    """Return the card whose chance to take this trick is highest above its worth for a later one."""
    view, seat = observation.view, observation.seat
    trumps = TRUMPS[shown_trump(view)]
    trick = view.pile("trick")
    played = {laid.seat for laid in trick}.union([seat])
    later = sum(held.card_count for other, held in enumerate(view.seats) if other not in played)
    unseen = cards_left([*range(PACK)] * int(observation.options["decks"]), view.cards_seen(seat))
    worth = WORTH[trumps.suit]
    draws_trumps = DRAWING if not trick and seat == view.contract.declarer else 0.0

    def gain(value: Card) -> float:
        chance = _chance(trumps, (*trick, PileCard(value, seat)), unseen, later)
        return chance * (1 + draws_trumps * (trumps.trumps >> value & 1)) - worth[value]

    return Play(max((action.card for action in observation.legal.actions if isinstance(action, Play)), key=gain))


def _chance(trumps: Trumps, trick: tuple[PileCard, ...], hidden: list[Card], later: int) -> float:
    """Return the probability that the last card of the trick so far takes it, if the hidden cards lie at random.

    `later` is how many of them the later players of the trick hold together.
    """
    if taking(trumps, trick) < len(trick) - 1:
        return 0.0
    power = trumps.power[trumps.led[trick[0].card]]
    own = power[trick[-1].card]
    beating = sum((RUFFING if own < TRUMP_POWER < power[value] else 1) for value in hidden if power[value] > own)
    return (1 - beating / max(len(hidden), 1)) ** later
