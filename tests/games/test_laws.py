"""The laws of the conformance kit hold for every game at random tables, and recorded tables replay fact by fact."""

import itertools
import json
from pathlib import Path
from random import Random

import pytest

from croupier.conformance.check import TABLE_LAWS
from croupier.conformance.comparison import ComparedTable
from croupier.conformance.coverage import covered
from croupier.conformance.description_laws import DESCRIPTION_LAWS
from croupier.conformance.judged_laws import judged_laws
from croupier.conformance.law import Law
from croupier.conformance.tables import SampledTable, sample_options, tables
from croupier.conformance.walks import walk
from croupier.games.actions import Bid, Declare, Draw, Lay, SwapCards, decode_action
from croupier.games.facts import SPECTATOR, CardsMoved, ContractChanged, HandRevealed, OwnedPile, SeatOut
from croupier.games.interface import Game, SeatActed, completed_options
from croupier.games.registry import OWN_GAMES
from croupier_loadtest.judge.rules.registry import OWN_JUDGES
from tests.games import dispatch
from tests.games.laws import TABLES, every_game, every_judged_table, every_table
from tests.games.record import FOLDER, decode_event, facts_hash, facts_text, result
from tests.games.toy import TOY

KNOWN_SEED = 1
"""The seed of the tables that cover each game: with another one a rare refusal may be missed."""
JUDGED_LAWS = tuple(law.name for law in judged_laws(OWN_JUDGES["thulla"]))
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


def check_tables(law: Law[SampledTable], game: Game, seats: int, seed: int) -> None:
    """Check a law at random tables, which are printed: the last line is the table that failed."""
    for table in tables(game, seats, seed, TABLES):
        print(f"{game.id}: {table}")
        law.check(table)


@pytest.mark.parametrize("law", DESCRIPTION_LAWS, ids=lambda law: law.name)
@every_game
def test_a_law_of_descriptions_holds(game: Game, law: Law[Game]) -> None:
    law.check(game)


@pytest.mark.parametrize("law", TABLE_LAWS, ids=lambda law: law.name)
@every_table
def test_a_law_holds(game: Game, seats: int, law: Law[SampledTable], seed: int) -> None:
    check_tables(law, game, seats, seed)


@pytest.mark.parametrize("name", JUDGED_LAWS)
@every_judged_table
def test_the_judge_agrees(game: Game, seats: int, name: str, seed: int) -> None:
    law = next(law for law in judged_laws(OWN_JUDGES[game.id]) if law.name == name)
    check_tables(law, game, seats, seed)


@every_game
def test_walks_reach_all_that_a_game_can_do(game: Game) -> None:
    assert covered(game, KNOWN_SEED).missing == ()


@pytest.mark.parametrize("action", MALFORMED, ids=str)
def test_invalid_actions_are_refused(action: dict[str, object], seed: int) -> None:
    with pytest.raises(ValueError, match="invalid"):
        decode_action(action)
    for game in OWN_GAMES.values():
        random = Random(seed)
        seats = game.seats[0]
        compared = ComparedTable.new(game, OWN_JUDGES[game.id], seats, sample_options(game, seats, random))
        for _, event, *_ in itertools.islice(walk(game, compared.state, random), 10):
            assert compared.refusal_of_action(random.randrange(seats), action)
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
