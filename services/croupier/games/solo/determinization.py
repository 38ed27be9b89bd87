"""Determinization and evaluation of Solo for searching players."""

from typing import NamedTuple

from croupier.games.actions import CallPartner, NameTrump
from croupier.games.cards import Card, cards_of_mask, mask_of, suit_of
from croupier.games.facts import PileCard, Seat, View
from croupier.games.hidden import HiddenPlace, deal_hidden
from croupier.games.interface import Observation, RandomSource
from croupier.games.solo.deck import ACES, ALL, BLACK_QUEENS, FOLLOWING, PLAIN
from croupier.games.solo.scoring import buck
from croupier.games.solo.state import (
    KINDS,
    NOBODY,
    SEATS,
    THROUGH,
    UNKNOWN_CARD,
    UNSETTLED,
    Progress,
    SoloContract,
    SoloOptions,
    SoloState,
)
from croupier.games.standings import clamped, relative_to_others
from croupier.games.values import CardsValue, NumberValue

SCALE = 24
"""The lead over the others, in points, that makes a hand as good as can be."""
PER_TRICK = 0.04
"""The worth of a trick more than the other side has, in the middle of a hand."""


class _Knowledge(NamedTuple):
    """The knowledge of a seat: its own hand, the cards on the table in order, and all others."""

    seat: Seat
    view: View
    own: int
    piles: dict[str, tuple[PileCard, ...]]
    unseen: int


def determinize(observation: Observation, randrange: RandomSource) -> SoloState:
    """Return a table that looks the same to the seat to act; others lack suits that they did not follow."""
    seat, _, view, _ = observation
    piles = {pile.name: pile.cards for pile in view.piles}
    knowledge = _Knowledge(seat, view, mask_of(view.seats[seat].cards), piles, ALL & ~mask_of(view.cards_seen(seat)))
    contract = _contract(knowledge, randrange)
    hands = _hands(knowledge, contract, randrange)
    if contract.called != UNSETTLED and contract.partner == NOBODY:
        holder = next(other for other, hand in enumerate(hands) if hand >> contract.called & 1)
        contract = contract._replace(partner=holder)
    calls = view.calls
    if any(mark.name == "called_card" for mark in view.marks):
        # In their public form: the seat may know the unknown card.
        unknown = CallPartner(None)
        calls = tuple(
            [call._replace(action=unknown) if isinstance(call.action, CallPartner) else call for call in calls]
        )
    out_since = {mark.seat: mark.value.number for mark in view.marks if isinstance(mark.value, NumberValue)}
    went_out = tuple(out_since.get(other, 0) for other in range(SEATS))
    return SoloState(
        SoloOptions.of(observation.options),
        Progress(view.round_number, _settled(view.dealer), tuple(held.score for held in view.seats), went_out, 1),
        view.phase,
        view.seats_to_act[0],
        hands,
        calls,
        contract,
        piles.get("trick", ()),
        piles.get("taken", ()),
        tuple(held.tricks_taken for held in view.seats),
        THROUGH in view.marks,
    )


def evaluate(before: SoloState, after: SoloState) -> tuple[float, ...]:
    """Return 0 for the Buck up to 1: points gained against the others' mean, and in mid-hand the tricks ahead."""
    gains = [new - old for new, old in zip(after.progress.totals, before.progress.totals, strict=True)]
    values = relative_to_others(gains, 2 * SCALE)
    if (last := buck(after.progress.totals)) is not None:
        return tuple(0.0 if seat == last else 0.5 + value / 2 for seat, value in enumerate(values))
    contract = after.contract
    if after.to_act == NOBODY or not any(after.tricks):
        return tuple(values)
    ahead = 2 * sum(after.tricks[seat] for seat in contract.side) - sum(after.tricks)
    lean = PER_TRICK * ahead
    return tuple(clamped(value + (lean if seat in contract.side else -lean)) for seat, value in enumerate(values))


