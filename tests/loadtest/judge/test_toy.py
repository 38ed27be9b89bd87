"""The judge on a game that it does not know, with a deck of its own, teams, and all verbs and piles of the contract."""

from collections.abc import Callable, Iterator
from random import Random

import pytest
from grpc import StatusCode

from croupier.engine.api.action_codec import encode_action
from croupier.engine.core.log import ClockConfig, SeatConfig, TableConfig
from croupier.games.actions import Bid, Declare, Lay
from croupier.games.facts import SPECTATOR
from croupier_api.v1 import actions_pb2, cards_pb2, engine_pb2, facts_pb2, scoring_pb2
from croupier_loadtest.judge.verdict import judge
from croupier_loadtest.judge.violations import Invariant
from croupier_loadtest.record import ABANDONED_MILLISECONDS, TableRecord
from tests.engine.toys import toy_known
from tests.games.toy import TOY
from tests.loadtest.judge.falsified_records import change_replay, change_sent
from tests.loadtest.judge.falsified_rows import change_ledger
from tests.loadtest.judge.played import SEATS, TABLE, AcceptedAction, EventRates, PlayedTable, played_with
from tests.loadtest.judge.viewer_records import (
    SEAT,
    Cases,
    Falsify,
    add_views,
    change_message,
    falsify_message,
    found,
    parameters,
    refused,
    seat_record,
    stored_record,
    unreliable_record,
)

SEEDS = range(1, 7)
DECK = {face.notation: face.card + 1 for face in TOY.deck}
TEXTS = {number: text for text, number in DECK.items()}
OTHER = 1


@pytest.fixture(scope="module", autouse=True)
def known() -> Iterator[None]:
    """Let the engine know the toy."""
    with toy_known():
        yield


def toy_table(seed: int) -> PlayedTable:
    random = Random(f"toy {seed}")
    people = tuple(SeatConfig(f"player-{seat}", f"Player {seat}") for seat in range(SEATS))
    clock, secret = ClockConfig(30_000, 20_000, 300, ABANDONED_MILLISECONDS), random.randbytes(32)
    config = TableConfig(TABLE, TOY.id, TOY.rules_version, SEATS, {}, clock, secret, people, (b"",) * SEATS)
    return played_with(config, random, EventRates(timeouts=0.05, outages=0.02))


def accepted_action(table: PlayedTable, verb: type[Bid | Lay | Declare]) -> AcceptedAction:
    return next(one for one in table.accepted if isinstance(one.action, verb))


def change_action(verb: type[Bid | Lay | Declare], change: Callable[[actions_pb2.Action], object]) -> Falsify:
    """Let a player have sent another action than the accepted one."""

    def changed(_: PlayedTable, accepted: AcceptedAction) -> dict[str, bytes]:
        action = actions_pb2.Action()
        action.CopyFrom(encode_action(accepted.action))
        change(action)
        return {"action": action.SerializeToString()}

    return change_sent(changed, lambda table: accepted_action(table, verb))


def unrecorded(change: Falsify) -> Falsify:
    """Remove replay and rows before the change."""

    def falsify(record: TableRecord, table: PlayedTable) -> None:
        record.replays, record.sheet, record.stored, record.ledger = [], None, None, None
        change(record, table)

    return falsify


def reserve_of(table: PlayedTable, owner: int) -> cards_pb2.Card.ValueType:
    """Return the card that lies face down before a seat after the deal."""
    (pile,) = [it for it in table.snapshot(owner, 1).view.piles if (it.name, it.owner) == ("reserve", owner)]
    return pile.cards[0].card


def show_a_reserve(event: engine_pb2.TableEvent, table: PlayedTable) -> None:
    """Show a viewer the card that lies face down before another seat."""
    piles = [it for it in event.snapshot.view.piles if (it.name, it.owner) == ("reserve", OTHER)]
    piles[0].cards.add(card=reserve_of(table, OTHER))


def add_fact(fact: Callable[[PlayedTable], facts_pb2.Fact]) -> Falsify:
    """Show a viewer another fact after the deal."""
    return falsify_message(lambda event, table: event.update.facts.append(fact(table)), 1)


def deal_open(table: PlayedTable) -> facts_pb2.Fact:
    """Return a card that is dealt face down to another seat, for the viewer to see."""
    place = facts_pb2.Place(pile="reserve", owner=OTHER)
    moved = facts_pb2.CardsMoved(target=place, cards=[reserve_of(table, OTHER)], count=1, face_down=True)
    return facts_pb2.Fact(cards_moved=moved)


def reveal(table: PlayedTable) -> facts_pb2.Fact:
    """Return the hand of another seat, laid open."""
    hand = table.snapshot(OTHER, 1).view.seats[OTHER]
    return facts_pb2.Fact(hand_revealed=facts_pb2.HandRevealed(seat=OTHER, cards=hand.cards))


def name_a_card(table: PlayedTable) -> facts_pb2.Fact:
    """Return a mark that names the card of another seat."""
    mark = facts_pb2.Mark(name="hint", value=facts_pb2.Value(word=f"it is {TEXTS[reserve_of(table, OTHER)]}"))
    return facts_pb2.Fact(mark_changed=facts_pb2.MarkChanged(mark=mark))


def name_a_card_in_a_refusal(record: TableRecord, table: PlayedTable) -> None:
    viewer = record.viewers[SEAT]
    answer = refused("", viewer.received[1].at_milliseconds, StatusCode.UNAVAILABLE, "SERVER_STOPPING")
    viewer.answered.append(answer._replace(message=f"seat 1 has {TEXTS[reserve_of(table, OTHER)]}"))


