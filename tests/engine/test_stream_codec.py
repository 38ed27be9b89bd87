"""The messages of streams: joined from parts, they equal the messages built whole."""

from itertools import islice
from random import Random

import pytest
from google.protobuf import text_format

from croupier.engine.api.action_codec import encode_legal
from croupier.engine.api.fact_codec import encode_fact, encode_facts_of_update, encode_view
from croupier.engine.api.stream_codec import StreamEncoder, encode_acceptance, encode_refusal, encode_snapshot
from croupier.engine.core.clock import Absence, Due
from croupier.engine.core.fold import Transition, advance, new_table
from croupier.engine.core.log import ActedBy, AwaySet, TableConfig
from croupier.engine.tables.subscription import encode_transition
from croupier.games.actions import Declare
from croupier.games.cards import OWN_CARDS
from croupier.games.facts import (
    NO_TRUMP,
    SPECTATOR,
    Call,
    Called,
    CardsMoved,
    Contract,
    ContractChanged,
    Fact,
    Mark,
    MarkChanged,
    MoveReason,
    OwnedPile,
    Pile,
    PileCard,
    Place,
    RoundEnded,
    RoundScore,
    RoundStarted,
    SeatOut,
    SeatView,
    View,
)
from croupier.games.values import (
    CardsValue,
    NumberValue,
    PointsValue,
    SeatsValue,
    SeatValue,
    SuitValue,
    Value,
    WordValue,
    phrase,
)
from croupier.runtime.errors import IllegalNow, to_status
from croupier_api.v1 import cards_pb2, engine_pb2, errors_pb2, facts_pb2
from tests.engine.fakes import START
from tests.engine.play import event_of, every_game, make_config, parsed, some_action, viewers, walk

NOW = 1_700_000_000_000
NUMBERS = (1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152, 2**42, 2**63 - 1)
"""Numbers around each size of their encoding."""
ENCODED: dict[str, tuple[Fact, str]] = {
    "a pile with an owner": (
        CardsMoved(1, OwnedPile("melds", 0), (63,), 1, MoveReason.LAY),
        """cards_moved {
            source { hand: 1 } target { pile: "melds" owner: 0 } cards: 64 count: 1 reason: MOVE_REASON_LAY
        }""",
    ),
    "the box and a pile that lies face down": (
        CardsMoved(None, "stock", (), 7, MoveReason.DEAL, face_down=True),
        """cards_moved {
            source { } target { pile: "stock" } count: 7 reason: MOVE_REASON_DEAL face_down: true
        }""",
    ),
    "a move that players have a word for": (
        CardsMoved(0, "trick", (0,), 1, MoveReason.PLAY, word="cut"),
        """cards_moved {
            source { hand: 0 } target { pile: "trick" } cards: 1 count: 1 reason: MOVE_REASON_PLAY word: "cut"
        }""",
    ),
    "a secret call": (Called(Call(2, None)), "called { call { seat: 2 } }"),
    "a call": (
        Called(Call(0, Declare("bet", amount=0))),
        'called { call { seat: 0 action { declare_word { word: "bet" amount: 0 } } } }',
    ),
    "no trump": (
        ContractChanged(Contract(amount=0, trump=NO_TRUMP)),
        "contract_changed { changes { amount: 0 trump: SUIT_UNSPECIFIED } }",
    ),
    "a seat that is out without a place": (SeatOut(1), "seat_out { seat: 1 }"),
    "a seat that is out": (SeatOut(1, 3), "seat_out { seat: 1 place: 3 }"),
    "a mark of the table": (
        MarkChanged(Mark("x", None, NumberValue(0))),
        'mark_changed { mark { name: "x" value { number: 0 } } }',
    ),
    "a mark of seat 0": (MarkChanged(Mark("x", 0, None)), 'mark_changed { mark { name: "x" seat: 0 } }'),
}


VALUES: dict[str, tuple[Value, str]] = {
    "zero": (NumberValue(0), "number: 0"),
    "a number below zero": (NumberValue(-30), "number: -30"),
    "a word": (WordValue("spared"), 'word: "spared"'),
    "seat 0": (SeatValue(0), "seat: 0"),
    "no seats": (SeatsValue(()), "seats { }"),
    "seats in an order": (SeatsValue((2, 0)), "seats { seats: [2, 0] }"),
    "no suit": (SuitValue(NO_TRUMP), "suit: SUIT_UNSPECIFIED"),
    "a suit": (SuitValue(2), "suit: SUIT_HEARTS"),
    "no cards": (CardsValue(()), "cards { }"),
    "cards in an order": (CardsValue((63, 0)), "cards { cards: [64, 1] }"),
    "points by seat": (PointsValue((0, -5)), "points { points: [0, -5] }"),
}


