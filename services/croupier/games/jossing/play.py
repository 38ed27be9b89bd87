"""The play of Jøssing: a card, the end of a trick, and the end of the section."""

from croupier.games import facts
from croupier.games.actions import PLAYS, Action, Bid, Play
from croupier.games.cards import NOTATION, Card, cards_of_mask
from croupier.games.facts import LAID, Fact, MoveReason, Seat
from croupier.games.hands import ONCE, SUIT_OF, without
from croupier.games.interface import IllegalAction, Legal
from croupier.games.jossing import scoring
from croupier.games.jossing.bidding import first_leader
from croupier.games.jossing.state import JossingState

END_REASON = "sections_played"


def legal_plays(state: JossingState, seat: Seat) -> Legal:
    """Return the plays that are legal for the seat whose turn it is, ascending by card."""
    return Legal(tuple([PLAYS[value] for value in cards_of_mask(_playable(state, state.hands[seat]) & ONCE)]))


def play(before: JossingState, seat: Seat, action: Action) -> tuple[JossingState, tuple[Fact, ...]]:
    """Return the state after a card was played, and its facts; raises IllegalAction."""
    card = _checked(before, seat, action)
    options, section, totals, hands, _, bids, _, _, taken, won = before
    hands = (*hands[:seat], without(hands[seat], card), *hands[seat + 1 :])
    trick, queue = (*before.trick, LAID[seat][card]), before.queue[1:]
    if queue:
        state = JossingState(options, section, totals, hands, (), bids, queue, trick, taken, won)
        return state, (_PLAYED[seat][card], _TURN[queue[0]])
    cards = tuple([played.card for played in trick])
    taker = (seat + 1 + scoring.winner(cards, section.trump, options.last_copy_wins)) % options.seats
    won = (*won[:taker], won[taker] + 1, *won[taker + 1 :])
    swept = facts.CardsMoved("trick", "taken", cards, len(cards), MoveReason.WIN)
    state = JossingState(options, section, totals, hands, (), bids, (), (), taken + trick, won)
    news = (_PLAYED[seat][card], swept, facts.TrickTaken(taker))
    if hands[taker]:
        return state._replace(queue=options.clockwise(taker)), (*news, _TURN[taker])
    return _score(state, news)


def _playable(state: JossingState, hand: int) -> int:
    return hand & SUIT_OF[state.trick[0].card] or hand if state.trick else hand


def _checked(state: JossingState, seat: Seat, action: Action) -> Card:
    """Return the card to be played; every refusal depends only on what the acting seat knows."""
    if isinstance(action, Bid) and not isinstance(action.bid, str):
        raise IllegalAction("JOS-BID-3", "the bids of this section are made and final")
    if not isinstance(action, Play) or action.suit is not None:
        raise IllegalAction("JOS-ACT-1", "the only action now is to play a card, without naming a suit")
    if state.queue[0] != seat:
        raise IllegalAction("JOS-PLAY-1", f"it is not the turn of seat {seat}")
    card, hand = action.card, state.hands[seat]
    if not 0 <= card < 52 or not hand >> card & 1:
        raise IllegalAction("JOS-PLAY-2", "play a card of your own hand")
    if not _playable(state, hand) >> card & 1:
        raise IllegalAction("JOS-PLAY-3", f"follow suit: {NOTATION[state.trick[0].card]} was led")
    return card


def _score(before: JossingState, news: tuple[Fact, ...]) -> tuple[JossingState, tuple[Fact, ...]]:
    """End the section (JOS-END-0), and perhaps the game (JOS-END-1)."""
    section, bids, won = before.section, before.amounts, before.won
    points = scoring.section_points(bids, won, before.options.modern)
    state = before._replace(totals=tuple(map(sum, zip(before.totals, points, strict=True))))
    ended = facts.RoundEnded(scoring.sheet_line(section, first_leader(state), bids, won, points, state.totals))
    phase = state.phase
    over = (facts.GameEnded(scoring.ranking(state.totals), END_REASON),) if phase == "over" else ()
    return state, (*news, ended, facts.TurnChanged(phase, ()), *over)


_PLAYED, _TURN = facts.plays_to("trick"), facts.turns_of("play")
