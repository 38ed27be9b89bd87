"""Actions that a seat may try, legal ones and others, by which the refusals of a game are checked."""

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from random import Random
from typing import Any

from croupier.games import choices
from croupier.games.actions import (
    PLAYS,
    Action,
    Bid,
    CallNobody,
    CallPartner,
    Declare,
    Draw,
    KeepBid,
    KeepCards,
    Lay,
    MatchBid,
    NameTrump,
    Pass,
    Play,
    StandPat,
    SwapCards,
    ThrowDown,
    YieldBid,
)
from croupier.games.bots import random_of
from croupier.games.cards import Card
from croupier.games.choices import ActionChoice, AmountChoice, CardChoice, cards_of
from croupier.games.interface import Event, Game, IllegalAction, Legal, State
from croupier.games.words import WordKind

BARE: tuple[Action, ...] = (Pass(), MatchBid(), Draw(), KeepBid(), StandPat(), YieldBid(), ThrowDown())
"""The actions that are nothing but their verb."""
NONSENSE = "nonsense"


def fits(legal: Legal, action: Action) -> bool:
    """Return whether an action is listed, in any order of its cards, or completes a choice."""
    is_listed = action in legal.actions or _in_order(action) in map(_in_order, legal.actions)
    return is_listed or any(choices.fits(choice, action) for choice in legal.choices)


def _in_order(action: Action) -> Action:
    cards = cards_of(action)
    ordered: dict[str, Any] = {"cards": tuple(sorted(cards))} if cards else {}
    return replace(action, **ordered)


def refusing_rule(game: Game, state: State, event: Event) -> str:
    """Return the rule by which a game refuses an event; "" if it does not."""
    try:
        game.apply(state, event)
    except IllegalAction as refused:
        return refused.rule if str(refused) else "a refusal without text"
    return ""


def plays_of(hand: Iterable[Card]) -> list[Action]:
    """Return the plain play of each card."""
    return [PLAYS[card] if card < len(PLAYS) else Play(card) for card in hand]


def attempted_actions(game: Game, legal: Legal, hand: Sequence[Card], random: Random) -> list[Action]:
    """Return all listed actions, others close to legal ones, plays of every card, and every verb with odd arguments."""
    close = [near_choice(choice, random) for choice in legal.choices for _ in range(6)]
    close += [near_cards(action, hand, random) for action in legal.actions if cards_of(action)]
    some = tuple(random.sample(range(52), random.randrange(1, 6)))
    held = tuple(random.sample(hand, random.randrange(1, len(hand) + 1))) if hand else some
    plays = [*PLAYS, *[Play(face.card) for face in game.deck], Play(-1), Play(53)]
    odd = [*_odd_actions(game, some, random), *_odd_actions(game, held, random)]
    return [*legal.actions, *plays, *close, *odd, *_bids_around(legal)]


def _odd_actions(game: Game, some: tuple[Card, ...], random: Random) -> list[Action]:
    """Return every verb with random arguments, some of which a game may know."""
    suit, value, seat = random.randrange(4), random.randrange(53), random.randrange(game.seats[-1] + 1)
    call, meld = (_word(game, kind, random) for kind in (WordKind.CALL, WordKind.MELD))
    contracts = [NONSENSE, *game.words.get(WordKind.CONTRACT, {})]
    pile = random.choice([NONSENSE, "stock", *[kind.name for kind in game.piles]])
    odd: list[Action] = [*BARE, Play(value, suit), Play(some[0], suit), KeepCards(some, suit), KeepCards((), suit)]
    odd += [SwapCards(some), SwapCards(()), CallPartner(None), CallPartner(value), CallNobody()]
    odd += [NameTrump(suit, all_tricks=True), NameTrump(suit, all_tricks=False)]
    odd += [Bid(random.randrange(-5, 200)), *map(Bid, contracts), Draw(NONSENSE), Draw("stock")]
    odd += [Draw(kind.name) for kind in game.piles]
    odd += [Lay(some), Lay(some, meld), Lay(some, meld, pile, random.choice((None, seat))), Lay((), meld, pile, seat)]
    odd += [Lay(some[:1], "", pile, seat)]
    odd += [Declare(call), Declare(call, cards=some), Declare(call, seat, value, some), Declare(NONSENSE)]
    return odd


def _word(game: Game, kind: WordKind, random: Random) -> str:
    return random.choice([NONSENSE, *game.words.get(kind, {})])


def near_cards(action: Action, hand: Sequence[Card], random: Random) -> Action:
    """Return an action with one card less, one more of the hand, or another one."""
    cards, more = list(cards_of(action)), [card for card in hand if card not in cards_of(action)]
    is_longer = more and random.random() < 0.5
    if not is_longer or random.random() < 0.5:
        cards.remove(random.choice(cards))
    added = [random.choice(more)] if is_longer else []
    changes: dict[str, Any] = {"cards": tuple(sorted([*cards, *added]))}
    return replace(action, **changes)


def near_choice(choice: ActionChoice, random: Random) -> Action:
    """Return an action of a choice, in which each chosen part may be one that cannot be chosen."""
    allowed = choice.amount.amounts if choice.amount else ()
    beyond = [edge for amount in (*allowed[:1], *allowed[-1:]) for edge in (amount - 1, amount + 1)]
    anything = ActionChoice(
        choice.action,
        choice.cards and _near_cards(choice.cards, random),
        choice.suits and (*choice.suits, random.choice((-1, 4))),
        choice.amount and random.choice((choice.amount, AmountChoice(*[random.choice(beyond)] * 2))),
        choice.seats and (*choice.seats, random.randrange(-1, 5)),
    )
    return random_of(Legal((), (anything,)), random.randrange)


def _near_cards(choice: CardChoice, random: Random) -> CardChoice:
    """Return cards of a choice, perhaps with one too many, one too few, one twice or another one."""
    count = random.randint(max(choice.min_cards - 1, 0), min(choice.max_cards + 1, len(choice.cards)))
    cards = random.sample(choice.cards, count)
    if cards and random.random() < 0.4:
        cards[random.randrange(count)] = random.choice([random.randrange(53), cards[0]])
    return CardChoice(tuple(cards), count, count)


def some_of_each_form(actions: Iterable[Action], count: int, random: Random) -> list[Action]:
    """Return at most so many random actions of each form: of a verb with the same parts."""
    by_form: dict[tuple[object, ...], list[Action]] = {}
    for action in actions:
        parts = [part.name for part in fields(action) if getattr(action, part.name) not in ("", None, ())]
        by_form.setdefault((type(action), *parts), []).append(action)
    return [action for some in by_form.values() for action in random.sample(some, min(count, len(some)))]


def _bids_around(legal: Legal) -> list[Action]:
    """Return all bids from below the lowest legal amount to above the highest."""
    amounts = [action.bid for action in legal.actions if isinstance(action, Bid) and isinstance(action.bid, int)]
    return [Bid(amount) for amount in range(min(amounts) - 1, max(amounts) + 2)] if amounts else []