def lay_before_another(record: TableRecord, table: PlayedTable) -> None:
    """Show one viewer the laid cards in the pile of another owner."""

    def change(event: engine_pb2.TableEvent) -> None:
        place = next(it.cards_moved.target for it in event.update.facts if it.HasField("cards_moved"))
        place.owner = (place.owner + 1) % SEATS

    change_message(record.viewers[SEAT], accepted_action(table, Lay).sequence - 1, change)


def exchange_partners(event: engine_pb2.TableEvent, _: PlayedTable) -> None:
    for team, seats in zip(event.snapshot.table.teams, ((0, 1), (2, 3)), strict=True):
        team.seats[:] = seats


def refuse_without_a_rule(record: TableRecord, table: PlayedTable) -> None:
    """Refuse an illegal action without the id of a rule; the toy has no page with ids either."""
    viewer = record.viewers[SEAT]
    sent = viewer.sent[0]
    draw = actions_pb2.Action(draw=actions_pb2.DrawAction(pile="nowhere")).SerializeToString()
    viewer.sent.append(sent._replace(request_id="try", at_milliseconds=sent.at_milliseconds - 2, action=draw))
    viewer.answered.append(refused("try", sent.at_milliseconds - 1, StatusCode.FAILED_PRECONDITION, "ILLEGAL_ACTION"))


def change_sheet(change: Callable[[scoring_pb2.GameResult], object]) -> Falsify:
    def falsify(record: TableRecord, _: PlayedTable) -> None:
        sheet = scoring_pb2.GetScoreSheetResponse.FromString(record.sheet or b"")
        change(sheet.result)
        record.sheet = sheet.SerializeToString()

    return falsify


FALSIFIED: Cases = {
    Invariant.HIDDEN_CARD_SEEN: {
        "show_a_reserve": falsify_message(show_a_reserve, 0),
        "know_a_reserve": falsify_message(
            lambda event, table: event.snapshot.view.seats[OTHER].known_cards.append(reserve_of(table, OTHER)), 0
        ),
        "deal_open": add_fact(deal_open),
        "reveal_to_one": add_fact(reveal),
        "name_a_card": add_fact(name_a_card),
        "name_a_card_in_a_refusal": name_a_card_in_a_refusal,
    },
    Invariant.ILLEGAL_ACCEPTED: {
        "bid_between_the_steps": unrecorded(change_action(Bid, lambda action: setattr(action.bid, "amount", 15))),
        "name_no_amount": unrecorded(change_action(Declare, lambda action: action.declare_word.ClearField("amount"))),
        "name_oneself": unrecorded(change_action(Declare, lambda action: setattr(action.declare_word, "seat", 77))),
        "lay_for_another": unrecorded(change_action(Lay, lambda action: setattr(action.lay, "owner", 77))),
        "lay_nothing": unrecorded(change_action(Lay, lambda action: action.lay.ClearField("cards"))),
    },
    Invariant.ACKNOWLEDGED_LOST: {
        "lay_other_cards": unrecorded(
            change_action(Lay, lambda action: action.lay.cards.append(cards_pb2.Card.ValueType(next(iter(TEXTS)))))
        ),
        "say_another_word": change_action(Declare, lambda action: setattr(action.declare_word, "word", "pass")),
    },
    Invariant.PUBLIC_FACTS_DIFFER: {"lay_before_another": lay_before_another},
    Invariant.REPLAY_DIFFERS: {
        "replay_another_card": change_replay(
            lambda lines: next(it["action"] for it in lines if "cards" in it.get("action", ())).update(cards=["B9"])
        )
    },
    Invariant.RESULT_DIFFERS: {
        "exchange_partners": falsify_message(exchange_partners, 0, to_all=True),
        "score_another_total": change_sheet(lambda result: result.totals.append(1)),
        "rank_nobody": change_sheet(lambda result: result.ClearField("ranking")),
    },
    Invariant.LEDGER_DIFFERS: {
        "lose_a_round": change_ledger(lambda it: {"rounds": it.rounds[1:]}),
        "enter_another_outcome": change_ledger(
            lambda it: {"players": tuple((*one, "drawn") for *one, _ in it.players)}
        ),
    },
    Invariant.REFUSAL_WITHOUT_RULE: {"refuse_without_a_rule": refuse_without_a_rule},
}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_correct_table_of_an_unknown_game_has_no_violations(seed: int) -> None:
    """Its outcome is known by the contract alone."""
    table = toy_table(seed)
    record = stored_record(table)
    for viewer in record.viewers:
        add_views(viewer, table, 3)
    record.viewers.append(seat_record(table, SPECTATOR))
    verdict = judge(record)
    assert (verdict.violations, verdict.is_verified, verdict.has_unknown_rules) == ((), False, True)
    assert verdict.checks_made["ledgers"] == 1
    assert verdict.outcome is not None
    assert verdict.outcome.ranking == tuple(tuple(group.seats) for group in table.sheet.result.ranking)
    assert verdict.outcome.outcomes == tuple(table.sheet.result.outcomes) != ()
    unreliable = unreliable_record(table, seed)
    assert not judge(unreliable).violations


@pytest.mark.parametrize(("invariant", "falsify"), parameters(FALSIFIED))
def test_a_falsified_record_of_an_unknown_game_is_found(invariant: Invariant, falsify: Falsify) -> None:
    table = toy_table(1)
    record = stored_record(table)
    falsify(record, table)
    assert invariant in found(record)
