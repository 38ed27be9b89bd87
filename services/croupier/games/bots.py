"""The computer player `random`, which plays any game, because it only picks among legal actions."""

from collections.abc import Sequence

from croupier.games.actions import Action, StandPat, SwapCards
from croupier.games.cards import Card
from croupier.games.choices import ActionChoice, CardChoice, Parts, cards_of, complete, fits, parts_of
from croupier.games.interface import NOTHING_LEGAL, Legal, Observation, RandomSource


def random_legal(observation: Observation, randrange: RandomSource) -> Action:
    """Return a random action; each action and each choice is equally likely. Raises ValueError if nothing is legal."""
    if observation.legal == NOTHING_LEGAL:
        raise ValueError(f"seat {observation.seat} has nothing to decide")
    return random_of(observation.legal, randrange)


def random_of(legal: Legal, randrange: RandomSource) -> Action:
    """Return a random one of these actions and choices, of which there is at least one.

    Standing pat counts as the swap of no cards: it is as likely as a swap of one card, not as all swaps together.
    """
    legal = with_empty_swaps(legal)
    alternatives = len(legal.actions) + len(legal.choices)
    picked = randrange(alternatives)
    if picked < len(legal.actions):
        return legal.actions[picked]
    return _complete_randomly(legal.choices[picked - len(legal.actions)], randrange)


def with_empty_swaps(legal: Legal) -> Legal:
    """Return the same legal actions, in which standing pat is the swap of no cards: part of the choice of cards."""
    choices = tuple(
        choice._replace(cards=choice.cards._replace(min_cards=0))
        if isinstance(choice.action, SwapCards) and choice.cards and choice.cards.min_cards == 1
        else choice
        for choice in legal.choices
    )
    if choices == legal.choices or StandPat() not in legal.actions:
        return legal
    return Legal(tuple(action for action in legal.actions if action != StandPat()), choices)


def _complete_randomly(choice: ActionChoice, randrange: RandomSource) -> Action:
    return complete(
        choice,
        Parts(
            _some_cards(choice.cards, randrange) if choice.cards else (),
            _one_of(choice.suits, randrange),
            _one_of(choice.amount.amounts if choice.amount else (), randrange),
            _one_of(choice.seats, randrange),
        ),
    )


def _some_cards(choice: CardChoice, randrange: RandomSource) -> tuple[Card, ...]:
    count = choice.min_cards + randrange(choice.max_cards - choice.min_cards + 1)
    left = list(choice.cards)
    return tuple(sorted(left.pop(randrange(len(left))) for _ in range(count)))


def _one_of(values: Sequence[int], randrange: RandomSource) -> int | None:
    return values[randrange(len(values))] if values else None


def random_neighbour(action: Action, choice: ActionChoice, randrange: RandomSource) -> Action | None:
    """Return the action with a random card exchanged, less or more.

    Returns None for an action that is not of this choice, a choice without cards, and one without other cards.
    """
    if choice.cards is None or not fits(choice, action):
        return None
    held, left = list(cards_of(action)), list(choice.cards.cards)
    for card in held:
        left.remove(card)
    fewer, more = len(held) > choice.cards.min_cards, len(held) < choice.cards.max_cards
    changes = [(-1, 0)] * fewer + [(0, 1)] * (more and bool(left)) + [(-1, 1)] * (bool(held) and bool(left))
    if not changes:
        return None
    less, added = changes[randrange(len(changes))]
    if less:
        held.pop(randrange(len(held)))
    if added:
        held.append(left[randrange(len(left))])
    return complete(choice, parts_of(choice, action)._replace(cards=tuple(sorted(held))))
