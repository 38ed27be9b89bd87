"""The tricks of 110: playable cards, the winner of a trick, and the end of a round."""

from croupier.games import facts
from croupier.games.actions import PLAYS, Action, Play
from croupier.games.cards import Card, cards_of_mask
from croupier.games.facts import LAID, Fact, MoveReason, PileCard, Seat
from croupier.games.hands import ONCE, holds, without
from croupier.games.interface import IllegalAction, Legal
from croupier.games.one_ten import scoring
from croupier.games.one_ten.state import OneTenState
from croupier.games.one_ten.trumps import Trumps, trumps_of


def legal(state: OneTenState, seat: Seat) -> Legal:
    """Return the cards that the seat may play, ascending."""
    return Legal(tuple([PLAYS[value] for value in cards_of_mask(_playable(state, state.hands[seat] & ONCE))]))


def _playable(state: OneTenState, hand: int) -> int:
    """Return the cards of a hand that may be played, by the first of 110-PLAY-1 to -6 that applies."""
    trick, trumps = state.trick, trumps_of(state)
    if not trick:
        return hand
    forced = _forced_out(state) & hand
    if forced and state.options.forced_in_any_trick:
        return forced
    plain = trumps.plain[led] if (led := trumps.led[trick[0].card]) != trumps.suit else 0
    if plain:
        return hand & (plain | trumps.trumps) if hand & plain else hand
    return hand & trumps.trumps if hand & trumps.ordinary or forced else hand


def _forced_out(state: OneTenState) -> int:
    """Return the cards that reneging cards of the trick force out of hands (110-REN-3, 110-REN-6)."""
    forced, forces = 0, trumps_of(state).forces
    for laid in state.trick if state.options.forced_by_any_card else state.trick[:1]:
        forced |= forces[laid.card]
    return forced


def taking(trumps: Trumps, trick: tuple[PileCard, ...]) -> int:
    """Return the index of the card that takes a trick, the earlier one of two equals (110-TRICK-5, 110-RANK-6)."""
    power = trumps.power[trumps.led[trick[0].card]]
    powers = [power[laid.card] for laid in trick]
    return powers.index(max(powers))


def act(state: OneTenState, seat: Seat, action: Action) -> tuple[OneTenState, tuple[Fact, ...]]:
    """Play a card; raises IllegalAction."""
    card = _checked(state, seat, action)
    hands = list(state.hands)
    hands[seat] = without(hands[seat], card)
    trick = (*state.trick, LAID[seat][card])
    if len(trick) < len(hands):
        following = seat + 1 if seat + 1 < len(hands) else 0
        turn = _TURNS[following]
        return state._replace(to_act=turn.seats_to_act, hands=tuple(hands), trick=trick), (_PLAYED[seat][card], turn)
    winner = (seat + 1 + taking(trumps_of(state), trick)) % len(hands)
    return _take(state._replace(hands=tuple(hands)), trick, winner, _PLAYED[seat][card])


def _checked(state: OneTenState, seat: Seat, action: Action) -> Card:
    if not isinstance(action, Play) or action.suit is not None:
        raise IllegalAction("110-TRICK-3", "play a card, and name no suit with it")
    card, hand = action.card, state.hands[seat]
    if not holds(hand, card):
        raise IllegalAction("110-PLAY-1", "play a card of your own hand")
    if not _playable(state, hand & ONCE) >> card & 1:
        raise _refused(state, hand)
    return card


def _refused(state: OneTenState, hand: int) -> IllegalAction:
    """Return the refusal of a card of a seat that follows; a leader may play any card of its hand (110-PLAY-1)."""
    trumps, options = trumps_of(state), state.options
    forced = _forced_out(state) & hand
    if forced and options.forced_in_any_trick:
        return IllegalAction("110-PLAY-2", "a higher reneging card lies in the trick: play one that it forces out")
    if trumps.led[state.trick[0].card] != trumps.suit:
        return IllegalAction("110-PLAY-3", "follow the suit that was led, or play a trump")
    if hand & trumps.ordinary:
        return IllegalAction("110-PLAY-4", "trumps were led: play a trump")
    return IllegalAction("110-PLAY-6", "a higher reneging card lies in the trick: play a trump")


def _take(
    state: OneTenState, trick: tuple[PileCard, ...], winner: Seat, played: facts.CardsMoved
) -> tuple[OneTenState, tuple[Fact, ...]]:
    """Move a complete trick to its winner, who leads to the next one, if there is one (110-TRICK-6, 110-END-1)."""
    cards = tuple([laid.card for laid in trick])
    moved = facts.CardsMoved("trick", "taken", cards, len(cards), MoveReason.WIN)
    turn = _TURNS[winner]
    winners = (*state.winners, winner)
    state = state._replace(to_act=turn.seats_to_act, trick=(), taken=state.taken + trick, winners=winners)
    if len(winners) < state.options.tricks:
        return state, (played, moved, facts.TrickTaken(winner), turn)
    return _end(state, [played, moved, facts.TrickTaken(winner)])


def _end(state: OneTenState, news: list[Fact]) -> tuple[OneTenState, tuple[Fact, ...]]:
    """Score the round; the game may be over (110-END-1, 110-END-4)."""
    options, progress, winner = state.options, state.progress, state.auction.bidder
    top = scoring.top_trump(trumps_of(state), state.taken, options.seats)
    line = scoring.scored(options, progress.totals, scoring.Round(winner, state.auction.amount, state.winners, top))
    totals = tuple(map(sum, zip(progress.totals, line.points, strict=True)))
    reason = scoring.reason_to_end(options, progress.round_number, totals)
    ranking = scoring.ranking(totals, scoring.game_winner(progress.totals, line)) if reason else ()
    state = state._replace(
        progress=progress._replace(totals=totals, ranking=ranking, reason=reason),
        phase="over" if reason else "deal",
        to_act=(),
    )
    news += [
        facts.RoundEnded(scoring.sheet_line(line, state.progress, state.exchange.trump)),
        facts.TurnChanged(state.phase, ()),
    ]
    if reason:
        news.append(facts.GameEnded(ranking, reason))
    return state, tuple(news)


_TURNS, _PLAYED = facts.turns_of("tricks"), facts.plays_to("trick")
