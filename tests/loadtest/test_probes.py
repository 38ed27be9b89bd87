"""Every probe is really illegal by the rules, and its refusal is judged by code, reason and rule."""

from random import Random

import grpc
import pytest

from croupier.engine.codec import decode_action
from croupier.games.interface import IllegalAction, SeatActed
from croupier_client import CroupierError
from loadtest.court import Court, Invariant
from loadtest.probes import (
    Probe,
    card_not_in_hand,
    illegal_card,
    judge,
    out_of_turn,
    play,
    probe_on_turn,
    reused_request_id,
    stale_sequence,
)
from tests.loadtest.recording import Listener, Recording, recorded_game

GAME = recorded_game()
RULE = CroupierError(grpc.StatusCode.FAILED_PRECONDITION, "no", reason="ILLEGAL_ACTION", rule="THU-PLAY-3")
PROBE = Probe("probe", play(1), 5, grpc.StatusCode.FAILED_PRECONDITION, "ILLEGAL_ACTION", by_rule=True)


def listener_at(game: Recording, sequence: int, seat: int) -> Listener:
    return Listener(Court(1)).hear(*game.messages(seat)[:sequence])


def refusal_of(probe: Probe, seat: int, sequence: int) -> IllegalAction | None:
    """What the rules say to a probe."""
    try:
        GAME.steps[sequence - 1].after.game.apply(SeatActed(seat, decode_action(probe.action)))
    except IllegalAction as refusal:
        return refusal
    return None


@pytest.mark.parametrize("sequence", range(2, 50, 3))
def test_what_must_be_refused_is_against_the_rules(sequence: int) -> None:
    random, to_act = Random(sequence), GAME.steps[sequence - 1].after.seats_to_act[0]
    table = listener_at(GAME, sequence, to_act).table
    for probe in filter(None, (card_not_in_hand(table, random), illegal_card(table, random))):
        assert probe.expected_sequence == sequence
        assert refusal_of(probe, to_act, sequence) is not None
    waiting = (to_act + 1) % 4
    assert refusal_of(out_of_turn(listener_at(GAME, sequence, waiting).table, random), waiting, sequence) is not None
    stale = stale_sequence(table, random)
    assert (refusal_of(stale, to_act, sequence), stale.expected_sequence) == (None, sequence - 1)


def test_every_kind_of_probe_comes_up() -> None:
    sequence, seat = next(
        (made.entry.sequence, seat)
        for made in GAME.steps
        for seat in made.after.seats_to_act
        if illegal_card(listener_at(GAME, made.entry.sequence, seat).table, Random(1)) is not None
    )
    table = listener_at(GAME, sequence, seat).table
    random = Random(1)
    names = {probe_on_turn(table, random).name for _ in range(200)}
    assert names == {"illegal_card", "card_not_in_hand", "stale_sequence", "wrong_verb", "impossible_card"}


@pytest.mark.parametrize("card", [1, 2])
def test_a_reused_name_is_for_another_action(card: int) -> None:
    assert reused_request_id(play(card)).action != play(card)


@pytest.mark.parametrize(
    ("error", "wrong"),
    [
        (RULE, None),
        (CroupierError(RULE.code, "no", reason="ILLEGAL_ACTION"), Invariant.REFUSAL_WITHOUT_RULE),
        (CroupierError(RULE.code, "no", reason="NOT_YOUR_TURN", rule="THU-PLAY-1"), Invariant.WRONG_REFUSAL),
        (CroupierError(grpc.StatusCode.ABORTED, "no", reason="ILLEGAL_ACTION", rule="X-1"), Invariant.WRONG_REFUSAL),
    ],
)
def test_a_refusal_is_judged_by_code_reason_and_rule(error: CroupierError, wrong: Invariant | None) -> None:
    assert judge(PROBE, error) is wrong
