"""The law of twins: cards that a viewer does not see make no difference to what they receive and may do."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from croupier.conformance.attempts import attempted_actions, fits
from croupier.conformance.fold import facts_for
from croupier.conformance.hidden_cards import shown
from croupier.conformance.law import Law, LawBroken, first_difference, require, require_equal
from croupier.conformance.tables import SampledTable
from croupier.conformance.walks import Transition, shuffle, usual_actions, viewers
from croupier.games.actions import Play
from croupier.games.bots import random_of
from croupier.games.cards import Card
from croupier.games.choices import CardChoice, cards_of
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
    ShuffleNeeded,
    State,
)

TWINS = 2
"""The number of pairs of tables that are compared for each viewer of a table."""
TRIES = 5
"""So many exchanges are tried at most until one is possible."""
TWIN_STEPS = 80
"""The maximum number of events of a pair from the point on at which the exchanged cards are still hidden."""
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
    """Exchange cards that a viewer does not see: their views, facts and refusals are the same under the same events.

    They are exchanged at a shuffle of any round; the viewer has not seen them at some later point of it either.
    """
    walked = list(table.some_transitions())
    shuffles = [at for at, step in enumerate(walked) if isinstance(step.event, CardsShuffled)]
    if shuffles[:1] != [0]:
        raise LawBroken(f"the first event is {walked[0].event}: expected a shuffle")
    for viewer in viewers(table.seats) * TWINS:
        twins = _Twins(table, viewer)
        for _ in range(TRIES):
            if twins.play(_some_steps(walked, shuffles, table.random)):
                break


def _some_steps(walked: Sequence[Transition], shuffles: Sequence[int], random: Random) -> Sequence[Transition]:
    """Return a shuffle and what followed it, to a point before the next one.

    Half of them are the first shuffle, and half are a shuffle alone: most cards are hidden then.
    """
    number = random.choice((0, random.randrange(len(shuffles))))
    first, end = shuffles[number], (*shuffles[number + 1 :], len(walked))[0]
    return walked[first : random.choice((first, random.randrange(first, end))) + 1]


def renamed(event: Event, names: Mapping[Card, Card]) -> Event:
    """Return an event with other cards in place of some."""
    match event:
        case CardsShuffled(cards):
            return event._replace(cards=tuple(names.get(card, card) for card in cards))
        case SeatActed(_, action):
            changes: dict[str, Any] = {}
            if cards := cards_of(action):
                changes["cards"] = tuple(names.get(card, card) for card in cards)
            if isinstance(action, Play) and action.card in names:
                changes["card"] = names[action.card]
            return event._replace(action=replace(action, **changes))
    return event


class _Twins:
    """Two tables that differ in cards that a viewer does not see, to which the same events are applied."""

    def __init__(self, table: SampledTable, viewer: Viewer) -> None:
        self.table, self.game, self.random, self.viewer = table, table.game, table.random, viewer
        self.reveals = table.game.sampling.reveals

    def play(self, steps: Sequence[Transition]) -> bool:
        """Exchange cards that are not seen in steps from a shuffle on, then play on until the tables may differ.

        Returns False if the steps are not possible after the exchange, or it has made no difference.
        """
        names, other = self._exchange(steps), steps[0].before
        for step in steps:
            try:
                other, other_facts = self.game.apply(other, renamed(step.event, names))
            except IllegalAction:
                is_own = isinstance(step.event, SeatActed) and step.event.seat == self.viewer
                require(not is_own, f"whether {step.event} is legal depends on cards that its seat does not see")
                return False
            if not self._learns_the_same(step.facts, other_facts):
                return False
        self._play_on(steps[-1].after, other)
        is_another: bool = steps[-1].after != other
        return is_another

    def _exchange(self, steps: Sequence[Transition]) -> Mapping[Card, Card]:
        """Return by card the one in its place, of some that the viewer does not see."""
        shuffled = steps[0].event
        assert isinstance(shuffled, CardsShuffled)  # noqa: S101 - by it the steps begin
        told = facts_for(itertools.chain(*[step.facts for step in steps]), self.viewer)
        public = self.game.sampling.public_cards(self.table.options)
        seen = {value for fact in told for value in shown(fact)}.union(public)
        hidden = sorted(set(shuffled.cards) - seen)
        some = self.random.sample(hidden, min(len(hidden), self.random.choice((2, 2, 3, 5, 52))))
        return dict(zip(some, some[1:] + some[:1], strict=True))

    def _play_on(self, one: State, other: State) -> None:
        """Play by common events as long as there are some and the tables differ."""
        for _ in range(TWIN_STEPS):
            self._compare(one, other)
            common = self._common_event(one, other)
            if common is None or one == other:
                return
            (one, facts), (other, other_facts) = self.game.apply(one, common), self.game.apply(other, common)
            if not self._learns_the_same(facts, other_facts):
                return

    def _learns_the_same(self, facts: Iterable[Fact], other_facts: Iterable[Fact]) -> bool:
        """Return whether the viewer receives the same facts; they may differ in what the rules reveal, or they draw."""
        mine, others = facts_for(facts, self.viewer), facts_for(other_facts, self.viewer)
        if not any(isinstance(fact, RoundEnded) or self.reveals(fact) for fact in (*facts, *other_facts)):
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
        if found != other:
            place, mine, theirs = first_difference(found, other)
            what = f"{what}{place} of viewer {self.viewer}"
            raise LawBroken(f"{what} depends on cards that they do not see: {mine}, with others {theirs}")

    def _common_event(self, one: State, other: State) -> Event | None:
        """Return an event that is possible at both tables, if that can be one of the table's style."""
        awaiting, others = self.game.awaiting(one), self.game.awaiting(other)
        require_equal("what the other table awaits", type(others), type(awaiting))
        if isinstance(awaiting, ShuffleNeeded):
            return shuffle(awaiting, self.random) if awaiting == others else None
        if not isinstance(awaiting, SeatsToAct):
            return None
        require_equal("the seats to act of the other table", others, awaiting)
        seat = self.random.choice(awaiting.seats)
        alike = common_legal(self.game.legal_actions(one, seat), self.game.legal_actions(other, seat))
        if alike == NOTHING_LEGAL:
            return None
        event = SeatActed(seat, random_of(usual_actions(self.game, alike, self.random), self.random.randrange))
        changed = self.table.change(one, event)
        return changed if isinstance(changed, SeatActed) and fits(alike, changed.action) else event


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
