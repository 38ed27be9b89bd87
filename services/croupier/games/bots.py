"""The computer player that can play any game, because it only picks from what is legal."""

from dataclasses import replace

from croupier.games.actions import Action, Keep, Swap
from croupier.games.cards import Card
from croupier.games.interface import NOTHING_LEGAL, CardChoice, Choose, Legal, Seen


def random_legal(seen: Seen, choose: Choose) -> Action:
    """Pick by chance; each action and each choice is as likely. Raises ValueError if nothing is legal."""
    if seen.legal == NOTHING_LEGAL:
        raise ValueError(f"seat {seen.seat} has nothing to decide")
    return random_of(seen.legal, choose)


def random_of(legal: Legal, choose: Choose) -> Action:
    """Any of these, which are not none."""
    alternatives = len(legal.actions) + len(legal.choices)
    picked = choose(alternatives)
    if picked < len(legal.actions):
        return legal.actions[picked]
    return _take(legal.choices[picked - len(legal.actions)], choose)


def _take(choice: CardChoice, choose: Choose) -> Action:
    taken = _sample(choice.cards, choice.fewest + choose(choice.most - choice.fewest + 1), choose)
    if choice.verb is Swap:
        return Swap(taken)
    return Keep(taken, choice.suits[choose(len(choice.suits))] if choice.suits else None)


def _sample(values: tuple[Card, ...], count: int, choose: Choose) -> tuple[Card, ...]:
    left = list(values)
    return tuple(sorted(left.pop(choose(len(left))) for _ in range(count)))


def nearby(action: Action, choice: CardChoice, choose: Choose) -> Action | None:
    """The action with one card exchanged, one less or one more, by chance; None if it is none of this choice."""
    if not isinstance(action, Keep | Swap) or not isinstance(action, choice.verb):
        return None
    held, left = list(action.cards), list(choice.cards)
    for card in held:
        left.remove(card)
    fewer, more = len(held) > choice.fewest, len(held) < choice.most
    changes = [(-1, 0)] * fewer + [(0, 1)] * (more and bool(left)) + [(-1, 1)] * (bool(held) and bool(left))
    if not changes:
        return None
    less, added = changes[choose(len(changes))]
    if less:
        held.pop(choose(len(held)))
    if added:
        held.append(left[choose(len(left))])
    return replace(action, cards=tuple(sorted(held)))
