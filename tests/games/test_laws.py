"""Laws that hold for every game, with any options, at every number of seats, at each step of a random table.

A new game is covered by its lines in OWN_GAMES and TRAITS. Recorded tables replay fact by fact in every later version.
"""

import itertools
import json
import re
from collections import Counter
from functools import partial
from pathlib import Path
from random import Random

import pytest

from croupier.engine.api.fact_codec import encode_view
from croupier.games.actions import PLAYS, Bid, Declare, Draw, Lay, Play, SwapCards, decode_action
from croupier.games.cards import NOTATION, Card, card_names
from croupier.games.facts import (
    ALL_SEATS,
    SPECTATOR,
    CardsMoved,
    ContractChanged,
    HandRevealed,
    OwnedPile,
    RoundStarted,
    SeatOut,
)
from croupier.games.interface import (
    NOTHING_LEGAL,
    CardsShuffled,
    Event,
    Game,
    Observation,
    ProposalAgreed,
    SeatActed,
    SeatsToAct,
    State,
    completed_options,
)
from croupier.games.registry import OWN_GAMES
from tests.games import dispatch
from tests.games.comparison import ComparedTable, refusal_by_engine
from tests.games.fold import facts_for, fold, known_view
from tests.games.laws import (
    MAX_TRANSITIONS,
    attempted_actions,
    every_judged_table,
    every_table,
    fits,
    tables,
    transitions,
)
from tests.games.record import FOLDER, decode_event, facts_hash, facts_text, result
from tests.games.toy import TOY
from tests.games.walk import sample_options, some_viewers, walk

ATTEMPTS = 25
"""The number of actions that a seat to act attempts between two events, besides the legal ones and its own cards."""
TRIES = 0.15
"""The probability of an attempt between two events of a table that is compared with the judge's."""
TURN, HELD = 0.8, 0.5
"""The probability that the attempt is by the seat to act, and with a card of its own."""
PROPOSALS = 0.1
"""The probability that it is a proposal, in games with proposals."""
MAX_FOLDED = 1000
"""The number of a table's transitions whose facts are folded, as messages."""
MALFORMED: tuple[dict[str, object], ...] = (
    {},
    {"type": "fly"},
    {"type": "play"},
    {"type": "play", "card": "1H"},
    {"type": "play", "card": None},
    {"type": "play", "card": "5H", "seat": 0},
    {"type": "bid", "amount": True},
    {"type": "bid", "amount": 1, "bid": "froke"},
    {"type": "pass", "amount": 0},
    {"type": "keep", "trump": "X", "cards": []},
    {"type": "name_trump", "trump": "H"},
    {"type": "draw", "pile": 1},
    {"type": "lay", "cards": ["5H"], "owner": -1},
    {"type": "declare", "word": "last_card", "amount": "1"},
)


def refused(state: State, event: Event) -> bool:
    """Return whether an event is refused; raises AssertionError for a refusal without rule id or reason."""
    rule = refusal_by_engine(state, event)
    assert re.fullmatch(r"[A-Z0-9]+-[A-Z0-9-]+|", rule)
    return bool(rule)


@every_table
def test_legal_actions_are_accepted_and_all_others_refused_without_a_change(game: Game, seats: int, seed: int) -> None:
    for (before, *_), random in transitions(game, seats, seed):
        awaiting = dispatch.awaiting(before)
        acting = awaiting.seats if isinstance(awaiting, SeatsToAct) else ()
        views = {viewer: dispatch.view(before, viewer) for viewer in some_viewers(seats, random)}
        for seat in acting:
            legal = dispatch.legal_actions(before, seat)
            assert legal.actions or legal.choices
            assert len(set(legal.actions)) == len(legal.actions)
            played = [action.card for action in legal.actions if isinstance(action, Play)]
            assert played == sorted(played)
            attempted = attempted_actions(legal, random)
            held = [PLAYS[card] for card in dispatch.view(before, seat).seats[seat].cards if card < len(PLAYS)]
            for action in (*legal.actions, *held, *random.sample(attempted, ATTEMPTS)):
                assert refused(before, SeatActed(seat, action)) != fits(legal, action), (seat, action)
        attempted = attempted_actions(NOTHING_LEGAL, random)
        for seat in {-1, seats, *range(seats)} - set(acting):
            assert dispatch.legal_actions(before, seat) == NOTHING_LEGAL
            for action in random.sample(attempted, 6):
                assert refused(before, SeatActed(seat, action)), (seat, action)
        assert {viewer: dispatch.view(before, viewer) for viewer in views} == views


