"""The exchange of cards before a later round: who is behind gives the best cards, who is ahead returns any."""

from croupier.games import facts
from croupier.games.actions import Action, StandPat, SwapCards
from croupier.games.cards import Card
from croupier.games.choices import ActionChoice, CardChoice
from croupier.games.facts import Fact, MoveReason, Seat
from croupier.games.hands import cards_in, taken_out, with_cards
from croupier.games.interface import IllegalAction, Legal
from croupier.games.values import CardsValue
from croupier_president.state import Pair, PresidentOptions, PresidentState, rank_of

TWO_PAIR_SEATS = 4
"""So many seats or more have two pairs that exchange cards."""
_SWAP = SwapCards(())


def pairs_of(options: PresidentOptions, order: tuple[Seat, ...]) -> tuple[Pair, ...]:
    """Return the pairs that exchange cards after a round with this finishing order, () after none (PRES-EXCH-1)."""
    if options.exchange == "none" or not order:
        return ()
    if options.exchange == "double" and options.seats >= TWO_PAIR_SEATS:
        return Pair(order[-1], order[0], 2), Pair(order[-2], order[1], 1)
    return (Pair(order[-1], order[0], 1),)


def worth(value: Card) -> tuple[int, int]:
    """Return what orders cards by how good they are to get: rank, and among equal ranks suit (PRES-EXCH-2)."""
    return rank_of(value), value


def best_cards(hand: int, count: int) -> tuple[Card, ...]:
    """Return the best cards of a hand, ascending (PRES-EXCH-2)."""
    return tuple(sorted(sorted(cards_in(hand), key=worth)[-count:]))


def legal(state: PresidentState, seat: Seat) -> Legal:
    """Return the one choice of a seat that is to act; a giver can choose only one set of cards."""
    pair = _pair(state, seat)
    hand, count = state.hands[seat], pair.card_count
    cards = best_cards(hand, count) if seat == pair.giver else cards_in(hand)
    return Legal(choices=(ActionChoice(_SWAP, CardChoice(cards, count, count)),))


def act(state: PresidentState, seat: Seat, action: Action) -> tuple[PresidentState, list[Fact]]:
    """Return the table after a seat that is to act has handed cards over, and what became known; raises IllegalAction.

    While others are to act, the last fact says who; if nobody is, the first lead is due (PRES-EXCH-6).
    """
    pair = _pair(state, seat)
    cards = tuple(sorted(_checked(state, pair, seat, action)))
    partner = pair.partner(seat)
    hand = taken_out(state.hands[seat], cards) or 0
    following = {partner} if seat == pair.giver else set[Seat]()
    after = state.with_hand(seat, hand).with_hand(partner, with_cards(state.hands[partner], cards))
    after = after._replace(
        to_act=tuple(sorted({*state.to_act} - {seat} | following)),
        given=(*state.given[:seat], cards, *state.given[seat + 1 :]),
    )
    news = _handed_over(seat, partner, cards)
    if after.to_act:
        news.append(facts.TurnChanged("exchange", after.to_act))
    return after, news


def _handed_over(seat: Seat, partner: Seat, cards: tuple[Card, ...]) -> list[Fact]:
    """Return the facts of cards that go from hand to hand, of which others learn the number only (PRES-VIS-3).

    The cards go through the box: the giver's view has no known cards of the receiver, which only two would know.
    """
    return [
        facts.CardsMoved(seat, None, cards, len(cards), MoveReason.SWAP, facts.only(seat)),
        facts.CardsMoved(seat, None, (), len(cards), MoveReason.SWAP, facts.all_but(seat)),
        *facts.moves_to_hand(None, partner, cards, MoveReason.SWAP),
        facts.MarkChanged(given_mark(seat, cards), facts.only(seat) | facts.only(partner)),
    ]


def given_mark(seat: Seat, cards: tuple[Card, ...]) -> facts.Mark:
    """Return the mark by which both of a pair still know the cards that a seat gave (PRES-VIS-3)."""
    return facts.Mark("given", seat, CardsValue(cards))


def _pair(state: PresidentState, seat: Seat) -> Pair:
    pair = state.pair_of(seat)
    assert pair is not None, f"seat {seat} is to act without a pair"  # noqa: S101 - only seats of pairs are to act
    return pair


def _checked(state: PresidentState, pair: Pair, seat: Seat, action: Action) -> tuple[Card, ...]:
    """Return the cards to hand over; every refusal depends only on what the acting seat knows."""
    if not isinstance(action, SwapCards | StandPat):
        raise IllegalAction("PRES-EXCH-5", "hand cards over")
    cards = action.cards if isinstance(action, SwapCards) else ()
    if len(cards) != pair.card_count or taken_out(state.hands[seat], cards) is None:
        raise IllegalAction("PRES-EXCH-3", f"hand over {pair.card_count} of your own cards, each named once")
    if seat == pair.giver and {*cards} != {*best_cards(state.hands[seat], pair.card_count)}:
        raise IllegalAction("PRES-EXCH-2", "give your best cards")
    return cards
