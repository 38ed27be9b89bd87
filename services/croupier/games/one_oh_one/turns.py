"""The turns of 101: an action or a reshuffle, the cards to take, and the seat to act next."""

from croupier.games.actions import PLAYS, Action, Draw, Play
from croupier.games.cards import cards_of_mask
from croupier.games.facts import Fact, Seat, TurnChanged
from croupier.games.interface import NOTHING_LEGAL, CardsShuffled, Legal
from croupier.games.one_oh_one import legality, play, rounds, stock
from croupier.games.one_oh_one.effects import IS_QUEEN
from croupier.games.one_oh_one.state import NOBODY, OneOhOneState, Owed


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
    facts: list[Fact] = []
    if isinstance(action, Play):
        state, owed = play.played(before, seat, action, facts)
    else:
        state, owed = play.drawn(before, seat, facts)
    if owed.card_count:
        state = stock.take(state, owed, facts)
    return _go_on(state, owed.turn, facts)


def reshuffle(before: OneOhOneState, owed: Owed, event: CardsShuffled) -> tuple[OneOhOneState, tuple[Fact, ...]]:
    """Return the state after a reshuffle for the cards that a seat still has to take."""
    facts: list[Fact] = []
    return _go_on(stock.resume(before, owed, event, facts), owed.turn, facts)


def _go_on(state: OneOhOneState, turn: Seat, facts: list[Fact]) -> tuple[OneOhOneState, tuple[Fact, ...]]:
    """Let the next seat act, or end the round, unless a reshuffle comes first."""
    if state.owed:
        return state, tuple(facts)
    if turn == NOBODY:
        return rounds.finished(state, facts), tuple(facts)
    facts.append(_TURN[turn])
    return state._replace(turn=turn), tuple(facts)


_DRAW = Draw()
_DRAW_ONLY = Legal((_DRAW,))
_PLAYS_OF: tuple[tuple[Action, ...], ...] = tuple(
    tuple(Play(value, suit) for suit in range(4)) if IS_QUEEN[value] else (PLAYS[value],) for value in range(52)
)
_TURN = tuple(TurnChanged("play", (seat,)) for seat in range(4))
