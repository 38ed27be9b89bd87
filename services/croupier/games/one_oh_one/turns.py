"""The turns of 101: an action or a reshuffle, the cards to take, and the seat to act next or the end of a round."""

from croupier.games import facts
from croupier.games.actions import PLAYS, Action, Draw, Play
from croupier.games.cards import cards_of_mask
from croupier.games.facts import Fact, Seat
from croupier.games.hands import cards_in
from croupier.games.interface import NOTHING_LEGAL, CardsShuffled, Legal
from croupier.games.one_oh_one import legality, play, scoring, stock
from croupier.games.one_oh_one.effects import IS_QUEEN
from croupier.games.one_oh_one.state import NOBODY, OneOhOneState, Owed, Progress, around, circle


def legal_actions(state: OneOhOneState, seat: Seat) -> Legal:
    """Return the cards that a seat may play now, ascending, each queen with every suit; or to draw."""
    if seat != state.turn or seat < 0:
        return NOTHING_LEGAL
    playable = legality.playable(state, state.hands[seat])
    if not playable:
        return _DRAW_ONLY
    actions = [action for value in cards_of_mask(playable) for action in _PLAYS_OF[value]]
    return Legal((*actions, _DRAW) if legality.may_draw_instead(state) else tuple(actions))


def act(before: OneOhOneState, seat: Seat, action: Action) -> tuple[OneOhOneState, tuple[Fact, ...]]:
    """Return the state after an action, and its facts; raises IllegalAction."""
    legality.check(before, seat, action)
    news: list[Fact] = []
    if isinstance(action, Play):
        state, owed = play.played(before, seat, action, news)
    else:
        state, owed = play.drawn(before, seat, news)
    if owed.card_count:
        state = stock.take(state, owed, news)
    return _go_on(state, owed.turn, news)


def reshuffle(before: OneOhOneState, owed: Owed, event: CardsShuffled) -> tuple[OneOhOneState, tuple[Fact, ...]]:
    """Return the state after a reshuffle for the cards that a seat still has to take."""
    news: list[Fact] = []
    return _go_on(stock.resume(before, owed, event, news), owed.turn, news)


def _go_on(state: OneOhOneState, turn: Seat, news: list[Fact]) -> tuple[OneOhOneState, tuple[Fact, ...]]:
    """Let the next seat act, or end the round, unless a reshuffle comes first."""
    if state.owed:
        return state, tuple(news)
    if turn == NOBODY:
        return _finished(state, news), tuple(news)
    news.append(_TURN[turn])
    return state._replace(turn=turn), tuple(news)


def _finished(state: OneOhOneState, news: list[Fact]) -> OneOhOneState:
    """Return the table after a round that was won with the top card (101-LAST-1, 101-SCORE-1)."""
    progress, options = state.progress, state.options
    playing = around(progress.following, progress.starter)
    result = scoring.scored(options, progress.totals, playing, state.hands, state.pile[-1].card)
    winner = result.winner
    dropping = scoring.by_score(result.losers, result.totals) if options.elimination else ()
    dropped = dropping + progress.dropped
    reason = scoring.end_reason(options, progress.round_number, result.losers, options.seats - sum(map(len, dropped)))
    after = Progress(progress.round_number, winner, result.totals, circle(options.seats, dropped), dropped, reason)
    state = state._replace(progress=after)
    news += [facts.HandRevealed(seat, cards_in(hand)) for seat, hand in enumerate(state.hands) if hand]
    news.append(facts.RoundEnded(scoring.sheet_line(progress, result, options.elimination)))
    places = scoring.places(options.seats, dropped)
    news += [facts.SeatOut(seat, places[seat]) for group in dropping for seat in group]
    if winner != progress.starter:
        news.append(facts.MarkChanged(facts.Mark("starter", None, str(winner))))
    news.append(facts.TurnChanged(state.phase, ()))
    if reason:
        news.append(facts.GameEnded(scoring.ranking(after), reason))
    return state


_DRAW = Draw()
_DRAW_ONLY = Legal((_DRAW,))
_PLAYS_OF: tuple[tuple[Action, ...], ...] = tuple(
    tuple(Play(value, suit) for suit in range(4)) if IS_QUEEN[value] else (PLAYS[value],) for value in range(52)
)
_TURN = facts.turns_of("play")
