"""Positions of President, and lines of actions that both implementations apply."""

from collections.abc import Sequence
from itertools import groupby
from random import Random
from typing import Any

from croupier.conformance.comparison import ComparedTable
from croupier.conformance.tables import observation
from croupier.conformance.walks import shuffle
from croupier.games.actions import Action, Lay, Pass, SwapCards
from croupier.games.cards import NOTATION, STANDARD_DECK, cards, notation
from croupier.games.facts import SPECTATOR, Fact, PileCard, RoundEnded, RoundScore, Seat
from croupier.games.hands import cards_in, hand_of
from croupier.games.interface import (
    CardsShuffled,
    Event,
    OptionValue,
    SeatActed,
    SeatsToAct,
    ShuffleNeeded,
    resolve_options,
)
from croupier_loadtest.judge.rules.interface import Options, Round
from croupier_president.bots import sensible
from croupier_president.exchange import pairs_of
from croupier_president.game import President
from croupier_president.judge import PresidentTable
from croupier_president.scoring import ranking
from croupier_president.state import PresidentOptions, PresidentState, Progress, rank_of

PRESIDENT = President()


def new(seats: int, **options: OptionValue) -> PresidentState:
    """Return a table before its first deal."""
    return PRESIDENT.new(seats, resolve_options(PRESIDENT, seats, options))


def position(
    hands: str, *, turn: Seat = 0, out: tuple[Seat, ...] = (), totals: Sequence[int] = (), **options: OptionValue
) -> PresidentState:
    """Return a lead in round 2 with hands such as "KH | 3D AD"; in round 1 the seats were out in their order."""
    held = tuple(hand_of(cards(text)) for text in hands.split("|"))
    seats = len(held)
    resolved = PresidentOptions.of(seats, resolve_options(PRESIDENT, seats, options))
    order = tuple(range(seats))
    progress = Progress(2, seats - 1, tuple(totals) or (0,) * seats, order)
    pairs, given = pairs_of(resolved, order), ((),) * seats
    return PresidentState(resolved, progress, "play", held, (turn,), pairs, given, out=out)


def exchanging(hands: str, **options: Any) -> PresidentState:
    """Return the exchange of round 2; in round 1 the seats were out in their order."""
    state = position(hands, **options)
    return state._replace(phase="exchange", to_act=tuple(sorted(pair.giver for pair in state.pairs)))


def compared(state: PresidentState) -> ComparedTable:
    """Return a position by both implementations."""
    return ComparedTable(PRESIDENT, state, judge_table(state))


def judge_table(state: PresidentState) -> PresidentTable:
    """Return the same table for the judge's rules, without the points of earlier rounds."""
    progress, seats = state.progress, state.options.seats
    table = PresidentTable(seats, options_of(state.options))
    table.hands = [notation(cards_in(hand)) for hand in state.hands]
    table.round_number, table.scores, table.phase = progress.round_number, list(progress.totals), state.phase
    table.rounds = [Round([], [])] * (progress.round_number - bool(state.to_act))
    table.ranking = [list(group) for group in ranking(progress)] if progress.reason else None
    table.places, table.out, table.passes = list(progress.order), list(state.out), sorted(state.passed)
    table.waste = [(NOTATION[card], seat) for card, seat in state.waste]
    table.combinations = _combinations(state.trick)
    if state.phase == "play":
        table.turn = state.to_act[0]
    if state.phase == "exchange":
        _owe(table, state)
    return table


def _combinations(trick: tuple[PileCard, ...]) -> list[tuple[Seat, list[str]]]:
    laid = [[*combination] for _, combination in groupby(trick, key=lambda one: rank_of(one.card))]
    return [(one[0].seat or 0, notation(card for card, _ in one)) for one in laid]


def _owe(table: PresidentTable, state: PresidentState) -> None:
    """Let the seats to act owe cards to the others of their pairs."""
    for pair in state.pairs:
        for seat in {*pair[:2]} & {*state.to_act}:
            table.owes[seat] = pair.partner(seat), pair.card_count
        table.gives_best |= {pair.giver} & {*state.to_act}


def options_of(options: PresidentOptions) -> Options:
    """Return the options of a table by name."""
    return {
        "exchange": options.exchange,
        "later_lead": "president" if options.president_leads else "scum",
        "passing": "final" if options.pass_is_final else "open",
        "scoring": "titles" if options.titles_score else "places",
        "rounds": options.rounds,
        "target": options.target,
    }


def action(text: str) -> Action:
    """Return an action from its notation: KH, KH+KS, pass, swap:2S,AC."""
    if text == "pass":
        return Pass()
    if text.startswith("swap:"):
        return SwapCards(cards(text[5:].replace(",", " ")))
    return Lay(cards(text.replace("+", " ")))


