"""Laws of secrecy for every game: views, facts and refusals reveal no hidden card."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from random import Random

from croupier.games.actions import Action, CallPartner, Declare, KeepCards, Lay, Play, SwapCards
from croupier.games.bots import random_of
from croupier.games.cards import CARD_OF_NOTATION, Card
from croupier.games.choices import CardChoice
from croupier.games.facts import (
    EVERYONE,
    SPECTATOR,
    Called,
    CardsMoved,
    ContractChanged,
    Fact,
    HandRevealed,
    MarkChanged,
    OwnedPile,
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
from tests.games import dispatch
from tests.games.fold import facts_for
from tests.games.laws import attempted_actions, every_table, tables, transitions
from tests.games.walk import TRAITS, Transition, some_viewers, usual_actions, viewers

TWINS = 2
"""The number of pairs of tables that are compared for each viewer of a table."""
REVEALED = "the rules reveal something about hidden cards"
TWIN_STEPS = 80
"""The maximum number of events of a pair."""


def known(state: State, viewer: Viewer) -> set[Card]:
    """Return the viewer's hand and all open cards, by their view."""
    view = dispatch.view(state, viewer)
    own = view.seats[viewer].cards if viewer != SPECTATOR else ()
    return {*own, *(pile_card.card for pile in view.piles for pile_card in pile.cards)}


def played_openly(facts: Iterable[Fact]) -> set[Card]:
    """Return cards that went to a pile openly."""
    moves = [fact for fact in facts if isinstance(fact, CardsMoved) and isinstance(fact.target, str | OwnedPile)]
    return {value for move in moves if move.audience == EVERYONE for value in move.cards}


def shown(fact: Fact) -> set[Card]:
    if isinstance(fact, CardsMoved | HandRevealed):
        return set(fact.cards)
    return named(fact.call.action) if isinstance(fact, Called) else set()


def named(action: Action | None) -> set[Card]:
    match action:
        case Play(value) | CallPartner(int() as value):
            return {value}
        case KeepCards(cards) | SwapCards(cards) | Lay(cards) | Declare(cards=cards):
            return set(cards)
        case _:
            return set()


def called(fact: Fact, viewer: Viewer) -> set[Card]:
    """Return the card that names a called partner, in a public fact or in one of the viewer's own."""
    if (
        isinstance(fact, Called)
        and isinstance(fact.call.action, CallPartner)
        and (fact.audience == EVERYONE or fact.call.seat == viewer)
    ):
        return named(fact.call.action)
    return set()


def texts(fact: Fact) -> Iterator[str]:
    """Yield the texts of a fact, or of the mark, contract or score in it."""
    content: tuple[object, ...] = fact[0] if isinstance(fact, MarkChanged | ContractChanged | RoundEnded) else fact
    for value in content:
        if isinstance(value, str):
            yield value
        elif isinstance(value, tuple):
            yield from (text for text in value if isinstance(text, str))


def mentioned(lines: Iterable[str]) -> set[Card]:
    words = re.findall(r"\b(?:[2-9TJQKA][CDHS]|JK)\b", " ".join(lines))
    return {CARD_OF_NOTATION[word] for word in words}


@every_table
def test_views_and_facts_show_a_viewer_only_their_hand_and_open_cards(game: Game, seats: int, seed: int) -> None:
    open_hands: set[Seat] = set()
    seen_openly: set[Card] = set()
    reveals = TRAITS[game.id].reveals
    for step, random in transitions(game, seats, seed):
        if any(isinstance(fact, RoundStarted) for fact in step.facts):
            open_hands.clear()
            seen_openly.clear()
        revealed = [fact for fact in step.facts if isinstance(fact, HandRevealed)]
        if revealed and not any(isinstance(fact, RoundEnded) for fact in step.facts):
            assert all(map(reveals, revealed))
        open_hands |= {fact.seat for fact in revealed}
        seen_openly |= played_openly(step.facts).union(*[fact.cards for fact in revealed])
        for viewer in some_viewers(seats, random):
            for seat, hand in enumerate(dispatch.view(step.after, viewer).seats):
                assert not hand.cards or seat == viewer or seat in open_hands
                assert set(hand.known_cards) <= seen_openly
                assert not (hand.known_cards and (hand.cards or seat == viewer))
                # What is known is there.
                assert not Counter(hand.known_cards) - Counter(dispatch.view(step.after, seat).seats[seat].cards)
            may_know = known(step.before, viewer) | known(step.after, viewer) | played_openly(step.facts)
            for fact in facts_for(step.facts, viewer):
                may_learn = may_know | called(fact, viewer)
                assert isinstance(fact, HandRevealed) or shown(fact) <= may_learn, (viewer, fact)
                assert mentioned(texts(fact)) <= may_know, (viewer, fact)


