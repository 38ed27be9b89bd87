"""The judge's table in the position of an engine's state, from which both sets of rules are compared."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from croupier.games.cards import NOTATION, SUITS, notation
from croupier.games.facts import PileCard
from croupier.games.hands import cards_in
from croupier.games.interface import GameOver, InvalidOption, OptionValue, State, resolve_options
from croupier.games.jossing.state import JossingState
from croupier.games.one_oh_one.state import OneOhOneState
from croupier.games.one_ten.state import UNNAMED, OneTenState
from croupier.games.registry import OWN_GAMES
from croupier.games.solo.state import SoloState
from croupier.games.thulla.state import ThullaState
from croupier_loadtest.judge.rules.interface import Card, JudgeTable, Options, Round
from croupier_loadtest.judge.rules.jossing import JossingTable
from croupier_loadtest.judge.rules.one_oh_one import OneOhOneTable
from croupier_loadtest.judge.rules.one_ten.table import OneTenTable
from croupier_loadtest.judge.rules.solo.hand import Hand
from croupier_loadtest.judge.rules.solo.table import SoloTable
from croupier_loadtest.judge.rules.thulla import ThullaTable
from tests.games import dispatch

ENDED_BY = {"loser": "101-END-2", "max_rounds": "101-END-4", "one_left": "101-ELIM-1"}
"""The rule that ends a game of 101, by the engine's reason."""


def judge_table(state: State) -> JudgeTable:
    """Return the same table for the judge's rules, without the points of earlier rounds."""
    match state:
        case ThullaState():
            return _thulla(state)
        case OneTenState():
            return _one_ten(state)
        case JossingState():
            return _jossing(state)
        case OneOhOneState():
            return _one_oh_one(state)
        case SoloState():
            return _solo(state)
    raise TypeError(f"no table of the judge is known for {type(state)}")


@lru_cache(maxsize=256)
def _options(game_id: str, seats: int, resolved: Any) -> Options:
    """Return the options of an engine's table: for each the value that yields most of the resolved options."""
    game = OWN_GAMES[game_id]
    chosen: dict[str, OptionValue] = {}

    def agreeing(name: str, value: OptionValue) -> int:
        try:
            made: Any = game.new(seats, resolve_options(game, seats, chosen | {name: value}))
        except InvalidOption:
            return -1
        fields = [name for name in resolved.__slots__ if getattr(made.options, name) == getattr(resolved, name)]
        return len(fields) + 2 * ("deck" in fields)  # The size of hands depends on the deck.

    for option in (*game.options(seats), *game.options(seats)):
        same_name: Any = getattr(resolved, option.name, None)
        is_value = type(same_name) is type(option.default) and same_name in option.allowed
        values: list[OptionValue] = [same_name] if is_value else list(option.allowed)
        chosen[option.name] = max(values, key=lambda value: agreeing(option.name, value))
    return resolve_options(game, seats, chosen)


def _hands(hands: Iterable[int]) -> list[list[Card]]:
    return [notation(cards_in(hand)) for hand in hands]


def _pile_cards(cards: Iterable[tuple[int, int | None]]) -> list[tuple[Card, Any]]:
    return [(NOTATION[card], seat) for card, seat in cards]


def _groups(state: State) -> list[list[int]] | None:
    awaiting = dispatch.awaiting(state)
    return [list(group) for group in awaiting.ranking] if isinstance(awaiting, GameOver) else None


def _thulla(state: ThullaState) -> ThullaTable:
    seats = state.options.seats
    table = ThullaTable(seats, _options("thulla", seats, state.options))
    table.hands, table.trick, table.waste = _hands(state.hands), _pile_cards(state.trick), _pile_cards(state.waste)
    table.round_number, table.scores = state.progress.round_number, list(dispatch.scores(state))
    table.ranking = _groups(state)
    table.orders = [list(order) for order in state.progress.orders]
    table.phase, table.ace_forced, table.spared = state.phase, state.forced, state.cannot_be_cut
    table.known = _hands(state.known)
    table.taking_part = [pile_card.seat for pile_card in state.trick] + list(state.queue)
    table.out, table.stall, table.charges = list(state.out), state.stalled, list(state.points)
    table.out_before_trick = sum(seat not in table.taking_part for seat in state.out)
    return table


def _jossing(state: JossingState) -> JossingTable:
    seats, section = state.options.seats, state.section
    table = JossingTable(seats, _options("jossing", seats, state.options))
    table.hands, table.trick, table.taken = _hands(state.hands), _pile_cards(state.trick), _pile_cards(state.taken)
    table.round_number, table.scores, table.ranking = section.number, list(state.totals), _groups(state)
    table.dealer, table.indicator = section.dealer, NOTATION[section.indicator] if section.number else None
    table.won, table.phase = list(state.won), state.phase
    for seat, amount in state.bids:
        table.bids[seat] = amount
    if state.queue:
        table.leader = state.trick[0].seat or 0 if state.trick else state.queue[0]
    return table


