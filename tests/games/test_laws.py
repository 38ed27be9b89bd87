"""Laws that hold for every game, with any options, at every number of seats, at each step of a random table.

Another game comes under them by its line in GAMES and one in PECULIAR.
"""

import copy
import itertools
import re
from collections import Counter
from random import Random

import pytest

from croupier.games.actions import PLAYS, Play, action_from_json
from croupier.games.cards import Card
from croupier.games.catalogue import GAMES
from croupier.games.facts import SPECTATOR, CardsMoved, RoundStarted
from croupier.games.interface import (
    NOTHING_LEGAL,
    CardsShuffled,
    Event,
    Game,
    ProposalAgreed,
    SeatActed,
    SeatsToAct,
    Seen,
    ShuffleNeeded,
    State,
)
from tests.games.comparison import Both, refusal_by_engine
from tests.games.fold import fold, heard
from tests.games.laws import STEPS, attempts, every_table, fits, steps, tables
from tests.games.walk import sample_options, viewers, walk

TRIES = 0.25
"""How likely something is tried between two events of a table that is compared with the judge's."""
TURN, HELD = 0.8, 0.5
"""How likely a seat tries it whose turn it is, and with a card of its own."""
PROPOSALS = 0.1
"""How likely it is a proposal, where a game has such things."""
MALFORMED: tuple[dict[str, object], ...] = (
    {},
    {"type": "fly"},
    {"type": "play"},
    {"type": "play", "card": "1H"},
    {"type": "play", "card": None},
    {"type": "play", "card": "5H", "seat": 0},
    {"type": "bid"},
    {"type": "bid", "amount": True},
    {"type": "bid", "amount": 1.0},
    {"type": "bid", "amount": "1"},
    {"type": "bid", "amount": 1, "bid": "froke"},
    {"type": "pass", "amount": 0},
    {"type": "swap"},
    {"type": "keep", "trump": "X", "cards": []},
    {"type": "call"},
    {"type": "name_trump", "trump": "H"},
)


def refused(state: State, event: Event) -> bool:
    """Whether an event is refused, and then with the id of a rule and a reason."""
    rule = refusal_by_engine(state, event)
    assert re.fullmatch(r"[A-Z0-9]+-[A-Z0-9-]+|", rule)
    return bool(rule)


@every_table
def test_what_is_legal_is_accepted_and_all_else_refused_without_a_change(game: Game, seats: int, seed: int) -> None:
    for (before, *_), random in steps(game, seats, seed):
        awaiting = before.awaiting
        acting = awaiting.seats if isinstance(awaiting, SeatsToAct) else ()
        views = [before.view(viewer) for viewer in viewers(seats)]
        for seat in acting:
            legal = before.legal_actions(seat)
            assert legal.actions or legal.choices
            assert len(set(legal.actions)) == len(legal.actions)
            played = [action.card for action in legal.actions if isinstance(action, Play)]
            assert played == sorted(played)
            for action in attempts(legal, random):
                assert refused(before, SeatActed(seat, action)) != fits(legal, action), (seat, action)
        for seat in {-1, seats, *range(seats)} - set(acting):
            assert before.legal_actions(seat) == NOTHING_LEGAL
            for action in random.sample(attempts(NOTHING_LEGAL, random), 12):
                assert refused(before, SeatActed(seat, action)), (seat, action)
        assert [before.view(viewer) for viewer in viewers(seats)] == views


@every_table
def test_wrong_shuffles_are_refused(game: Game, seats: int, seed: int) -> None:
    for (before, event, *_), _ in steps(game, seats, seed):
        if not isinstance(event, CardsShuffled):
            assert refused(before, CardsShuffled(tuple(range(52))))
            continue
        due, (cards, drawn) = before.awaiting, event
        assert isinstance(due, ShuffleNeeded)
        wrong = [CardsShuffled(cards[1:], drawn), CardsShuffled((*cards, cards[0]), drawn)]
        wrong += [CardsShuffled(cards, (*drawn, 0)), CardsShuffled((53, *cards[1:]), drawn)]
        wrong += [
            CardsShuffled(cards, (*drawn[:-1], beyond)) for bound in due.draw_bounds[-1:] for beyond in (bound, -1)
        ]
        if len(set(cards[:2])) == 2:
            wrong.append(CardsShuffled((cards[1], *cards[1:]), drawn))
        assert [shuffled for shuffled in wrong if not refused(before, shuffled)] == []


