"""A computer player of President: it sheds low sets, keeps sets whole, and spends its best cards near the end."""

from typing import NamedTuple

from croupier.games.actions import Action, Lay, SwapCards
from croupier.games.cards import STANDARD_DECK, Card
from croupier.games.choices import ActionChoice
from croupier.games.facts import Seat, View
from croupier.games.hands import cards_left
from croupier.games.interface import Legal, Observation, RandomSource
from croupier_president.combinations import PASS, by_rank
from croupier_president.exchange import worth
from croupier_president.state import rank_of

BROKEN_SET = 4.0
"""The cost, in ranks, of taking cards out of a larger set."""
HIGH = 11.0
"""A cost from which cards are kept: aces, twos, and sets of kings that would be broken."""
NEARLY_OUT = 3
"""With so many cards or fewer somebody may end the round soon."""
PAIRED = 2
"""A card of a set is worth keeping as if it were by so many ranks higher, for each other card of the set."""


class _Candidate(NamedTuple):
    """Cards that may be laid, and how many the seat has of their rank."""

    cards: tuple[Card, ...]
    held: int

    @property
    def cost(self) -> float:
        """What it costs to lay them, in ranks."""
        return rank_of(self.cards[0]) + BROKEN_SET * (self.held > len(self.cards))


def sensible(observation: Observation, randrange: RandomSource) -> Action:  # noqa: ARG001 - the port's signature
    """Play by what the seat sees; it uses no randomness. Raises ValueError if nothing is legal."""
    seat, _, view, legal = observation
    hand = view.seats[seat].cards
    for choice in legal.choices:
        if isinstance(choice.action, SwapCards) and choice.cards is not None:
            return SwapCards(_worst(choice.cards.cards, choice.cards.min_cards))
    candidates = _candidates(legal, hand)
    if not candidates:
        if PASS not in legal.actions:
            raise ValueError(f"seat {seat} has nothing to decide")
        return PASS
    if PASS not in legal.actions:
        return Lay(_lead(view, seat, candidates).cards)
    best = min(candidates, key=lambda candidate: candidate.cost)
    return Lay(best.cards) if _is_worth_it(view, seat, best) else PASS


def _candidates(legal: Legal, hand: tuple[Card, ...]) -> list[_Candidate]:
    """Return of each listed combination and each choice the one with most cards."""
    laid = [action.cards for action in legal.actions if isinstance(action, Lay)]
    laid += [_most(choice) for choice in legal.choices]
    ranks = [rank_of(value) for value in hand]
    return [_Candidate(cards, ranks.count(rank_of(cards[0]))) for cards in laid]


def _most(choice: ActionChoice) -> tuple[Card, ...]:
    return choice.cards.cards[: choice.cards.max_cards] if choice.cards else ()


def _worst(cards: tuple[Card, ...], count: int) -> tuple[Card, ...]:
    """Return the cards to give away: low ones, rather alone than of a set."""
    sizes = {rank_of(group[0]): len(group) for group in by_rank(cards)}
    ordered = sorted(cards, key=lambda value: (rank_of(value) + PAIRED * (sizes[rank_of(value)] - 1), worth(value)))
    return tuple(sorted(ordered[:count]))


def _lead(view: View, seat: Seat, candidates: list[_Candidate]) -> _Candidate:
    """Return the lowest set, whole; or first the sets that nobody beats, if they leave only one other."""
    whole = [candidate for candidate in candidates if candidate.held == len(candidate.cards)] or candidates
    unseen = [rank_of(value) for value in cards_left(STANDARD_DECK, view.cards_seen(seat))]
    sure = [candidate for candidate in whole if _is_sure(unseen, candidate)]
    if sure and len(whole) - len(sure) <= 1:
        return min(sure, key=lambda candidate: candidate.cost)
    return min(whole, key=lambda candidate: (candidate.cost, -len(candidate.cards)))


def _is_sure(unseen: list[int], candidate: _Candidate) -> bool:
    """Return whether nobody can beat these cards, wherever the unseen ones are."""
    higher = range(rank_of(candidate.cards[0]) + 1, 13)
    return all(unseen.count(rank) < len(candidate.cards) for rank in higher)


def _is_worth_it(view: View, seat: Seat, candidate: _Candidate) -> bool:
    """Return whether to lay cards now rather than to pass."""
    counts = [held.card_count for other, held in enumerate(view.seats) if other != seat and held.card_count]
    own = view.seats[seat].card_count
    return candidate.cost < HIGH or own - len(candidate.cards) <= NEARLY_OUT or min(counts) <= NEARLY_OUT
