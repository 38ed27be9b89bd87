"""Random walks through the tables of any game, along which the laws are checked, and the traits of games for them.

The traits are public cards, and how random play reaches rare positions.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from croupier.games.actions import Action, Bid, Play, StandPat, SwapCards
from croupier.games.bots import random_of
from croupier.games.cards import Card, cards
from croupier.games.facts import EVERYONE, SPECTATOR, ContractChanged, Fact, HandRevealed, TurnChanged, Viewer
from croupier.games.interface import (
    CardsShuffled,
    Event,
    Game,
    GameOver,
    IllegalAction,
    InvalidOption,
    Legal,
    Option,
    OptionValue,
    ProposalAgreed,
    SeatActed,
    ShuffleNeeded,
    State,
    resolve_options,
)
from croupier.games.one_oh_one.effects import IS_QUEEN
from croupier.games.solo.deck import DECK
from tests.games import dispatch

PROPOSALS = 0.01
"""The probability that an event is an agreed proposal, in games with proposals."""
RARE_SHARE = 0.1
"""The probability that a walk considers rare actions."""
MAX_EVENTS = 50_000
"""The maximum length of a random walk; a longer table counts as one without end."""

ENDING: Mapping[str, Mapping[str, range]] = {
    "one_ten": {"max_rounds": range(1, 7)},
    "thulla": {"stall_limit": range(1, 1001)},
}
"""The values that walks draw from instead of all, by game and option, because play may have no end."""
Steering = Callable[[State, Event, Random], Event]


class GameTraits(NamedTuple):
    """`public_cards`: cards whose holder the rules reveal at the deal, under these options.

    `reveals`: facts by which the rules reveal something about hidden cards. `is_rare`: actions that walks take rarely,
    because random play would see little besides them. `steered`: the event in place of a random event, in walks to
    positions that random play hardly ever reaches, with the options in `steered_options`.
    """

    public_cards: Callable[[Mapping[str, Any]], tuple[Card, ...]] = lambda _: ()
    reveals: Callable[[Fact], bool] = lambda _: False
    is_rare: Callable[[Action], bool] = lambda _: False
    steered: Steering = lambda _state, event, _random: event
    steered_options: Callable[[int], Mapping[str, OptionValue]] = lambda _: {}


def _shows_black_queens_or_partner(fact: Fact) -> bool:
    """Return whether a fact shows a wedding that must be called, or the partner to all."""
    if isinstance(fact, ContractChanged):
        return fact.changes.partner is not None and fact.audience == EVERYONE
    return isinstance(fact, TurnChanged) and fact.phase == "wedding"


def _is_solo(action: Action) -> bool:
    return isinstance(action, Bid) and str(action.bid).startswith("solo")


def _low_bids(state: State, event: Event, random: Random) -> Event:
    """110: low bids, so that games are won, and large swaps, so that stocks fall short."""
    match event:
        case SeatActed(seat, Bid()):
            calls = dispatch.legal_actions(state, seat).actions
            return SeatActed(seat, random.choice([call for call in calls if call == Bid(15)] or calls[-1:]))
        case SeatActed(seat, SwapCards() | StandPat()) if random.random() < 0.9:
            (choice,) = dispatch.legal_actions(state, seat).choices
            assert choice.cards
            return SeatActed(seat, SwapCards(tuple(random.sample(choice.cards.cards, choice.cards.max_cards))))
    return event


def _short_rounds(state: State, event: Event, random: Random) -> Event:
    """101: short rounds of seats that draw only if they must; odd seats keep their queens, and often one has all."""
    if isinstance(event, CardsShuffled) and random.random() < 0.5:
        queens = [card for card in event.cards if IS_QUEEN[card]]
        order, seats = [card for card in event.cards if not IS_QUEEN[card]], len(dispatch.scores(state))
        first = random.randrange(seats)
        for turn, queen in enumerate(queens[:4]):
            order.insert(first + turn * seats, queen)
        return CardsShuffled((*order, *queens[4:]), event.drawn)
    if not isinstance(event, SeatActed) or random.random() < 0.05:
        return event
    plays = [play for play in dispatch.legal_actions(state, event.seat).actions if isinstance(play, Play)]
    others = [play for play in plays if not IS_QUEEN[play.card]]
    chosen = others if event.seat % 2 and others else plays
    return SeatActed(event.seat, random.choice(chosen)) if chosen else event


def _uneven_hands(_state: State, event: Event, random: Random) -> Event:
    """Solo: decks of which some hands are strong or short of suits, dealt in packets or singly."""
    if not isinstance(event, CardsShuffled):
        return event
    last, queens = random.randrange(5), cards("QC QS")
    orders: list[Callable[[Card], Any]] = [
        lambda card: (card // 13 == last, -(card % 13), random.random()),
        lambda card: (card not in queens, card // 13 == last, -(card % 13)),
        lambda card: card,
    ]
    held = sorted(DECK, key=random.choice(orders))
    for _ in range(random.randrange(6)):
        one, other = random.sample(range(len(held)), 2)
        held[one], held[other] = held[other], held[one]
    hands = random.sample([held[at : at + 8] for at in range(0, 32, 8)], 4)
    packets = random.choice(([3, 2, 3], [1] * 8))
    return CardsShuffled(tuple(hand.pop() for size in packets for hand in hands for _ in range(size)), event.drawn)


TRAITS: Mapping[str, GameTraits] = {
    "thulla": GameTraits(
        public_cards=lambda options: cards("AS") if options["start"] == "ace_of_spades" else (),
        steered_options=lambda _: {"stall_limit": 0, "pickup": "highest"},
    ),
    "one_ten": GameTraits(steered=_low_bids, steered_options=lambda seats: {"max_rounds": 0 if seats <= 4 else 2}),
    "jossing": GameTraits(),
    "one_oh_one": GameTraits(steered=_short_rounds),
    "solo": GameTraits(reveals=_shows_black_queens_or_partner, is_rare=_is_solo, steered=_uneven_hands),
    "toy": GameTraits(reveals=lambda fact: isinstance(fact, HandRevealed)),
}


def drawn_values(game: Game, option: Option) -> Sequence[OptionValue]:
    """Return the values of an option with which random play comes to an end."""
    return ENDING.get(game.id, {}).get(option.name, option.allowed)


class Transition(NamedTuple):
    """An event with the table before and after it, and its facts."""

    before: State
    event: Event
    after: State
    facts: tuple[Fact, ...]


def viewers(seats: int) -> tuple[Viewer, ...]:
    """Return every seat and the spectators."""
    return (*range(seats), SPECTATOR)


def some_viewers(seats: int, random: Random) -> tuple[Viewer, ...]:
    """Return a random seat and the spectators: what is wrong with one seat's view is so with that of others."""
    return random.randrange(seats), SPECTATOR


