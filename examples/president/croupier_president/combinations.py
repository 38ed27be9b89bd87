"""Combinations of equal cards: which a seat may lay, and the refusals of all others.

Every refusal depends on nothing but what the acting seat knows.
"""

from collections.abc import Iterator
from itertools import chain, combinations

from croupier.games.actions import Action, Lay, Pass
from croupier.games.cards import Card
from croupier.games.choices import ActionChoice, CardChoice
from croupier.games.facts import Seat
from croupier.games.hands import cards_in, taken_out
from croupier.games.interface import IllegalAction, Legal
from croupier_president.state import THREE_OF_CLUBS, PresidentState, rank_of

PASS = Pass()
_LAY = Lay(())
_SINGLES = tuple(Lay((value,)) for value in range(52))


def by_rank(cards: tuple[Card, ...]) -> list[tuple[Card, ...]]:
    """Return cards in groups of one rank, the lowest rank first."""
    ranks: dict[int, tuple[Card, ...]] = {}
    for value in cards:
        ranks[rank_of(value)] = (*ranks.get(rank_of(value), ()), value)
    return [ranks[rank] for rank in sorted(ranks)]


def legal(state: PresidentState, seat: Seat) -> Legal:
    """Return what a seat that is to act may lay, the lowest rank first, and to pass unless it leads.

    Single cards are listed where a rank allows nothing else; other combinations are choices, one for each rank.
    """
    groups = by_rank(cards_in(state.hands[seat]))
    if state.opens_the_game:
        return _with_three_of_clubs(groups[0])
    size, actions, choices = state.set_size, list[Action](), list[ActionChoice]()
    for group in groups:
        if rank_of(group[0]) > state.rank_to_beat and len(group) >= size:
            fewest, most = size or 1, size or len(group)
            if most == 1:
                actions += [_SINGLES[value] for value in group]
            else:
                choices.append(ActionChoice(_LAY, CardChoice(group, fewest, most)))
    return Legal((*actions, PASS) if size else tuple(actions), tuple(choices))


def _with_three_of_clubs(threes: tuple[Card, ...]) -> Legal:
    """Return the combinations with the three of clubs, each as a choice of all its cards (PRES-LEAD-2)."""
    if threes == (THREE_OF_CLUBS,):
        return Legal((_SINGLES[THREE_OF_CLUBS],))
    return Legal(choices=tuple(ActionChoice(_LAY, CardChoice(some, len(some), len(some))) for some in _opening(threes)))


def _opening(threes: tuple[Card, ...]) -> Iterator[tuple[Card, ...]]:
    others = [value for value in threes if value != THREE_OF_CLUBS]
    numbers = range(len(others) + 1)
    for some in chain.from_iterable(combinations(others, number) for number in numbers):
        yield (THREE_OF_CLUBS, *some)


def checked(state: PresidentState, seat: Seat, action: Action) -> tuple[Card, ...]:
    """Return the cards that a seat in turn lays, () for a pass; raises IllegalAction."""
    if isinstance(action, Pass):
        if not state.trick:
            raise IllegalAction("PRES-PASS-1", "you lead: lay cards")
        return ()
    if not isinstance(action, Lay) or action != Lay(action.cards):
        raise IllegalAction("PRES-LAY-1", "lay cards, without naming a combination or a pile, or pass")
    cards = action.cards
    if not cards or taken_out(state.hands[seat], cards) is None:
        raise IllegalAction("PRES-LAY-2", "lay cards of your own hand, at least one and each once")
    if len({rank_of(value) for value in cards}) > 1:
        raise IllegalAction("PRES-LAY-3", "lay cards of one rank")
    if state.opens_the_game and THREE_OF_CLUBS not in cards:
        raise IllegalAction("PRES-LEAD-2", "the first combination of the game has the three of clubs in it")
    _check_answer(state, cards)
    return cards


def _check_answer(state: PresidentState, cards: tuple[Card, ...]) -> None:
    if not state.trick:
        return
    if len(cards) != state.set_size:
        raise IllegalAction("PRES-BEAT-1", f"lay as many cards as were led: {state.set_size}")
    if rank_of(cards[0]) <= state.rank_to_beat:
        raise IllegalAction("PRES-BEAT-2", "lay cards of a higher rank, or pass")