def _contract(knowledge: _Knowledge, randrange: RandomSource) -> SoloContract:
    """Return the contract as far as the seat knows it; an unknown card is any ace that it may be."""
    known = knowledge.view.contract
    if known.declarer is None or known.name is None:
        return SoloContract()
    actions = [call.action for call in knowledge.view.calls]
    do = KINDS[known.name].do or any(isinstance(action, NameTrump) and action.all_tricks for action in actions)
    called = next((action for action in actions if isinstance(action, CallPartner)), None)
    contract = SoloContract(known.declarer, known.name, _settled(known.trump), do, partner=_settled(known.partner))
    if called is None:
        return contract
    if called.card is not None:
        return contract._replace(called=called.card)
    shown = next((mark.value.cards[0] for mark in knowledge.view.marks if isinstance(mark.value, CardsValue)), None)
    return contract._replace(called=_some_ace(knowledge, contract, randrange) if shown is None else shown)


def _settled(known: int | None) -> int:
    return UNSETTLED if known is None else known


def _some_ace(knowledge: _Knowledge, contract: SoloContract, randrange: RandomSource) -> Card:
    """Return an ace that may be the unknown one: unseen, and of a suit that the declarer did not play (SOLO-CALL-4)."""
    aces = [ace for ace in ACES if suit_of(ace) != contract.trump and knowledge.unseen >> ace & 1]
    laid = [laid for cards in knowledge.piles.values() for laid in cards]
    shown = mask_of(card for card, seat in laid if seat == contract.declarer)
    likely = [ace for ace in aces if not shown & PLAIN[suit_of(ace)]] or aces
    return likely[randrange(len(likely))]


def _hands(knowledge: _Knowledge, contract: SoloContract, randrange: RandomSource) -> tuple[int, ...]:
    """Return hands with the seat's own cards: first those that are certain, the rest at random where they may be."""
    hands = [knowledge.own if seat == knowledge.seat else 0 for seat in range(SEATS)]
    barred = _voids(knowledge, contract)
    if contract.stands:
        _place(knowledge, contract, hands, barred, randrange)
    seats = enumerate(knowledge.view.seats)
    places = [HiddenPlace(seat.card_count - hands[s].bit_count(), barred[s]) for s, seat in seats]
    rest = knowledge.unseen
    for hand in hands:
        rest &= ~hand
    dealt = deal_hidden(cards_of_mask(rest), places, randrange)
    return tuple([hand | mask_of(cards) for hand, cards in zip(hands, dealt, strict=True)])


def _place(
    knowledge: _Knowledge, contract: SoloContract, hands: list[int], barred: list[int], randrange: RandomSource
) -> None:
    """Put the queens of a wedding, the called card, and the aces beside an unknown one into their certain hands."""
    declarer, called = contract.declarer, contract.called
    if contract.bid == "wedding":
        hands[declarer] |= knowledge.unseen & BLACK_QUEENS
    if called == UNSETTLED or not knowledge.unseen >> called & 1:
        return
    if UNKNOWN_CARD in knowledge.view.marks and declarer != knowledge.seat:
        hands[declarer] |= knowledge.unseen & mask_of(ACES) & ~PLAIN[contract.trump] & ~(1 << called)
        barred[declarer] |= PLAIN[suit_of(called)]
    hands[_holder(knowledge, contract, called, barred, randrange)] |= 1 << called


def _holder(
    knowledge: _Knowledge, contract: SoloContract, called: Card, barred: list[int], randrange: RandomSource
) -> Seat:
    """Return a possible holder of the called card, which the seat does not see."""
    if contract.partner != NOBODY:
        return contract.partner
    able = [
        seat
        for seat, held in enumerate(knowledge.view.seats)
        if seat not in (knowledge.seat, contract.declarer) and held.card_count
    ]
    likely = [seat for seat in able if not barred[seat] >> called & 1] or able
    return likely[randrange(len(likely))]


def _voids(knowledge: _Knowledge, contract: SoloContract) -> list[int]:
    """Return for each seat the cards of suits that it did not follow (SOLO-PLAY-2)."""
    barred = [0] * SEATS
    if contract.trump == UNSETTLED:
        return barred
    laid = knowledge.piles.get("taken", ()) + knowledge.piles.get("trick", ())
    for at, (card, seat) in enumerate(laid):
        following = FOLLOWING[contract.trump][laid[at - at % SEATS].card]
        if seat is not None and not following >> card & 1:
            barred[seat] |= following
    return barred
