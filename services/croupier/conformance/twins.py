"""The law of twins: cards that a viewer does not see make no difference to what they receive and may do."""

from collections import Counter
from collections.abc import Callable, Iterable
from random import Random

from croupier.conformance.attempts import attempted_actions
from croupier.conformance.fold import facts_for
from croupier.conformance.hidden_cards import shown
from croupier.conformance.law import Law, LawBroken, require, require_equal
from croupier.conformance.tables import SampledTable
from croupier.conformance.walks import Transition, usual_actions, viewers
from croupier.games.bots import random_of
from croupier.games.cards import Card
from croupier.games.choices import CardChoice
from croupier.games.facts import EVERYONE, SPECTATOR, CardsMoved, Fact, RoundEnded, Viewer, only
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

TWINS = 2
"""The number of pairs of tables that are compared for each viewer of a table."""
TWIN_STEPS = 80
"""The maximum number of events of a pair."""
TWIN_ATTEMPTS = 10
"""The number of actions that a viewer tries at both tables of a pair, between two events."""
REVEALED = "the rules reveal something about hidden cards"


def outcome(
    game: Game, state: State, event: Event, viewer: Viewer, reveals: Callable[[Fact], bool] = lambda _: False
) -> tuple[str, str] | list[Fact] | str | None:
    """Return what an event or its refusal reveals to a viewer; None if the round ends, which may reveal hands."""
    try:
        _, facts = game.apply(state, event)
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


def check_twins(table: SampledTable) -> None:
    """Exchange cards that a viewer does not see: their views, facts and refusals are the same under the same events."""
    public = table.game.sampling.public_cards(table.options)
    first = next(table.walk())
    if not isinstance(first.event, CardsShuffled):
        raise LawBroken(f"the first event is {first.event}: expected a shuffle")
    for viewer in viewers(table.seats) * TWINS:
        seen_cards = {value for fact in facts_for(first.facts, viewer) for value in shown(fact)}.union(public)
        _Twins(table, viewer).play(first, _exchanged(first.event, seen_cards, table.random))


def _exchanged(shuffled: CardsShuffled, seen_cards: set[Card], random: Random) -> CardsShuffled:
    """Return the same shuffle with some cards exchanged that are not seen."""
    cards = list(shuffled.cards)
    hidden = [at for at, value in enumerate(cards) if value not in seen_cards]
    places = random.sample(hidden, min(len(hidden), random.choice((2, 2, 3, 5, 52))))
    for place, value in zip(places, [cards[at] for at in places[1:] + places[:1]], strict=True):
        cards[place] = value
    return CardsShuffled(tuple(cards), shuffled.drawn)


class _Twins:
    """Two tables that differ in cards that a viewer does not see, to which the same events are applied."""

    def __init__(self, table: SampledTable, viewer: Viewer) -> None:
        self.game, self.random, self.viewer = table.game, table.random, viewer
        self.reveals = table.game.sampling.reveals

    def play(self, deal: Transition, exchanged: CardsShuffled) -> None:
        """Play until the tables may differ for the viewer."""
        one, other = deal.before, deal.before
        events: tuple[Event, Event] = deal.event, exchanged
        for _ in range(TWIN_STEPS):
            (one, facts), (other, other_facts) = self.game.apply(one, events[0]), self.game.apply(other, events[1])
            if any(isinstance(fact, RoundEnded) or self.reveals(fact) for fact in (*facts, *other_facts)):
                return
            if not self._learns_the_same(facts, other_facts):
                # The viewer drew an exchanged card, and may play differently from now on.
                return
            self._compare(one, other)
            common = self._common_event(one, other)
            if common is None:
                return
            events = common, common

    def _learns_the_same(self, facts: Iterable[Fact], other_facts: Iterable[Fact]) -> bool:
        mine, others = facts_for(facts, self.viewer), facts_for(other_facts, self.viewer)
        learned, other_learned = (without_drawn_cards(told, self.viewer) for told in (mine, others))
        self._require_equal("facts", learned, other_learned)
        return visible_parts(mine) == visible_parts(others)

    def _compare(self, one: State, other: State) -> None:
        game, viewer = self.game, self.viewer
        view, legal = game.view(one, viewer), game.legal_actions(one, viewer)
        self._require_equal("the view", view, game.view(other, viewer))
        self._require_equal("legal actions", legal, game.legal_actions(other, viewer))
        hand = () if viewer == SPECTATOR else view.seats[viewer].cards
        for action in self.random.sample(attempted_actions(game, legal, hand, self.random), TWIN_ATTEMPTS):
            event = SeatActed(viewer, action)
            learned, other_learned = (outcome(game, state, event, viewer, self.reveals) for state in (one, other))
            if REVEALED not in (learned, other_learned):
                self._require_equal(f"what {action} reveals", learned, other_learned)

    def _require_equal(self, what: str, found: object, other: object) -> None:
        require(
            found == other, f"{what} of viewer {self.viewer} depends on cards that they do not see: {found}, {other}"
        )

    def _common_event(self, one: State, other: State) -> Event | None:
        """Return an event that is possible at both tables."""
        awaiting, others = self.game.awaiting(one), self.game.awaiting(other)
        require_equal("what the other table awaits", type(others), type(awaiting))
        if not isinstance(awaiting, SeatsToAct):
            return None
        require_equal("the seats to act of the other table", others, awaiting)
        seat = self.random.choice(awaiting.seats)
        alike = common_legal(self.game.legal_actions(one, seat), self.game.legal_actions(other, seat))
        if alike == NOTHING_LEGAL:
            return None
        return SeatActed(seat, random_of(usual_actions(self.game, alike, self.random), self.random.randrange))


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


TWINS_LAW: Law[SampledTable] = Law(
    "twins",
    "Let views, facts, legal actions and refusals depend on nothing that their seat cannot know; what the rules "
    "do reveal is named in `sampling`, as `public_cards` or `reveals`.",
    check_twins,
)