@pytest.mark.parametrize(("value", "text"), VALUES.values(), ids=VALUES)
def test_values_have_their_kind(value: Value, text: str) -> None:
    encoded = encode_fact(MarkChanged(Mark("x", None, value)))
    assert encoded == text_format.Parse(f'mark_changed {{ mark {{ name: "x" value {{ {text} }} }} }}', facts_pb2.Fact())


def test_a_round_has_phrases_and_details_in_their_order() -> None:
    score = RoundScore(
        3,
        (10, -5),
        (10, 0),
        notes=((), (phrase("bid", bid=NumberValue(2)), phrase("failed"))),
        headline=(phrase("trump", trump=SuitValue(2), by=SeatValue(1)),),
        details=(Mark("trump", None, SuitValue(2)), Mark("hand", 1, CardsValue((0,)))),
    )
    text = """round_ended { score {
        round: 3 points: [10, -5] totals: [10, 0]
        notes { }
        notes { phrases { word: "bid" parameters { name: "bid" value { number: 2 } } } phrases { word: "failed" } }
        headline { word: "trump"
            parameters { name: "trump" value { suit: SUIT_HEARTS } } parameters { name: "by" value { seat: 1 } } }
        details { name: "trump" value { suit: SUIT_HEARTS } }
        details { name: "hand" seat: 1 value { cards { cards: 1 } } }
    } }"""
    assert encode_fact(RoundEnded(score)) == text_format.Parse(text, facts_pb2.Fact())


@pytest.mark.parametrize(("fact", "text"), ENCODED.values(), ids=ENCODED)
def test_facts_distinguish_zero_from_absence(fact: Fact, text: str) -> None:
    assert encode_fact(fact) == text_format.Parse(text, facts_pb2.Fact())


def test_a_view_has_owners_faces_and_places() -> None:
    seats = (SeatView(2, (0, 63), 5, 1), SeatView(3, known_cards=(63,)), SeatView(is_out=True, place=2))
    piles = (Pile("melds", 1, (PileCard(63, 1),), 1), Pile("stock", 3, (), face_down=True))
    encoded = encode_view(View(1, "play", None, seats, piles, (Call(0, None),), Contract(trump=NO_TRUMP)))
    text = """
        round: 1
        phase: "play"
        seats { card_count: 2 cards: [1, 64] score: 5 tricks_taken: 1 }
        seats { card_count: 3 known_cards: 64 }
        seats { is_out: true place: 2 }
        piles { name: "melds" owner: 1 count: 1 cards { card: 64 seat: 1 } }
        piles { name: "stock" count: 3 face_down: true }
        calls { }
        contract { trump: SUIT_UNSPECIFIED }"""
    assert encoded == text_format.Parse(text, facts_pb2.TableView())


def test_facts_of_different_kinds_that_are_equal_as_tuples_stay_different() -> None:
    same = (RoundStarted(1, 2), SeatOut(1, 2))
    assert tuple(same[0]) == tuple(same[1])
    config, encoder = make_config(), StreamEncoder()
    (transition,) = advance(config, new_table(config), 0, None)
    for _ in range(2):  # The second time from the cache.
        update = event_of(encoder.message_of_update(encoder.update(config, transition, same, NOW))).update
        assert [fact.WhichOneof("fact") for fact in update.facts] == ["round_started", "seat_out"]


@every_game
def test_joined_bytes_are_the_message_built_whole(game: str, seed: int) -> None:
    config = make_config(game)
    encoder = StreamEncoder()
    for transition in walk(config, Random(seed)):
        for viewer in viewers(config):
            raw = encode_transition(encoder, config, transition, viewer, NOW)
            facts = [fact for fact in transition.facts if fact.audience >> viewer & 1]
            update = engine_pb2.TableUpdate.FromString(encoder.update(config, transition, [], NOW))
            update.facts.extend(map(encode_fact, facts))
            if viewer in transition.after.seats_to_act:
                update.legal_actions.CopyFrom(encode_legal(transition.after.legal_actions(viewer)))
            assert update.clock.server_unix_ms == NOW
            whole = engine_pb2.PlayTableResponse(table_event=engine_pb2.TableEvent(update=update))
            assert parsed(raw) == whole
            assert event_of(raw) == whole.table_event
            whole.answer.CopyFrom(engine_pb2.ActionAnswer(request_id="r", sequence=7))
            assert parsed(raw + encode_acceptance("r", 7)) == whole
            update.ClearField("legal_actions")
            assert event_of(encode_transition(encoder, config, transition, viewer, NOW, is_last=False)).update == update


