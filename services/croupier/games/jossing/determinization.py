"""Determinization and evaluation of Jøssing for searching players."""

from collections.abc import Sequence

from croupier.games.actions import Bid
from croupier.games.cards import Card
from croupier.games.facts import Call, PileCard
from croupier.games.hands import cards_left, hand_of
from croupier.games.hidden import deal_around
from croupier.games.interface import Observation, RandomSource
from croupier.games.jossing.bots import HiddenCards, best_bid
from croupier.games.jossing.scoring import hit_points
from croupier.games.jossing.state import JossingOptions, JossingState, SeatBid, Section
from croupier.games.standings import relative_to_others


def determinize(observation: Observation, randrange: RandomSource) -> JossingState:
    """Return a table that looks the same to the seat to act; secret bids are those of a sensible player."""
    view = observation.view
    options = JossingOptions.of(len(view.seats), observation.options)
    section = Section.of(options, view.round_number, view.pile("indicator")[0].card)
    trick, taken = view.pile("trick"), view.pile("taken")
    voids = _voids(options, (*taken, *trick))
    dealt, _ = deal_around(observation, options.deck, voids, randrange)
    playing = view.phase == "play"
    first = view.seats_to_act[0]
    return JossingState(
        options=options,
        section=section,
        totals=tuple([seat.score for seat in view.seats]),
        hands=tuple(map(hand_of, dealt)),
        bidders=() if playing else view.seats_to_act,
        bids=tuple([SeatBid(call.seat, _bid(call, section, options, dealt[call.seat])) for call in view.calls]),
        queue=options.clockwise(first)[: options.seats - len(trick)] if playing else (),
        trick=trick,
        taken=taken,
        won=tuple([seat.tricks_taken for seat in view.seats]),
    )


def evaluate(before: JossingState, after: JossingState) -> tuple[float, ...]:
    """Return 0.5 for gains like the others' average, more for better ones: points gained, or yet to be gained."""
    options = before.options
    sections = range(before.section.number, after.section.number + 1)
    most = sum(hit_points(options.size(number), options.modern) for number in sections if number) or 1
    gained: list[float] = [new - old for new, old in zip(after.totals, before.totals, strict=True)]
    if after.queue:
        # A bid that can still be hit counts half.
        left = after.section.size - sum(after.won)
        for seat, (bid, won) in enumerate(zip(after.amounts, after.won, strict=True)):
            gained[seat] += hit_points(bid, options.modern) / 2 * (won <= bid <= won + left)
    return tuple(relative_to_others(gained, 2 * most))


def _voids(options: JossingOptions, played: Sequence[PileCard]) -> list[int]:
    """Return the suits that each seat did not follow, as bit sets of their cards; `played` has trick after trick."""
    voids = [0] * options.seats
    for at, laid in enumerate(played):
        led = played[at - at % options.seats].card // 13
        if laid.seat is not None and laid.card // 13 != led:
            voids[laid.seat] |= 0x1FFF << 13 * led
    return voids


def _bid(call: Call, section: Section, options: JossingOptions, hand: Sequence[Card]) -> int:
    """Return a bid that the seat knows, or that of a sensible player with the dealt hand."""
    if isinstance(call.action, Bid) and isinstance(call.action.bid, int):
        return call.action.bid
    unseen = cards_left(options.deck, (*hand, section.indicator))
    hidden = HiddenCards(section.trump, hand_of(unseen), (section.size,) * (options.seats - 1))
    leads = options.leader == "left_of_dealer" and call.seat == options.left_of(section.dealer)
    return best_bid(hidden, hand, leads, range(section.size + 1), options.modern)