@every_table
def test_teams_have_each_seat_once_and_decks_each_card(game: Game, seats: int) -> None:
    teams = game.teams(seats)
    assert sorted(seat for team in teams for seat in team) == (list(range(seats)) if teams else [])
    assert all(team == tuple(sorted(team)) for team in teams)
    assert len(card_names(game.deck).texts) == len(NOTATION) + len(game.deck)


@every_table
def test_the_fold_of_a_viewers_facts_is_their_view(game: Game, seats: int, seed: int) -> None:
    for table in tables(game, seats, seed):
        chosen = (*some_viewers(seats, table.random), ALL_SEATS)
        folded = {
            viewer: encode_view(known_view(partial(dispatch.view, table.state), seats, viewer)) for viewer in chosen
        }
        for step in itertools.islice(table.walk(), MAX_FOLDED):
            for viewer, view in folded.items():
                folded[viewer] = fold(view, step.facts, viewer)
                known = known_view(partial(dispatch.view, step.after), seats, viewer)
                assert folded[viewer] == encode_view(known), (viewer, step.event)


@every_table
def test_no_card_is_lost_or_found(game: Game, seats: int, seed: int) -> None:
    on_the_table, deck = 0, Counter[Card]()
    for step, _ in transitions(game, seats, seed, most=MAX_TRANSITIONS * 2):
        for fact in facts_for(step.facts, SPECTATOR):
            if isinstance(fact, RoundStarted):
                on_the_table = 0
                if isinstance(step.event, CardsShuffled):
                    deck = Counter(step.event.cards)
            if isinstance(fact, CardsMoved):
                on_the_table += fact.card_count * ((fact.source is None) - (fact.target is None))
                deck.update(fact.cards if fact.source is None and fact.target == "removed" else ())
        view = dispatch.view(step.after, SPECTATOR)
        assert sum(seat.card_count for seat in view.seats) + sum(pile.card_count for pile in view.piles) == on_the_table
        assert not all_seen(step.after, seats) - deck


def all_seen(state: State, seats: int) -> Counter[Card]:
    """Return every visible card, with its number."""
    seen_cards = Counter(pile_card.card for pile in dispatch.view(state, SPECTATOR).piles for pile_card in pile.cards)
    for seat in range(seats):
        seen_cards.update(dispatch.view(state, seat).seats[seat].cards)
    return seen_cards


