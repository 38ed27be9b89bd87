"""The referee finds nothing in a true game, and every invariant's breach in a game that was tampered with."""

from collections.abc import Callable, Iterable

import grpc
import pytest

from croupier.games.catalogue import GAMES
from croupier_api.v1 import cards_pb2, engine_pb2, table_pb2
from croupier_client import CroupierError, card_text
from croupier_client.cards import CardValue
from loadtest.court import Court, Invariant
from tests.loadtest.recording import SEATS, TABLE, Listener, Recording, recorded_game

Messages = list[engine_pb2.PlayResponse]
SEAT = 1
MIDDLE = 30


@pytest.fixture
def game() -> Recording:
    return recorded_game()


def breaches(court: Court) -> set[Invariant]:
    return set(court.counts)


def heard(messages: Iterable[engine_pb2.PlayResponse]) -> Listener:
    return Listener(Court(8)).hear(*messages)


def hidden_card(game: Recording, sequence: int) -> CardValue:
    """A card that another seat holds since the deal, and that has not been seen."""
    own = set(game.snapshot(SEAT, 1).view.seats[SEAT].cards)
    shown = {card for message in game.messages(SEAT)[:sequence] for card in moved_cards(message.update)}
    return next(card for card in cards_pb2.Card.values()[1:53] if card not in own | shown)


def moved_cards(update: engine_pb2.TableUpdate) -> list[CardValue]:
    return [card for fact in update.facts for card in fact.cards_moved.cards]


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("seed", range(1, 6))
def test_nothing_is_found_in_a_true_game(seed: int, name: str) -> None:
    game, court = recorded_game(seed, name), Court(8)
    for seat in SEATS:
        listener = Listener(court)
        for message in game.messages(seat):
            listener.hear(message)
            assert listener.referee.compared(game.snapshot(seat, listener.table.sequence))
        for sequence, action in game.actions(seat):
            listener.referee.accepted(action, sequence)
        proof = listener.referee.check_replay(game.replay)
        assert proof is not None
        listener.referee.check_sheet(game.sheet, proof)
    assert not court.counts, court.first


def leave_out(messages: Messages, _: Recording) -> None:
    del messages[MIDDLE]


def say_twice(messages: Messages, _: Recording) -> None:
    messages.insert(MIDDLE, messages[MIDDLE])


def begin_anew_before(messages: Messages, game: Recording) -> None:
    messages.insert(MIDDLE, engine_pb2.PlayResponse(snapshot=game.snapshot(SEAT, 5)))


def heartbeat_ahead(messages: Messages, _: Recording) -> None:
    messages.insert(MIDDLE, engine_pb2.PlayResponse(heartbeat=engine_pb2.Heartbeat(sequence=MIDDLE + 9)))


def tell_a_deal(messages: Messages, game: Recording) -> None:
    moved = table_pb2.CardsMoved(target=table_pb2.Place(hand=SEAT + 1), cards=[hidden_card(game, MIDDLE)], count=1)
    messages[MIDDLE].update.facts.add(cards_moved=moved)


def tell_the_stock(messages: Messages, game: Recording) -> None:
    moved = table_pb2.CardsMoved(target=table_pb2.Place(pile="stock"), cards=[hidden_card(game, MIDDLE)], count=1)
    messages[MIDDLE].update.facts.add(cards_moved=moved)


def open_a_hand(messages: Messages, game: Recording) -> None:
    messages[MIDDLE].update.facts.add(hand_revealed={"seat": SEAT + 1, "cards": [hidden_card(game, MIDDLE)]})


def offer_a_foreign_card(messages: Messages, game: Recording) -> None:
    messages[MIDDLE].legal_actions.actions.add(play={"card": hidden_card(game, MIDDLE)})


def show_a_hand_in_a_snapshot(messages: Messages, game: Recording) -> None:
    messages[0].snapshot.view.seats[SEAT + 1].cards.append(hidden_card(game, 1))


def write_a_card_down(messages: Messages, game: Recording) -> None:
    text = card_text(hidden_card(game, MIDDLE))
    messages[MIDDLE].update.facts.add(marked={"mark": {"name": "hint", "value": f"seat 2 holds {text}"}})


def show_the_seed(messages: Messages, game: Recording) -> None:
    messages[MIDDLE].update.revealed_seed = game.config.seed.hex()


def show_the_seed_in_a_snapshot(messages: Messages, game: Recording) -> None:
    messages[0].snapshot.revealed_seed = game.config.seed.hex()


@pytest.mark.parametrize(
    ("tamper", "breach"),
    [
        (leave_out, Invariant.SEQUENCE_GAP),
        (heartbeat_ahead, Invariant.SEQUENCE_GAP),
        (say_twice, Invariant.SEQUENCE_REPEAT),
        (begin_anew_before, Invariant.SEQUENCE_REPEAT),
        (tell_a_deal, Invariant.HIDDEN_CARD_SEEN),
        (tell_the_stock, Invariant.HIDDEN_CARD_SEEN),
        (open_a_hand, Invariant.HIDDEN_CARD_SEEN),
        (offer_a_foreign_card, Invariant.HIDDEN_CARD_SEEN),
        (show_a_hand_in_a_snapshot, Invariant.HIDDEN_CARD_SEEN),
        (write_a_card_down, Invariant.HIDDEN_CARD_SEEN),
        (show_the_seed, Invariant.SEED_SHOWN_EARLY),
        (show_the_seed_in_a_snapshot, Invariant.SEED_SHOWN_EARLY),
    ],
)
def test_a_stream_that_breaks_its_word_is_found(
    game: Recording, tamper: Callable[[Messages, Recording], None], breach: Invariant
) -> None:
    messages = game.messages(SEAT)
    tamper(messages, game)
    assert breach in breaches(heard(messages).court)


