"""Determinization and evaluation of 110 for searching players."""

from collections.abc import Sequence

from croupier.games.actions import Pass
from croupier.games.cards import Card
from croupier.games.facts import Mark, PileCard, Seat, View
from croupier.games.hands import cards_in, cards_left, hand_of, taken_out
from croupier.games.hidden import deal_around
from croupier.games.interface import Observation, RandomSource
from croupier.games.one_ten.bots import best_keep
from croupier.games.one_ten.state import (
    BONUS_POINTS,
    NOBODY,
    TRICK_POINTS,
    UNNAMED,
    Auction,
    Exchange,
    OneTenOptions,
    OneTenState,
    Progress,
)
from croupier.games.one_ten.tricks import taking
from croupier.games.one_ten.trumps import TRUMPS, Trumps, shown_trump
from croupier.games.standings import relative_to_others
from croupier.games.values import CardsValue

Tricks = Sequence[tuple[PileCard, ...]]


def determinize(observation: Observation, randrange: RandomSource) -> OneTenState:
    """Return a table that looks the same to the seat to act; others who have swapped count as having kept all."""
    view, options = observation.view, OneTenOptions.of(len(observation.view.seats), observation.options)
    taken, trick = view.pile("taken"), view.pile("trick")
    tricks = [taken[at : at + options.seats] for at in range(0, len(taken), options.seats)]
    trumps = TRUMPS[shown_trump(view)]
    passed = sum(1 << call.seat for call in view.calls if isinstance(call.action, Pass))
    bidder = NOBODY if view.contract.declarer is None else view.contract.declarer
    hands, exchange = _dealt(observation, options, _barred(options, trumps, [*tricks, trick]), randrange)
    state = OneTenState(
        options=options,
        progress=Progress(view.round_number, view.dealer, tuple(seat.score for seat in view.seats)),
        phase=view.phase,
        to_act=view.seats_to_act,
        hands=hands,
        auction=Auction(view.calls, bidder, view.contract.amount or 0, passed),
        exchange=exchange,
        trick=trick,
        taken=taken,
        winners=tuple(seat for done in tricks if (seat := done[taking(trumps, done)].seat) is not None),
    )
    return state if state.phase != "kitty" or state.auction.bidder == observation.seat else _with_kitty_taken_up(state)


def evaluate(before: OneTenState, after: OneTenState) -> tuple[float, ...]:
    """Return the points gained, with open tricks, against the others' average; at the end the win, too."""
    gained = [late - early for early, late in zip(_standing(before), _standing(after), strict=True)]
    span = 2 * (TRICK_POINTS * after.options.tricks + BONUS_POINTS)
    values = relative_to_others(gained, span)
    if not after.progress.ranking:
        return tuple(values)
    return tuple((value + (seat in after.progress.ranking[0])) / 2 for seat, value in enumerate(values))


def _standing(state: OneTenState) -> list[int]:
    """Return scores, and the points of the tricks in a round that is not scored yet."""
    won = state.winners if state.phase == "tricks" else ()
    return [total + TRICK_POINTS * won.count(seat) for seat, total in enumerate(state.progress.totals)]


def _barred(options: OneTenOptions, trumps: Trumps, tricks: Tricks) -> list[int]:
    """Return by seat the cards that it cannot hold, as shown by a plain card of its own (110-PLAY-2 to -6)."""
    barred = [0] * options.seats
    for trick in tricks:
        forced = 0
        for card, seat in trick:
            led = trumps.led[trick[0].card]
            if seat is not None and not trumps.trumps >> card & 1 and card != trick[0].card:
                if trumps.led[card] != led:
                    barred[seat] |= trumps.ordinary if led == trumps.suit else trumps.plain[led]
                if options.forced_in_any_trick or led == trumps.suit:
                    barred[seat] |= forced
            if options.forced_by_any_card or card == trick[0].card:
                forced |= trumps.forces[card]
    return barred


def _remembered(view: View) -> tuple[Card, ...]:
    """Return the cards that the seat put away and that were shuffled below the stock then (110-VIS-2)."""
    for mark in view.marks:
        match mark:
            case Mark("put_away", _, CardsValue(cards)):
                return cards
    return ()


def _dealt(
    observation: Observation, options: OneTenOptions, barred: Sequence[int], randrange: RandomSource
) -> tuple[tuple[int, ...], Exchange]:
    """Return hands with the seat's own cards, and hidden ones for all other hands and the face-down piles."""
    unseen = cards_left(options.deck, observation.view.cards_seen(observation.seat))
    stock, drawn = _stock_of_remembered(observation, unseen, barred, randrange)
    last = (observation.seat - 1) % options.seats
    lacking = [mask & ~drawn if seat == last else mask | drawn for seat, mask in enumerate(barred)]
    hands, rest = deal_around(observation, cards_left(options.deck, stock), lacking, randrange, drawn)
    return tuple(map(hand_of, hands)), _exchange(observation.view, stock, rest)


def _stock_of_remembered(
    observation: Observation, unseen: list[Card], barred: Sequence[int], randrange: RandomSource
) -> tuple[tuple[Card, ...], int]:
    """Return the stock if it has remembered cards only, and a bit set of the one that was drawn and is still hidden.

    All nine cards of three swaps were drawn, the ninth by the last seat from the bid winner's cards (110-SWAP-6).
    """
    remembered = _remembered(observation.view)
    hidden = [value for value in remembered if value in unseen]
    if not hidden or len(hidden) < len(remembered):
        return tuple(hidden), 0
    drawn = [value for value in hidden if not barred[observation.seat - 1] >> value & 1] or hidden
    taken = drawn[randrange(len(drawn))]
    hidden.remove(taken)
    return tuple(hidden), 1 << taken


def _exchange(view: View, stock: tuple[Card, ...], hidden: list[Card]) -> Exchange:
    """Return the face-down piles: cards that the seat knows, or the stock, and hidden ones for the rest."""
    piles: dict[tuple[str, Seat | None], tuple[Card, ...]] = {("stock", None): stock}
    for pile in view.piles:
        place = pile.name, pile.owner
        if pile.face_down and not piles.get(place):
            known = tuple(laid.card for laid in pile.cards)
            piles[place] = known or tuple(hidden.pop() for _ in range(pile.card_count))
    return Exchange(
        kitty=piles.get(("kitty", None), ()),
        stock=piles["stock", None],
        put_away=tuple(sorted(piles.get(("put_away", None), ()))),
        discards=tuple(tuple(sorted(piles.get(("discards", seat), ()))) for seat in range(len(view.seats))),
        trump=shown_trump(view),
        remembered=_remembered(view),
    )


def _with_kitty_taken_up(state: OneTenState) -> OneTenState:
    """Return the state in which another bid winner has the kitty, and has kept the best cards if they have acted."""
    bidder, exchange = state.auction.bidder, state.exchange
    held = hand_of((*cards_in(state.hands[bidder]), *exchange.kitty))
    exchange = exchange._replace(kitty=())
    if bidder not in state.to_act:
        suits = tuple(range(UNNAMED)) if exchange.trump == UNNAMED else (exchange.trump,)
        keep = best_keep(cards_in(held), state.options.tricks, suits)
        away = cards_in(taken_out(held, keep.cards) or 0)
        held = hand_of(keep.cards)
        exchange = exchange._replace(put_away=away, trump=keep.trump)
    hands = (*state.hands[:bidder], held, *state.hands[bidder + 1 :])
    return state._replace(hands=hands, exchange=exchange)
