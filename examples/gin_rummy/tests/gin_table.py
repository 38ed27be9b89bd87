"""Tables of Gin Rummy by both implementations of the rules, in any position."""

from collections.abc import Sequence
from dataclasses import asdict

from croupier.conformance.comparison import ComparedTable
from croupier.games.cards import NOTATION, cards_of_mask, notation
from croupier.games.facts import PileCard
from croupier.games.interface import OptionValue, resolve_options
from croupier_gin_rummy.game import GinRummy
from croupier_gin_rummy.judge import GinRummyTable
from croupier_gin_rummy.scoring import END_RULES
from croupier_gin_rummy.state import NOBODY, SEATS, GinState

GIN_RUMMY = GinRummy()


def new(**options: OptionValue) -> GinState:
    """Return a table before its first deal."""
    return GIN_RUMMY.new(SEATS, resolve_options(GIN_RUMMY, SEATS, options))


def compared(state: GinState) -> ComparedTable:
    """Return a position by both implementations."""
    return ComparedTable(GIN_RUMMY, state, judge_table(state))


def judge_table(state: GinState) -> GinRummyTable:
    """Return the same table for the judge's rules, without the points of earlier hands."""
    progress, table = state.progress, GinRummyTable(SEATS, asdict(state.options))
    table.hands, table.known = _texts(state.hands), _texts(state.known)
    table.round_number, table.scores, table.boxes = progress.round_number, list(progress.totals), list(progress.boxes)
    dealer = progress.next_dealer if state.phase in ("deal", "over") else progress.dealer
    table.phase, table.dealer, table.turn = state.phase, None if dealer == NOBODY else dealer, state.turn
    table.stock, table.pile, table.limit = notation(state.stock), _lying(state.discards), state.limit
    table.taken = "" if state.taken is None else NOTATION[state.taken]
    table.knocker = None if state.knocker == NOBODY else state.knocker
    table.is_gin, table.is_big = state.knock in ("gin", "big_gin"), state.knock == "big_gin"
    table.melds = [[_lying(meld) for meld in melds] for melds in state.melds]
    table.ended_by = END_RULES.get(progress.reason, "")
    table.ranking = table.ranked() if progress.reason else None
    return table


def _texts(hands: Sequence[int]) -> list[list[str]]:
    return [notation(cards_of_mask(hand)) for hand in hands]


def _lying(cards: Sequence[PileCard]) -> list[tuple[str, int | None]]:
    return [(NOTATION[card], seat) for card, seat in cards]
