"""Nobody learns what he may not know: laws for every game about views, facts and refusals."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from random import Random

from croupier.games.actions import Action, Call, Keep, Play, Swap, ThrowDown
from croupier.games.bots import random_of
from croupier.games.cards import CARD_OF_NOTATION, Card
from croupier.games.facts import (
    EVERYONE,
    SPECTATOR,
    Called,
    CardsMoved,
    Fact,
    HandRevealed,
    RoundEnded,
    RoundStarted,
    Seat,
    Viewer,
    only,
)
from croupier.games.interface import (
    NOTHING_LEGAL,
    CardsShuffled,
    Event,
    Game,
    IllegalAction,
    Legal,
    SeatActed,
    SeatsToAct,
    State,
)
from tests.games.fold import heard
from tests.games.laws import attempts, every_table, steps, tables
from tests.games.peculiar import PECULIAR
from tests.games.walk import Step, usual, viewers

TWINS = 2
"""How many pairs of tables are compared for each viewer of a table."""
REVEALED = "the rules tell everybody something about hidden cards"
TWIN_STEPS = 80
"""How long a pair is played on alike."""


def known(state: State, viewer: Viewer) -> set[Card]:
    """The viewer's own hand and all that lies open, by his view."""
    view = state.view(viewer)
    own = view.seats[viewer].cards if viewer != SPECTATOR else ()
    return {*own, *(laid.card for pile in view.piles for laid in pile.cards)}


def laid_openly(facts: Iterable[Fact]) -> set[Card]:
    """Cards that went to a pile before everybody's eyes."""
    moves = [fact for fact in facts if isinstance(fact, CardsMoved) and isinstance(fact.target, str)]
    return {value for move in moves if move.audience == EVERYONE for value in move.cards}


def shown(fact: Fact) -> set[Card]:
    """The cards that a fact tells of."""
    if isinstance(fact, CardsMoved | HandRevealed):
        return set(fact.cards)
    return named(fact.action) if isinstance(fact, Called) else set()


def named(action: Action | None) -> set[Card]:
    """The cards that an action names."""
    match action:
        case Play(value) | Call(int() as value):
            return {value}
        case Keep(cards) | Swap(cards):
            return set(cards)
        case _:
            return set()


def called(fact: Fact, viewer: Viewer) -> set[Card]:
    """The card by whose name a seat calls a partner, before everybody or in words that it knows itself."""
    if (
        isinstance(fact, Called)
        and isinstance(fact.action, Call)
        and (fact.audience == EVERYONE or fact.seat == viewer)
    ):
        return named(fact.action)
    return set()


def texts(fact: Fact) -> Iterator[str]:
    """The words of a fact."""
    for value in fact:
        if isinstance(value, str):
            yield value
        elif isinstance(value, tuple):
            yield from (text for text in value if isinstance(text, str))


def mentioned(lines: Iterable[str]) -> set[Card]:
    """The cards that are written in texts."""
    words = re.findall(r"\b(?:[2-9TJQKA][CDHS]|JK)\b", " ".join(lines))
    return {CARD_OF_NOTATION[word] for word in words}


@every_table
def test_views_and_facts_show_a_viewer_nothing_but_his_own_hand_and_what_lies_open(
    game: Game, seats: int, seed: int
) -> None:
    open_hands: set[Seat] = set()
    for step, _ in steps(game, seats, seed):
        if any(isinstance(fact, RoundStarted) for fact in step.facts):
            open_hands.clear()
        revealed = {fact.seat for fact in step.facts if isinstance(fact, HandRevealed)}
        if revealed:
            acted = step.event.action if isinstance(step.event, SeatActed) else None
            assert isinstance(acted, ThrowDown) or any(isinstance(fact, RoundEnded) for fact in step.facts)
        open_hands |= revealed
        for viewer in viewers(seats):
            for seat, hand in enumerate(step.after.view(viewer).seats):
                assert not hand.cards or seat == viewer or seat in open_hands
            may_know = known(step.before, viewer) | known(step.after, viewer) | laid_openly(step.facts)
            for fact in heard(step.facts, viewer):
                may_hear = may_know | called(fact, viewer)
                assert isinstance(fact, HandRevealed) or shown(fact) <= may_hear, (viewer, fact)
                assert mentioned(texts(fact)) <= may_know, (viewer, fact)


@every_table
def test_refusals_name_no_card_but_those_the_seat_knows(game: Game, seats: int, seed: int) -> None:
    for step, random in steps(game, seats, seed):
        for seat in range(seats):
            for action in random.sample(attempts(NOTHING_LEGAL, random), 8):
                learned = outcome(step.after, SeatActed(seat, action), seat)
                if isinstance(learned, tuple):
                    assert mentioned([learned[1]]) <= known(step.after, seat) | named(action)