def sample_options(game: Game, seats: int, random: Random) -> dict[str, OptionValue]:
    """Return a valid combination of options; a long range has its default, ends and a few others."""
    while True:
        chosen: dict[str, OptionValue] = {}
        for option in game.options(seats):
            allowed = drawn_values(game, option)
            if isinstance(allowed, range) and len(allowed) > 10:
                allowed = (option.default, allowed[0], allowed[-1], *random.sample(allowed, 3), *allowed[1:9])
            chosen[option.name] = random.choice(allowed)
        try:
            return resolve_options(game, seats, chosen)
        except InvalidOption:
            continue


def shuffle(due: ShuffleNeeded, random: Random) -> CardsShuffled:
    """Return the needed shuffle in a random order."""
    return CardsShuffled(tuple(random.sample(due.cards, len(due.cards))), tuple(map(random.randrange, due.draw_bounds)))


def next_event(game: Game, state: State, random: Random) -> Event | None:
    """Return a random event that the table awaits or an agreed proposal; None when the game is over."""
    awaiting = dispatch.awaiting(state)
    if game.proposals and random.random() < PROPOSALS:
        agreed = ProposalAgreed(random.choice(list(game.proposals)))
        try:
            dispatch.apply(state, agreed)
        except IllegalAction:
            pass
        else:
            return agreed
    if isinstance(awaiting, GameOver):
        return None
    if isinstance(awaiting, ShuffleNeeded):
        return shuffle(awaiting, random)
    seat = random.choice(awaiting.seats)
    return SeatActed(
        seat, random_of(usual_actions(game, dispatch.legal_actions(state, seat), random), random.randrange)
    )


def usual_actions(game: Game, legal: Legal, random: Random) -> Legal:
    """Return the legal actions, mostly without the rare ones."""
    if random.random() < RARE_SHARE:
        return legal
    actions = tuple(action for action in legal.actions if not TRAITS[game.id].is_rare(action))
    return Legal(actions, legal.choices) if actions or legal.choices else legal


def walk(game: Game, state: State, random: Random, *, steered: bool = False) -> Iterator[Transition]:
    """Play at random, perhaps steered to rare positions, to the end; raises AssertionError without an end."""
    for _ in range(MAX_EVENTS):
        event = next_event(game, state, random)
        if event is None:
            return
        if steered:
            event = TRAITS[game.id].steered(state, event, random)
        after, facts = dispatch.apply(state, event)
        yield Transition(state, event, after, facts)
        state = after
    raise AssertionError(f"the game has no end within {MAX_EVENTS} events")