def outcome(
    state: State, event: Event, viewer: Viewer, reveals: Callable[[Fact], bool] = lambda _: False
) -> tuple[str, str] | list[Fact] | str | None:
    """Return what an event or its refusal reveals to a viewer; None if the round ends, which may reveal hands."""
    try:
        _, facts = dispatch.apply(state, event)
    except IllegalAction as refusal:
        return refusal.rule, str(refusal)
    if any(map(reveals, facts)):
        return REVEALED
    if any(isinstance(fact, RoundEnded) for fact in facts):
        return None
    return without_drawn_cards(facts_for(facts, viewer), viewer)


def visible_parts(facts: Iterable[Fact]) -> list[Fact]:
    """Return the parts of facts that their viewers receive: all but the audience."""
    return [fact._replace(audience=EVERYONE) for fact in facts]


def without_drawn_cards(facts: Iterable[Fact], viewer: Viewer) -> list[Fact]:
    """Return the visible parts without the cards that the viewer alone sees come into their hand at random."""
    return visible_parts(
        fact._replace(cards=())
        if isinstance(fact, CardsMoved) and fact.target == viewer and fact.audience == only(viewer)
        else fact
        for fact in facts
    )


@every_table
def test_hidden_cards_make_no_difference(game: Game, seats: int, seed: int) -> None:
    """Exchange cards that a viewer does not see: their views, facts and refusals are the same under the same events."""
    for table in tables(game, seats, seed):
        random = table.random
        public = TRAITS[game.id].public_cards(table.options)
        first = next(table.walk())
        for viewer in viewers(seats) * TWINS:
            _play_alike(game, first, _exchanged(first, viewer, public, random), viewer, random)


def _exchanged(deal: Transition, viewer: Viewer, public: tuple[Card, ...], random: Random) -> CardsShuffled:
    """Return the same shuffle with some cards exchanged that are neither public nor seen by the viewer."""
    assert isinstance(deal.event, CardsShuffled)
    cards = list(deal.event.cards)
    seen_cards = {value for fact in facts_for(deal.facts, viewer) for value in shown(fact)}.union(public)
    hidden = [at for at, value in enumerate(cards) if value not in seen_cards]
    places = random.sample(hidden, min(len(hidden), random.choice((2, 2, 3, 5, 52))))
    for place, value in zip(places, [cards[at] for at in places[1:] + places[:1]], strict=True):
        cards[place] = value
    return CardsShuffled(tuple(cards), deal.event.drawn)


def _play_alike(game: Game, deal: Transition, exchanged: CardsShuffled, viewer: Viewer, random: Random) -> None:
    reveals = TRAITS[game.id].reveals
    one, other = deal.before, deal.before
    events: tuple[Event, Event] = deal.event, exchanged
    for _ in range(TWIN_STEPS):
        one, facts = dispatch.apply(one, events[0])
        other, other_facts = dispatch.apply(other, events[1])
        if any(isinstance(fact, RoundEnded) or reveals(fact) for fact in (*facts, *other_facts)):
            return
        mine, others = facts_for(facts, viewer), facts_for(other_facts, viewer)
        assert without_drawn_cards(mine, viewer) == without_drawn_cards(others, viewer)
        if visible_parts(mine) != visible_parts(others):
            # The viewer drew an exchanged card, and may play differently from now on.
            return
        assert dispatch.view(one, viewer) == dispatch.view(other, viewer)
        assert dispatch.legal_actions(one, viewer) == dispatch.legal_actions(other, viewer)
        for action in random.sample(attempted_actions(dispatch.legal_actions(one, viewer), random), 10):
            event = SeatActed(viewer, action)
            learned, other_learned = outcome(one, event, viewer, reveals), outcome(other, event, viewer, reveals)
            assert learned == other_learned or REVEALED in (learned, other_learned), (viewer, action)
        common = _common_event(game, one, other, random)
        if common is None:
            return
        events = common, common


def _common_event(game: Game, one: State, other: State, random: Random) -> Event | None:
    """Return an event that is possible at both tables."""
    awaiting, others = dispatch.awaiting(one), dispatch.awaiting(other)
    assert type(awaiting) is type(others)
    if not isinstance(awaiting, SeatsToAct):
        return None
    assert awaiting == others
    seat = random.choice(awaiting.seats)
    alike = common_legal(dispatch.legal_actions(one, seat), dispatch.legal_actions(other, seat))
    if alike == NOTHING_LEGAL:
        return None
    return SeatActed(seat, random_of(usual_actions(game, alike, random), random.randrange))


def common_legal(one: Legal, other: Legal) -> Legal:
    """Return the common legal actions of both tables, with choices out of the common cards."""
    choices = []
    for mine, theirs in zip(one.choices, other.choices, strict=False):
        if mine == theirs:
            choices.append(mine)
        elif mine._replace(cards=None) == theirs._replace(cards=None) and mine.cards and theirs.cards:
            common = tuple(sorted((Counter(mine.cards.cards) & Counter(theirs.cards.cards)).elements()))
            most = min(mine.cards.max_cards, theirs.cards.max_cards, len(common))
            if max(mine.cards.min_cards, theirs.cards.min_cards) <= most:
                choices.append(mine._replace(cards=CardChoice(common, mine.cards.min_cards, most)))
    return Legal(tuple(action for action in one.actions if action in other.actions), tuple(choices))