@every_table
def test_the_fold_of_what_a_viewer_got_is_his_view(game: Game, seats: int, seed: int) -> None:
    for table in tables(game, seats, seed):
        folded = {viewer: table.state.view(viewer) for viewer in viewers(seats)}
        for step in table.walk():
            for viewer, view in folded.items():
                folded[viewer] = fold(view, heard(step.facts, viewer), viewer)
                assert folded[viewer] == step.after.view(viewer), (viewer, step.event, step.facts)


@every_table
def test_no_card_is_lost_or_found(game: Game, seats: int, seed: int) -> None:
    on_the_table, deck = 0, Counter[Card]()
    for step, _ in steps(game, seats, seed, most=STEPS * 4):
        for fact in heard(step.facts, SPECTATOR):
            if isinstance(fact, RoundStarted):
                on_the_table = 0
                if isinstance(step.event, CardsShuffled):
                    deck = Counter(step.event.cards)
            if isinstance(fact, CardsMoved):
                on_the_table += fact.card_count * ((fact.source is None) - (fact.target is None))
                deck.update(fact.cards if fact.source is None and fact.target == "removed" else ())
        view = step.after.view(SPECTATOR)
        assert sum(seat.card_count for seat in view.seats) + sum(pile.card_count for pile in view.piles) == on_the_table
        assert not all_seen(step.after, seats) - deck


def all_seen(state: State, seats: int) -> Counter[Card]:
    """Every card that anybody sees, as often as it is there."""
    seen = Counter(laid.card for pile in state.view(SPECTATOR).piles for laid in pile.cards)
    for seat in range(seats):
        seen.update(state.view(seat).seats[seat].cards)
    return seen


@every_table
def test_what_a_seat_imagines_looks_like_what_it_sees(game: Game, seats: int, seed: int) -> None:
    for table in tables(game, seats, seed):
        for before, event, *_ in itertools.islice(table.walk(), STEPS):
            if not isinstance(event, SeatActed):
                continue
            seen = Seen(event.seat, table.options, before.view(event.seat), before.legal_actions(event.seat))
            imagined = game.imagine(seen, table.random.randrange)
            assert imagined.view(event.seat) == seen.view
            assert imagined.legal_actions(event.seat) == seen.legal
            after, _ = imagined.apply(event)
            ratings = game.rate(imagined, after)
            assert len(ratings) == seats
            assert all(0 <= rating <= 1 for rating in ratings)


@every_table
def test_a_replay_gives_the_same_table_which_is_the_judges_with_its_refusals(game: Game, seats: int, seed: int) -> None:
    for table in tables(game, seats, seed):
        both = Both.new(game, seats, table.options)
        both.compare()
        for _, event, after, facts in table.walk():
            if table.random.random() < TRIES:
                try_something(both, game, table.random)
            both, told = both.apply(event)
            assert (both.state, told) == (after, facts)
        for _ in range(10):
            try_something(both, game, table.random)
        assert sorted(seat for group in both.table.ranking or () for seat in group) == list(range(seats))


def try_something(both: Both, game: Game, random: Random) -> None:
    """Both refuse an action or a proposal by the same rule, or both accept it and are the same after it."""
    state, seats = both.state, range(len(both.state.scores))
    awaiting = state.awaiting
    acting = awaiting.seats if isinstance(awaiting, SeatsToAct) else seats
    seat = random.choice(acting if random.random() < TURN else seats)
    held = [PLAYS[card] for card in state.view(seat).seats[seat].cards]
    tried = attempts(state.legal_actions(random.choice(acting)), random)
    event: Event = SeatActed(seat, random.choice(held if held and random.random() < HELD else tried))
    if game.proposals and random.random() < PROPOSALS:
        event = ProposalAgreed(random.choice(list(game.proposals)))
    rule = refusal_by_engine(both.state, event)
    assert both.refusal(event) in (rule, None), (event, rule)
    if not rule:
        both._replace(table=copy.deepcopy(both.table)).apply(event)


@pytest.mark.parametrize("action", MALFORMED, ids=str)
def test_what_is_no_action_at_all_is_refused(action: dict[str, object], seed: int) -> None:
    with pytest.raises(ValueError, match="is not"):
        action_from_json(action)
    for game in GAMES.values():
        random = Random(seed)
        both = Both.new(game, game.seats[0], sample_options(game, game.seats[0], random))
        for _, event, *_ in itertools.islice(walk(game, both.state, random), 20):
            assert both.refusal_of_action(random.randrange(game.seats[0]), action)
            both, _ = both.apply(event)