@every_game
def test_the_fields_of_an_update_are_the_bytes_of_its_message(game: str, seed: int) -> None:
    config, random = make_config(game), Random(seed)
    for transition in walk(config, random):
        now = random.choice((transition.entry.at, random.randrange(1, 2**63)))
        expected = update_without_facts(config, transition, now)
        assert StreamEncoder().update(config, transition, [], now) == expected.SerializeToString()


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_in_an_update_have_any_size(number: int) -> None:
    config = make_config()
    (transition,) = advance(config, new_table(config), START, None)
    entry, due = transition.entry._replace(sequence=number, at=number), Due(number, 0)
    large = transition._replace(entry=entry, after=transition.after._replace(due=due))
    expected = update_without_facts(config, large, number)
    assert StreamEncoder().update(config, large, [], number) == expected.SerializeToString()


@every_game
def test_the_moves_of_cards_in_an_update_are_the_bytes_of_their_messages(game: str, seed: int) -> None:
    for transition in walk(make_config(game), Random(seed)):
        moves = [fact for fact in transition.facts if isinstance(fact, CardsMoved)]
        expected = engine_pb2.TableUpdate(facts=map(message_of_move, moves))
        assert encode_facts_of_update(moves) == expected.SerializeToString()


def test_moves_have_any_number_of_any_cards_between_any_places(seed: int) -> None:
    random = Random(seed)
    places: tuple[Place, ...] = (None, 0, 7, "stock", "trick", OwnedPile("stock", 0), OwnedPile("melds", 7))
    for _ in range(500):
        cards = tuple(random.choices((0, 52, *OWN_CARDS), k=random.choice((0, 1, 4, 60, 130))))
        reason, word = random.choice([*MoveReason]), random.choice(("", "cut"))
        source, target = random.choice(places), random.choice(places)
        move = CardsMoved(source, target, cards, len(cards) or 300, reason, -1, random.random() < 0.5, word)
        expected = engine_pb2.TableUpdate(facts=[message_of_move(move)])
        assert encode_facts_of_update([move]) == expected.SerializeToString()


def message_of_move(move: CardsMoved) -> facts_pb2.Fact:
    message = facts_pb2.CardsMoved(
        source=message_of_place(move.source),
        target=message_of_place(move.target),
        cards=[cards_pb2.Card.ValueType(card + 1) for card in move.cards],
        count=move.card_count,
        reason=facts_pb2.MoveReason.ValueType(move.reason),
        face_down=move.face_down,
        word=move.word,
    )
    return facts_pb2.Fact(cards_moved=message)


def message_of_place(place: Place) -> facts_pb2.Place:
    if isinstance(place, OwnedPile):
        return facts_pb2.Place(pile=place.name, owner=place.owner)
    if isinstance(place, str):
        return facts_pb2.Place(pile=place)
    return facts_pb2.Place() if place is None else facts_pb2.Place(hand=place)


@every_game
def test_legal_actions_in_an_update_are_the_bytes_of_its_message(game: str, seed: int) -> None:
    config = make_config(game)
    for transition in walk(config, Random(seed)):
        for seat in transition.after.seats_to_act:
            legal = encode_legal(transition.after.legal_actions(seat))
            expected = engine_pb2.TableUpdate(legal_actions=legal).SerializeToString()
            assert StreamEncoder().legal_actions(transition.after, seat) == expected


def update_without_facts(config: TableConfig, transition: Transition, now: int) -> engine_pb2.TableUpdate:
    event, after = transition.entry.event, transition.after
    absences = list(enumerate(after.clock.absences))
    update = engine_pb2.TableUpdate(
        sequence=transition.entry.sequence,
        stored_unix_ms=transition.entry.at,
        seat=getattr(event, "seat", None),
        acted_by=engine_pb2.ActedBy.ValueType(transition.entry.acted_by),
        clock=engine_pb2.TurnClock(
            deadline_unix_ms=after.deadline,
            reserve_ms=after.clock.reserves,
            away_seats=[seat for seat, absence in absences if absence],
            left_seats=[seat for seat, absence in absences if absence in (Absence.LEFT, Absence.LEFT_IN_TURN)],
            server_unix_ms=now,
        ),
        revealed_seed=config.seed.hex() if after.is_over else "",
        compensated_ms=getattr(event, "milliseconds", 0),
        is_away=getattr(event, "is_away", None),
    )
    if (pending := after.proposal) is not None:
        update.proposal.sequence, update.proposal.name = pending.sequence, pending.name
        update.proposal.proposer = pending.proposer
        update.proposal.agreed_seats.extend(sorted(pending.agreed))
        update.proposal.expiry_time.FromMilliseconds(pending.expires_at)
    return update


