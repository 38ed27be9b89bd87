"""The computer players of Gin Rummy play legally to the end, and sensibly in plain positions."""

from random import Random

import pytest

from croupier.conformance.attempts import fits
from croupier.conformance.tables import observation
from croupier.conformance.walks import walk
from croupier.games.actions import Action
from croupier.games.facts import RoundEnded, View
from croupier.games.interface import Bot, Event, GameOver, Legal, Observation, SeatActed
from croupier.games.search import SearchBot
from croupier_gin_rummy.bots import sensible
from croupier_gin_rummy.melds import points_of
from croupier_gin_rummy.state import GinState
from gin_positions import HAND, OTHER, acts, defending, laying, position, word
from gin_table import GIN_RUMMY, new

GAMES = 30


def chosen(state: GinState, bot: Bot = sensible) -> str:
    """Return the action of a bot in the seat to act."""
    return word(decided(state, bot))


def decided(state: GinState, bot: Bot = sensible) -> Action:
    return bot(observation(GIN_RUMMY, state, state.turn, {}), Random(1).randrange)


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        pytest.param(position(phase="upcard", discards="5C"), "discard", id="takes an upcard that fits"),
        pytest.param(position(f"{OTHER} | {HAND}", "KC", phase="upcard"), "pass", id="passes one that does not"),
        pytest.param(position(f"{OTHER} | {HAND}", "KC"), "stock", id="draws from the stock then"),
        pytest.param(position(f"{HAND[:-2]}KH | {OTHER}", "AS"), "discard", id="takes what leaves less at a knock"),
        pytest.param(acts(position(f"{OTHER} | {HAND}", "AC"), "stock"), "TD", id="discards what costs most"),
        pytest.param(acts(position(stock="KD 2H 8C"), "stock"), "knock", id="knocks"),
        pytest.param(acts(position(stock="KD 2H 8C"), "stock knock"), "KD", id="keeps the least"),
        pytest.param(laying("4H 4D 4S 5S 6S 7S | KC"), "set:4D,4H,4S", id="lays what leaves the least"),
        pytest.param(laying("2C 3C 4C 5C 6C 7C | KC"), "run:2C,3C,4C,5C,6C,7C", id="lays long runs"),
        pytest.param(defending("AH | 8S 8C 8D 9S"), "set:8C,8D,8S", id="keeps a meld that is worth more"),
        pytest.param(defending("AH | 6S 7S", "7C 7D 7H / 8S 9S TS"), "off:7S/2", id="makes room on a run"),
        pytest.param(defending("AH | KD 8S"), "off:8S/1", id="lays off"),
        pytest.param(defending("AH | KD"), "done", id="is done"),
        pytest.param(defending("| 8S 8C 8D", knock="gin"), "set:8C,8D,8S", id="lays melds after gin"),
    ],
)
def test_sensible_decides_as_people_would(state: GinState, expected: str) -> None:
    assert chosen(state) == expected


def test_big_gin_is_declared() -> None:
    state = acts(position(f"2C 3C 4C 7D 7H 7S 9C TC JC QC | {OTHER}", "5C", big_gin=True), "discard")
    assert chosen(state) == "big_gin"


def test_a_bot_without_anything_to_decide_says_so() -> None:
    with pytest.raises(ValueError, match="nothing to decide"):
        sensible(Observation(0, {}, View(0, "", None, ()), Legal()), Random(1).randrange)


def test_sensible_beats_random_play() -> None:
    won = sum(_winner(number % 2, Random(number)) == number % 2 for number in range(GAMES))
    assert won >= GAMES * 0.9


def _winner(seat: int, random: Random) -> int:
    """Return the winner of a game in which one seat is played sensibly."""

    def change(state: GinState, event: Event) -> Event:
        is_sensible = isinstance(event, SeatActed) and event.seat == seat
        return SeatActed(seat, decided(state)) if is_sensible else event

    *_, last = walk(GIN_RUMMY, new(), random, change)
    over = GIN_RUMMY.awaiting(last.after)
    assert isinstance(over, GameOver)
    return over.ranking[0][0]


@pytest.mark.parametrize(
    "state",
    [
        pytest.param(position(f"{OTHER} | {HAND}", "KC", phase="upcard"), id="upcard"),
        pytest.param(acts(position(f"{OTHER} | {HAND}", "KC"), "stock"), id="discard"),
        pytest.param(acts(position(stock="KD 2H 8C 8D"), "stock"), id="knock"),
        pytest.param(laying(f"{HAND} | {OTHER}"), id="lay"),
        pytest.param(defending("AH | 6S 7S 8C 8D 8H", "7C 7D 7H / 8S 9S TS"), id="lay off"),
    ],
)
def test_search_decides_in_every_phase(state: GinState) -> None:
    search = SearchBot(GIN_RUMMY, max_iterations=30)
    assert fits(GIN_RUMMY.legal_actions(state, state.turn), decided(state, search))


def test_search_knocks_rather_than_to_risk_a_draw() -> None:
    state = acts(position(stock="KD 2H 8C"), "stock")
    assert chosen(state, SearchBot(GIN_RUMMY, max_iterations=60)) == "knock"


def test_evaluation_follows_points_and_in_a_hand_the_deadwood() -> None:
    start = position()
    assert GIN_RUMMY.evaluate(start, start)[0] > 0.5 > GIN_RUMMY.evaluate(start, start)[1]
    before = defending("3D | KC 7H")
    after, facts = GIN_RUMMY.apply(before, SeatActed(1, GIN_RUMMY.legal_actions(before, 1).actions[-1]))
    assert any(isinstance(fact, RoundEnded) for fact in facts)
    assert GIN_RUMMY.evaluate(before, after) == (0.5 + 14 / 120, 0.5 - 14 / 120)


def test_determinized_hands_have_the_cards_that_were_taken_openly() -> None:
    state = acts(position(stock="KD 2H 8C 8D 8H"), "discard AH stock")
    random = Random(1)
    observed = observation(GIN_RUMMY, state, 1, {})
    for _ in range(30):
        table = GIN_RUMMY.determinize(observed, random.randrange)
        assert table.hands[0] >> 16 & 1
        assert table.hands[1] == state.hands[1]
        assert points_of(table.hands[0]) + points_of(table.hands[1]) + sum(
            points_of(1 << card) for card in table.stock
        ) == points_of((1 << 52) - 1) - points_of(sum(1 << lying.card for lying in table.discards))