def outcome(
    state: State, event: Event, viewer: Viewer, reveals: Callable[[Fact], bool] = lambda _: False
) -> tuple[str, str] | list[Fact] | str | None:
    """What a viewer learns from an event or its refusal; None if the round ends, which may lay hands open."""
    try:
        _, facts = state.apply(event)
    except IllegalAction as refusal:
        return refusal.rule, str(refusal)
    if any(map(reveals, facts)):
        return REVEALED
    return None if any(isinstance(fact, RoundEnded) for fact in facts) else covered(heard(facts, viewer), viewer)


def told(facts: Iterable[Fact]) -> list[Fact]:
    """What a viewer who heard these facts was told: all but who else heard them."""
    return [fact._replace(audience=EVERYONE) for fact in facts]


def covered(facts: Iterable[Fact], viewer: Viewer) -> list[Fact]:
    """What was told without the cards that come into the viewer's hand and are named to nobody else, by chance."""
    return told(
        fact._replace(cards=())
        if isinstance(fact, CardsMoved) and fact.target == viewer and fact.audience == only(viewer)
        else fact
        for fact in facts
    )


@every_table
def test_hidden_cards_make_no_difference(game: Game, seats: int, seed: int) -> None:
    """Exchange cards that a viewer does not see: he sees, hears and is refused the same while play goes on alike."""
    for table in tables(game, seats, seed):
        random = table.random
        public = PECULIAR[game.id].public_cards(table.options)
        first = next(table.walk())
        for viewer in viewers(seats) * TWINS:
            _play_alike(game, first, _exchanged(first, viewer, public, random), viewer, random)


def _exchanged(deal: Step, viewer: Viewer, public: tuple[Card, ...], random: Random) -> CardsShuffled:
    """The same shuffle with some of the cards exchanged that the viewer does not see, but for public ones."""
    assert isinstance(deal.event, CardsShuffled)
    cards = list(deal.event.cards)
    seen = {value for fact in heard(deal.facts, viewer) for value in shown(fact)}.union(public)
    hidden = [at for at, value in enumerate(cards) if value not in seen]
    places = random.sample(hidden, min(len(hidden), random.choice((2, 2, 3, 5, 52))))
    for place, value in zip(places, [cards[at] for at in places[1:] + places[:1]], strict=True):
        cards[place] = value
    return CardsShuffled(tuple(cards), deal.event.drawn)


def _play_alike(game: Game, deal: Step, exchanged: CardsShuffled, viewer: Viewer, random: Random) -> None:
    reveals = PECULIAR[game.id].reveals
    one, other = deal.before, deal.before
    events: tuple[Event, Event] = deal.event, exchanged
    for _ in range(TWIN_STEPS):
        one, facts = one.apply(events[0])
        other, other_facts = other.apply(events[1])
        if any(isinstance(fact, RoundEnded) or reveals(fact) for fact in (*facts, *other_facts)):
            return
        mine, others = heard(facts, viewer), heard(other_facts, viewer)
        assert covered(mine, viewer) == covered(others, viewer)
        if told(mine) != told(
            others
        ):  # He drew one of the cards that were exchanged, and may play differently from now on.
            return
        assert one.view(viewer) == other.view(viewer)
        assert one.legal_actions(viewer) == other.legal_actions(viewer)
        for action in random.sample(attempts(one.legal_actions(viewer), random), 10):
            event = SeatActed(viewer, action)
            learned, other_learned = outcome(one, event, viewer, reveals), outcome(other, event, viewer, reveals)
            assert learned == other_learned or REVEALED in (learned, other_learned), (viewer, action)
        common = _common_event(game, one, other, random)
        if common is None:
            return
        events = common, common


def _common_event(game: Game, one: State, other: State, random: Random) -> Event | None:
    """Something that can happen at both tables."""
    assert type(one.awaiting) is type(other.awaiting)
    if not isinstance(one.awaiting, SeatsToAct):
        return None
    assert one.awaiting == other.awaiting
    seat = random.choice(one.awaiting.seats)
    alike = common_legal(one.legal_actions(seat), other.legal_actions(seat))
    return None if alike == NOTHING_LEGAL else SeatActed(seat, random_of(usual(game, alike, random), random.randrange))


def common_legal(one: Legal, other: Legal) -> Legal:
    """What is legal at both tables: the same actions, and choices out of the cards that both offer."""
    choices = []
    for mine, theirs in zip(one.choices, other.choices, strict=False):
        common = tuple(sorted((Counter(mine.cards) & Counter(theirs.cards)).elements()))
        if mine._replace(cards=()) == theirs._replace(cards=()) and len(common) >= mine.fewest:
            choices.append(mine._replace(cards=common, most=min(mine.most, len(common))))
    return Legal(tuple(action for action in one.actions if action in other.actions), tuple(choices))