@every_table
def test_a_determinization_has_the_view_of_its_seat(game: Game, seats: int, seed: int) -> None:
    for table in tables(game, seats, seed):
        for before, event, *_ in itertools.islice(table.walk(), MAX_TRANSITIONS // 2):
            if not isinstance(event, SeatActed):
                continue
            observation = Observation(
                event.seat, table.options, dispatch.view(before, event.seat), dispatch.legal_actions(before, event.seat)
            )
            determinized = game.determinize(observation, table.random.randrange)
            assert dispatch.view(determinized, event.seat) == observation.view
            assert dispatch.legal_actions(determinized, event.seat) == observation.legal
            after, _ = dispatch.apply(determinized, event)
            values = game.evaluate(determinized, after)
            assert len(values) == seats
            assert all(0 <= value <= 1 for value in values)


@every_judged_table
def test_a_replay_yields_the_same_table_and_equals_the_judges_with_its_refusals(
    game: Game, seats: int, seed: int
) -> None:
    for table in tables(game, seats, seed):
        compared = ComparedTable.new(game, seats, table.options)
        compared.compare()
        for _, event, after, facts in table.walk():
            if table.random.random() < TRIES:
                compare_attempt(compared, game, table.random)
            compared, compared_facts = compared.apply(event, some_viewers(seats, table.random))
            assert (compared.state, compared_facts) == (after, facts)
        for _ in range(10):
            compare_attempt(compared, game, table.random)
        assert sorted(seat for group in compared.table.ranking or () for seat in group) == list(range(seats))


def compare_attempt(compared: ComparedTable, game: Game, random: Random) -> None:
    """Assert that both refuse a random action or proposal by the same rule, or accept it and are the same after it."""
    state, seats = compared.state, range(len(dispatch.scores(compared.state)))
    awaiting = dispatch.awaiting(state)
    acting = awaiting.seats if isinstance(awaiting, SeatsToAct) else seats
    seat = random.choice(acting if random.random() < TURN else seats)
    held = [PLAYS[card] for card in dispatch.view(state, seat).seats[seat].cards]
    tried = attempted_actions(dispatch.legal_actions(state, random.choice(acting)), random)
    event: Event = SeatActed(seat, random.choice(held if held and random.random() < HELD else tried))
    if game.proposals and random.random() < PROPOSALS:
        event = ProposalAgreed(random.choice(list(game.proposals)))
    rule = refusal_by_engine(compared.state, event)
    assert compared.refusal(event) in (rule, None), (event, rule)
    if not rule:
        compared.copied().apply(event)


@pytest.mark.parametrize("action", MALFORMED, ids=str)
def test_invalid_actions_are_refused(action: dict[str, object], seed: int) -> None:
    with pytest.raises(ValueError, match="invalid"):
        decode_action(action)
    for game in OWN_GAMES.values():
        random = Random(seed)
        compared = ComparedTable.new(game, game.seats[0], sample_options(game, game.seats[0], random))
        for _, event, *_ in itertools.islice(walk(game, compared.state, random), 10):
            assert compared.refusal_of_action(random.randrange(game.seats[0]), action)
            compared, _ = compared.apply(event)


def test_random_walks_of_the_toy_reach_all_features_that_only_it_uses() -> None:
    transitions = [step for seed in range(60) for step in walk(TOY, TOY.new(4, {}), Random(seed))]
    actions = [(step.event.seat, step.event.action) for step in transitions if isinstance(step.event, SeatActed)]
    assert {action.bid for _, action in actions if isinstance(action, Bid)} == {10, 20, 30}
    assert {action.pile for _, action in actions if isinstance(action, Draw)} == {"stock", "waste"}
    assert {action.pile for _, action in actions if isinstance(action, Lay)} == {"", "melds"}
    assert any(isinstance(action, Lay) and action.owner not in (None, seat) for seat, action in actions)
    boasts = [action for _, action in actions if isinstance(action, Declare)]
    assert any(isinstance(action, SwapCards) for _, action in actions)
    assert {action.amount for action in boasts} == {1, 2, 3}
    assert {action.seat for action in boasts} == {0, 1, 2, 3}
    facts = [fact for step in transitions for fact in step.facts]
    assert any(isinstance(fact, SeatOut) and fact.place is None for fact in facts)
    assert any(isinstance(fact, ContractChanged) and fact.changes.trump == -1 for fact in facts)
    taken_up = [fact.cards for fact in facts if isinstance(fact, CardsMoved) and isinstance(fact.source, OwnedPile)]
    assert {len(cards) for cards in taken_up} == {0, 1}
    assert any(isinstance(fact, HandRevealed) for fact in facts)
    views = [dispatch.view(step.after, SPECTATOR).seats for step in transitions]
    assert any(seat.cards for seats in views for seat in seats)
    assert any(seat.known_cards for seats in views for seat in seats)
    piles = {
        (pile.name, pile.owner, pile.face_down)
        for step in transitions
        for pile in dispatch.view(step.after, SPECTATOR).piles
    }
    owned = {(name, owner, name == "reserve") for name in ("melds", "reserve") for owner in range(4)}
    assert piles == {("stock", None, True), ("waste", None, False)} | owned


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*/*.jsonl")), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_playthrough_replays_fact_by_fact(path: Path) -> None:
    header, *events, last = [json.loads(line) for line in path.read_text().splitlines()]
    game = OWN_GAMES[header["game"]]
    assert game.rules_version == header["rules_version"]
    # A table that was opened before an option existed keeps its rules.
    state = game.new(header["seats"], completed_options(game, header["seats"], header["options"]))
    for number, line in enumerate(events, start=2):
        state, facts = dispatch.apply(state, decode_event(line))
        assert facts_hash(facts) == line["facts"], f"{path.name}:{number} now gives\n{facts_text(facts)}"
    assert result(state) == last