def test_the_first_breach_of_each_kind_is_kept_with_its_place(game: Recording) -> None:
    messages = game.messages(SEAT)
    del messages[MIDDLE], messages[MIDDLE + 5]
    court = heard(messages).court
    first = court.first[Invariant.SEQUENCE_GAP]
    assert (first.table_id, first.sequence) == (TABLE, MIDDLE + 2)
    assert court.counts[Invariant.SEQUENCE_GAP] == 2


def test_players_who_are_told_different_public_facts_are_found(game: Recording) -> None:
    court = Court(8)
    Listener(court).hear(*game.messages(0))
    messages = game.messages(SEAT)
    turns = [fact.turn_changed for fact in messages[MIDDLE].update.facts if fact.HasField("turn_changed")]
    turns[0].seats_to_act[:] = [(turns[0].seats_to_act[0] + 1) % len(SEATS)]
    Listener(court).hear(*messages)
    assert breaches(court) == {Invariant.PUBLIC_FACTS_DIFFER}
    assert court.first[Invariant.PUBLIC_FACTS_DIFFER].sequence == MIDDLE + 1


@pytest.mark.parametrize("part", ["view", "legal_actions", "clock", "revealed_seed"])
def test_a_view_that_differs_from_the_stream_is_found(game: Recording, part: str) -> None:
    sequence = next(game.actions(SEAT))[0] - 1
    listener, snapshot = heard(game.messages(SEAT)[:sequence]), game.snapshot(SEAT, sequence)
    snapshot.ClearField(part)  # type: ignore[arg-type]
    if part == "revealed_seed":
        snapshot.revealed_seed = "00"
    assert listener.referee.compared(snapshot)
    assert breaches(listener.court) == {Invariant.VIEW_DIFFERS}


def test_a_card_that_a_view_shows_before_it_is_played_is_found_although_it_was_played_since(game: Recording) -> None:
    messages = game.messages(SEAT)
    sequence, action = next(game.actions(SEAT + 1))
    listener, snapshot = heard(messages[:sequence]), game.snapshot(SEAT, sequence - 1)
    snapshot.view.seats[SEAT + 1].cards.append(action.play.card)
    listener.referee.compared(snapshot)
    assert Invariant.HIDDEN_CARD_SEEN in breaches(listener.court)


def test_a_view_of_a_sequence_that_was_not_seen_is_not_compared(game: Recording) -> None:
    listener = heard(game.messages(SEAT)[:MIDDLE])
    assert not listener.referee.compared(game.snapshot(SEAT, MIDDLE + 1))
    assert not listener.court.counts


@pytest.mark.parametrize("fault", ["never came", "another seat", "another card"])
def test_an_acknowledged_action_that_is_not_in_the_stream_is_found(game: Recording, fault: str) -> None:
    listener = heard(game.messages(SEAT)[:MIDDLE])
    sequence, action = next(game.actions(SEAT))
    if fault == "never came":
        sequence = MIDDLE + 1
    elif fault == "another seat":
        sequence = next(game.actions(SEAT + 1))[0]
    else:
        action = table_pb2.Action(play=table_pb2.PlayAction(card=cards_pb2.CARD_JK))
    listener.referee.accepted(action, sequence)
    assert breaches(listener.court) == {Invariant.ACKNOWLEDGED_LOST}


def test_a_repeated_request_with_another_answer_is_found(game: Recording) -> None:
    listener = heard(game.messages(SEAT)[:MIDDLE])
    listener.referee.repeated(7, 7)
    assert not listener.court.counts
    listener.referee.repeated(7, 8)
    assert breaches(listener.court) == {Invariant.REPEAT_DIFFERS}


@pytest.mark.parametrize(
    "error",
    [
        CroupierError(grpc.StatusCode.FAILED_PRECONDITION, "a sentence", reason=""),
        CroupierError(grpc.StatusCode.FAILED_PRECONDITION, " ", reason="ILLEGAL_ACTION"),
        CroupierError(grpc.StatusCode.UNKNOWN, "a sentence", reason="ILLEGAL_ACTION"),
    ],
)
def test_a_refusal_without_code_reason_or_message_is_found(game: Recording, error: CroupierError) -> None:
    listener = heard(game.messages(SEAT)[:MIDDLE])
    listener.referee.refused(CroupierError(grpc.StatusCode.ABORTED, "look again", reason="STALE_SEQUENCE"))
    assert not listener.court.counts
    listener.referee.refused(error)
    assert breaches(listener.court) == {Invariant.REFUSAL_WITHOUT_REASON}


def test_a_refusal_that_tells_of_a_hidden_card_is_found(game: Recording) -> None:
    listener = heard(game.messages(SEAT)[:MIDDLE])
    text = card_text(hidden_card(game, MIDDLE))
    error = CroupierError(grpc.StatusCode.FAILED_PRECONDITION, f"seat 2 holds {text}", reason="ILLEGAL_ACTION")
    listener.referee.refused(error)
    assert breaches(listener.court) == {Invariant.HIDDEN_CARD_SEEN}