def _one_oh_one(state: OneOhOneState) -> OneOhOneTable:
    seats, game, owed = state.options.seats, state.progress, state.owed
    table = OneOhOneTable(seats, _options("one_oh_one", seats, state.options))
    table.hands, table.stock, table.pile = _hands(state.hands), notation(state.stock), _pile_cards(state.pile)
    table.round_number, table.scores, table.ranking = game.round_number, list(dispatch.scores(state)), _groups(state)
    table.dropped_out = [list(group) for group in reversed(game.dropped)]
    table.in_game = [seat for seat in range(seats) if not any(seat in group for group in game.dropped)]
    table.ended_by, table.dealing = ENDED_BY.get(game.reason, ""), state.phase == "deal"
    table.starter = game.starter if game.round_number else None
    table.dealt_last = "" if state.forced is None else NOTATION[state.forced]
    table.shuffles, table.covering, table.turn = state.reshuffles + 1, state.covers, state.turn
    table.ordered = "" if state.ordered is None else SUITS[state.ordered]
    if owed:
        table.taker, table.to_take, table.turn = owed.seat, owed.card_count, owed.turn
        if owed.turn < 0:
            table.winner = next(seat for seat in table.in_game if not state.hands[seat])
    return table


def _one_ten(state: OneTenState) -> OneTenTable:
    seats, progress, exchange, auction = state.options.seats, state.progress, state.exchange, state.auction
    table = OneTenTable(seats, _options("one_ten", seats, state.options))
    table.hands, table.round_number, table.scores = _hands(state.hands), progress.round_number, list(progress.totals)
    table.ranking = [list(group) for group in progress.ranking] or None
    table.hand_size, table.kept = state.options.hand_size, state.options.tricks
    table.phase = {"kitty": "exchange", "tricks": "play"}.get(state.phase, state.phase)
    if progress.dealer is None:
        return table
    table.dealer, table.stock = progress.dealer, notation(exchange.stock)
    table.kitty = notation(exchange.kitty) if state.phase == "bidding" else ["?"] * 5
    table.passed = {seat for seat in range(seats) if auction.passed >> seat & 1}
    table.high_bidder, table.amount = auction.bidder if auction.amount else None, auction.amount
    if state.phase == "bidding":
        table.speaker = state.to_act[0]
        return table
    table.winner, table.put_away = auction.bidder, notation(exchange.put_away)
    table.dealt = [["?"] * table.hand_size for _ in table.hands]
    table.trump = "" if exchange.trump == UNNAMED else SUITS[exchange.trump]
    waiting = {*state.to_act} if state.phase == "kitty" else set()
    if table.trump or table.options["swap_timing"] == "during":
        acted = [seat for seat in range(seats) if seat not in waiting | {table.winner}]
        table.discards = {seat: notation(exchange.discards[seat]) for seat in acted}
    table.leader, table.trick = (*state.winners[-1:], *state.to_act, table.winner)[0], _pile_cards(state.trick)
    if state.trick:
        table.leader = state.trick[0].seat or 0
    taken = _pile_cards(state.taken)
    table.taken = [taken[at : at + seats] for at in range(0, len(taken), seats)]
    return table


def _solo(state: SoloState) -> SoloTable:
    game, contract = state.progress, state.contract
    table = SoloTable(4, _options("solo", 4, state.options))
    open_cards: tuple[PileCard, ...] = (*state.taken, *state.trick)
    taken = _pile_cards(state.taken)
    bids = [getattr(call.action, "bid", "pass") for call in state.calls[:4]]
    table.hand = Hand(
        dealt=[
            hand + [NOTATION[card] for card, by in open_cards if by == seat]
            for seat, hand in enumerate(_hands(state.hands))
        ],
        cards=_hands(state.hands),
        phase=state.phase,
        turn=state.to_act,
        auction=[(call.seat, bid) for call, bid in zip(state.calls, bids, strict=False)],
        declarer=contract.declarer,
        contract=contract.bid,
        trump=SUITS[contract.trump] if contract.trump >= 0 else "",
        do=contract.do,
        called=NOTATION[contract.called] if contract.called >= 0 else "",
        partner=contract.partner,
        tricks=[taken[at : at + 4] for at in range(0, len(taken), 4)],
        trick=_pile_cards(state.trick),
        through=state.through,
        thrown_down=bool(state.shown_seats),
    )
    table.hands, table.round_number, table.scores = table.hand.cards, game.hand_number, list(game.totals)
    table.rounds = [Round([], [])] * (game.hand_number - (game.deals > 0))
    table.ranking, table.shuffles = _groups(state), game.deals
    table.went_out = {seat: hand for seat, hand in enumerate(game.went_out) if hand}
    table.dealer = game.dealer if game.deals or game.dealer < 0 else (game.dealer + 1) % 4
    return table
