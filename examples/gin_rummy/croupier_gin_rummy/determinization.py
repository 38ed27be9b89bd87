"""Determinization and evaluation of Gin Rummy for searching players."""

from croupier.games.cards import STANDARD_DECK, mask_of
from croupier.games.facts import Mark, PileCard, Seat, View
from croupier.games.hidden import deal_around
from croupier.games.interface import Observation, RandomSource
from croupier.games.standings import relative_to_others
from croupier.games.values import CardsValue, NumberValue, WordValue
from croupier_gin_rummy.melds import least_deadwood
from croupier_gin_rummy.state import NOBODY, SEATS, GinOptions, GinState, Melds, Progress

GAIN_SPAN = 120
"""So many points more or less than the other player are as good or as bad as it gets."""


def determinize(observation: Observation, randrange: RandomSource) -> GinState:
    """Return a table that looks the same to the seat to act; hidden cards lie at random."""
    view = observation.view
    hands, stock = deal_around(observation, STANDARD_DECK, (0,) * SEATS, randrange)
    marks = {(mark.name, mark.seat): mark for mark in view.marks}
    knocker = next((seat for seat in range(SEATS) if ("knock", seat) in marks), NOBODY)
    dealer = NOBODY if view.dealer is None else view.dealer
    totals = tuple(held.score for held in view.seats)
    boxes = tuple(_number(marks.get(("boxes", seat))) for seat in range(SEATS))
    return GinState(
        options=GinOptions.of(observation.options),
        progress=Progress(view.round_number, dealer, dealer, totals, boxes),
        phase=view.phase,
        turn=observation.seat,
        hands=tuple(map(mask_of, hands)),
        known=tuple(mask_of(held.known_cards) for held in view.seats),
        stock=tuple(stock),
        discards=view.pile("discard"),
        calls=view.calls,
        limit=_number(marks.get(("knock_limit", None))),
        taken=_card(marks.get(("taken", observation.seat))),
        knocker=knocker,
        knock=_word(marks.get(("knock", knocker))),
        melds=tuple(_melds(view, seat) for seat in range(SEATS)),
    )


def _melds(view: View, owner: Seat) -> Melds:
    piles: list[tuple[PileCard, ...]] = [pile.cards for pile in view.piles if pile.owner == owner]
    return tuple(piles)


def _number(mark: Mark | None) -> int:
    return mark.value.number if mark is not None and isinstance(mark.value, NumberValue) else 0


def _word(mark: Mark | None) -> str:
    return mark.value.word if mark is not None and isinstance(mark.value, WordValue) else ""


def _card(mark: Mark | None) -> int | None:
    return mark.value.cards[0] if mark is not None and isinstance(mark.value, CardsValue) else None


def evaluate(before: GinState, after: GinState) -> tuple[float, ...]:
    """Return how many points each seat gained, compared with the other; in the middle of a hand by its deadwood."""
    gains = [now - then for now, then in zip(after.progress.totals, before.progress.totals, strict=True)]
    if after.turn >= 0:
        gains = [gain - least_deadwood(hand) for gain, hand in zip(gains, after.hands, strict=True)]
    return tuple(relative_to_others(gains, GAIN_SPAN))