def applied(state: PresidentState, event: Event) -> tuple[PresidentState, tuple[Fact, ...]]:
    """Return the table after an event, compared with the judge's, and its facts."""
    after, facts = compared(state).apply(event)
    return after.state, facts


def acts_with_facts(state: PresidentState, line: str) -> tuple[PresidentState, tuple[Fact, ...]]:
    """Return the table after a line such as "0:KH+KS 1:pass" by both implementations, and its facts."""
    facts: tuple[Fact, ...] = ()
    for text in line.split():
        state, more = applied(state, SeatActed(int(text[0]), action(text[2:])))
        facts += more
    return state, facts


def acts(state: PresidentState, line: str) -> PresidentState:
    return acts_with_facts(state, line)[0]


def played(state: PresidentState, line: str) -> PresidentState:
    """Return the table after a line by the game alone, for the positions of cases."""
    for text in line.split():
        state, _ = PRESIDENT.apply(state, SeatActed(int(text[0]), action(text[2:])))
    return state


def rule_against(state: PresidentState, event: Event) -> str:
    """Return the rule by which both refuse an event; "" if they accept it."""
    return compared(state).compare_refusal(event)


def refusal(state: PresidentState, text: str | Action, seat: Seat) -> str:
    """Return the rule by which both refuse an action of a seat; "" if they accept it."""
    return rule_against(state, SeatActed(seat, action(text) if isinstance(text, str) else text))


def to_act(state: PresidentState) -> Seat:
    """Return the one seat to act."""
    (seat,) = state.to_act
    return seat


def may(state: PresidentState, seat: Seat | None = None) -> set[str]:
    """Return the legal actions of a seat, by default of the seat to act; "2 of TH TS TD" and so on for choices."""
    legal = PRESIDENT.legal_actions(state, to_act(state) if seat is None else seat)
    listed = {" ".join(notation(one.cards)) if isinstance(one, Lay) else "pass" for one in legal.actions}
    chosen = [one.cards for one in legal.choices if one.cards]
    numbers = [f"{one.min_cards}" + f"-{one.max_cards}" * (one.max_cards > one.min_cards) for one in chosen]
    return listed | {f"{n} of {' '.join(notation(one.cards))}" for n, one in zip(numbers, chosen, strict=True)}


def hand(state: PresidentState, seat: Seat) -> set[str]:
    """Return the cards of a seat."""
    return set(notation(cards_in(state.hands[seat])))


def pile(state: PresidentState, name: str) -> str:
    """Return the cards of a pile as spectators see them, each with its seat: "KH 0 KS 0"."""
    return " ".join(f"{NOTATION[card]} {seat}" for card, seat in PRESIDENT.view(state, SPECTATOR).pile(name))


def dealt_at_random(state: PresidentState, random: Random) -> PresidentState:
    """Return the table after a random deal."""
    due = PRESIDENT.awaiting(state)
    assert isinstance(due, ShuffleNeeded)
    return PRESIDENT.apply(state, shuffle(due, random))[0]


def ended(facts: Sequence[Fact]) -> RoundScore:
    """Return the score of the round that these facts end."""
    return next(fact.score for fact in facts if isinstance(fact, RoundEnded))


def dealt(state: PresidentState, first: str = "", drawn: tuple[int, ...] = ()) -> PresidentState:
    """Return the table after a deal of all cards in the order of the deck, but for these, which are in front."""
    return applied(state, deal_of(first, drawn))[0]


def deal_of(first: str, drawn: tuple[int, ...] = ()) -> CardsShuffled:
    """Return a shuffle in the order of the deck, but for these cards, which are in front."""
    return CardsShuffled((*cards(first), *[value for value in STANDARD_DECK if value not in cards(first)]), drawn)


def finished(state: PresidentState, seed: int = 1) -> PresidentState:
    """Return the table after the round, which the sensible bots play to its end."""
    while isinstance(awaiting := PRESIDENT.awaiting(state), SeatsToAct):
        seat = awaiting.seats[0]
        given = observation(PRESIDENT, state, seat, {})
        state = PRESIDENT.apply(state, SeatActed(seat, sensible(given, Random(seed).randrange)))[0]
    return state


FOUR = "KC 5H 6H | QC 7H 8H | KD KS 4D | AC 2D AS 7S 3C"
EXCHANGE = exchanging(FOUR)
RETURNING = EXCHANGE._replace(to_act=(0, 2))
LEADING = position("5C 5D 5H 8S 9S | 6C 7D 7H TS | 4C 8D 8H JS 9D")
SINGLE = played(LEADING, "0:8S")
DOUBLE = played(LEADING, "0:5C+5D")
"""The exchange of four seats, its president to return cards, a lead, and an answer to one card and to two."""
LAST_CARDS, FINISH = "KC | 2D | AC | 3H 4H", "0:KC 1:pass 2:AC 3:pass 1:2D"
"""Hands and the line that ends their round, in the order 0, 2, 1, 3."""