@every_game
def test_a_snapshot_in_a_stream_is_the_one_of_get_view(game: str, seed: int) -> None:
    config = make_config(game)
    *_, transition = islice(walk(config, Random(seed)), 10)
    for viewer in viewers(config):
        snapshot = event_of(StreamEncoder().snapshot(config, transition.after, viewer, NOW)).snapshot
        assert snapshot == encode_snapshot(config, transition.after, viewer, NOW)
        assert snapshot.clock.server_unix_ms == NOW
        assert (snapshot.viewer_seat if snapshot.HasField("viewer_seat") else SPECTATOR) == viewer
        assert [seat.player_id for seat in snapshot.table.seats] == [seat.player_id for seat in config.seats]
        assert snapshot.table.seed_commitment == config.commitment
        assert snapshot.clock.deadline_unix_ms == transition.after.deadline
        assert tuple(snapshot.clock.reserve_ms) == transition.after.clock.reserves
        assert snapshot.HasField("legal_actions") == (viewer in transition.after.seats_to_act)
        state = event_of(StreamEncoder().turn_state(transition.after, viewer, NOW)).turn_state
        assert (state.sequence, state.clock, state.proposal) == (snapshot.sequence, snapshot.clock, snapshot.proposal)
        assert state.HasField("legal_actions") == snapshot.HasField("legal_actions")
        assert state.legal_actions == snapshot.legal_actions


def test_an_answer_has_the_sequence_or_the_status_of_the_unary_call() -> None:
    error = IllegalNow(errors_pb2.ERROR_REASON_ILLEGAL_ACTION, "not now", metadata={"rule": "THU-PLAY-1"})
    answer = parsed(encode_refusal("r", error)).answer
    assert (answer.request_id, answer.refusal) == ("r", to_status(error))
    assert parsed(encode_acceptance("r", 5)).answer.sequence == 5


@pytest.mark.parametrize(
    "request_id", ["r", "~" * 64, "\N{GREEK SMALL LETTER ALPHA}" * 64], ids=["short", "long", "wide"]
)
@pytest.mark.parametrize("sequence", NUMBERS)
def test_an_acceptance_is_the_bytes_of_its_message(request_id: str, sequence: int) -> None:
    answer = engine_pb2.ActionAnswer(request_id=request_id, sequence=sequence)
    expected = engine_pb2.PlayTableResponse(answer=answer).SerializeToString()
    assert encode_acceptance(request_id, sequence) == expected


def test_every_message_has_the_seats_that_are_away_and_those_that_their_players_left() -> None:
    config, encoder = make_config(seat_count=3), StreamEncoder()
    table = advance(config, new_table(config), NOW, None)[-1].after
    late, left = table.seats_to_act[0], (table.seats_to_act[0] + 1) % 3
    table = advance(config, table, NOW, some_action(table), ActedBy.TIMEOUT)[-1].after
    for event, expected in (
        (AwaySet(left, is_away=True), {left}),
        (AwaySet(late, is_away=True), {late, left}),
        (AwaySet(left, is_away=False), {late}),
    ):
        (transition,) = advance(config, table, NOW, event)
        table = transition.after
        update = event_of(encode_transition(encoder, config, transition, SPECTATOR, NOW)).update
        assert (update.seat, update.HasField("is_away"), update.is_away) == (event.seat, True, event.is_away)
        snapshot = event_of(encoder.snapshot(config, table, SPECTATOR, NOW)).snapshot
        state = event_of(encoder.turn_state(table, SPECTATOR, NOW)).turn_state
        for message in (update, snapshot, state):
            assert list(message.clock.away_seats) == sorted({late} | expected)
            assert list(message.clock.left_seats) == sorted(expected)


def test_an_entry_of_another_kind_does_not_say_who_is_away() -> None:
    config = make_config()
    for transition in islice(walk(config, Random(1)), 50):
        update = event_of(encode_transition(StreamEncoder(), config, transition, SPECTATOR, NOW)).update
        assert update.HasField("is_away") == isinstance(transition.entry.event, AwaySet)
