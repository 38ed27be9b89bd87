"""Points, bonuses, the next dealer and the end of a game of Gin Rummy."""

from typing import NamedTuple

from croupier.games import facts
from croupier.games.facts import Count, Fact, Mark, Ranking, RoundScore, Seat
from croupier.games.standings import ranked
from croupier.games.values import NumberValue, Phrase, Phrases, PointsValue, SeatValue, WordValue, phrase
from croupier_gin_rummy.melds import points_of
from croupier_gin_rummy.state import NOBODY, SEATS, GinOptions, GinState, Progress, changed, other

BIG_GIN_BONUS = 31
GAME_BONUS, SHUTOUT_BONUS = 100, 200
BOX_BONUS = 20
END_RULES = {"target": "GIN-END-1", "max_rounds": "GIN-END-2"}
Points = tuple[int, ...]
"""A number by seat."""
NONE: Points = (0,) * SEATS


class Ending(NamedTuple):
    """How a hand ended: "knock", "gin", "big_gin", "undercut" or "stock", and what it brings its winner."""

    name: str
    winner: Seat = NOBODY
    points: int = 0
    bonus: int = 0


class Bonuses(NamedTuple):
    """The bonuses at the end of a game by seat: for the game and for boxes (GIN-END-3)."""

    game: Points = NONE
    boxes: Points = NONE


def won(state: GinState, news: list[Fact]) -> GinState:
    """Return the table after a hand with a knock."""
    return _scored(state, ending_of(state), news)


def unwon(state: GinState, news: list[Fact]) -> GinState:
    """Return the table after a hand without a knock (GIN-STOCK-1, GIN-SCORE-5)."""
    return _scored(state, Ending("stock"), news)


def ending_of(state: GinState) -> Ending:
    """Return how a hand ended in which all melds are laid (GIN-SCORE-1 to GIN-SCORE-4)."""
    knocker, options = state.knocker, state.options
    own, others = points_of(state.hands[knocker]), points_of(state.hands[other(knocker)])
    if state.knock != "knock":
        bonus = BIG_GIN_BONUS if state.knock == "big_gin" else options.gin_bonus
        return Ending(state.knock, knocker, others + bonus, bonus)
    if own < others:
        return Ending("knock", knocker, others - own)
    bonus = options.undercut_bonus
    return Ending("undercut", other(knocker), own - others + bonus, bonus)


def _scored(state: GinState, ending: Ending, news: list[Fact]) -> GinState:
    before, options = state.progress, state.options
    points = changed(NONE, ending.winner, ending.points) if ending.winner >= 0 else NONE
    boxes = _with_box(before.boxes, ending.winner)
    totals = _sums(before.totals, points)
    reason = end_reason(options, before.round_number, totals)
    bonuses = end_bonuses(options, totals, boxes, reason)
    points = _sums(points, bonuses.game, bonuses.boxes)
    dealer = next_dealer(options, before.dealer, ending.winner)
    progress = before._replace(totals=_sums(before.totals, points), boxes=boxes, next_dealer=dealer, reason=reason)
    state = state._replace(progress=progress, phase="over" if reason else "deal", turn=NOBODY)
    news.append(facts.RoundEnded(sheet_line(state, ending, points, bonuses)))
    news += [fact for fact in box_facts(boxes) if fact.mark.seat == ending.winner]
    news.append(facts.TurnChanged(state.phase, ()))
    if reason:
        news.append(facts.GameEnded(ranking(progress), reason))
    return state


def _with_box(boxes: Points, winner: Seat) -> Points:
    return boxes if winner == NOBODY else changed(boxes, winner, boxes[winner] + 1)


def _sums(*lines: Points) -> Points:
    return tuple(map(sum, zip(*lines, strict=True)))


def box_facts(boxes: Points) -> list[facts.MarkChanged]:
    """Return the facts of boxes, of those seats that have any."""
    return [facts.MarkChanged(mark) for mark in box_marks(boxes)]


def box_marks(boxes: Points) -> list[Mark]:
    """Return the marks of boxes, of those seats that have any."""
    return [Mark("boxes", seat, NumberValue(count)) for seat, count in enumerate(boxes) if count]


def end_reason(options: GinOptions, round_number: int, totals: Points) -> str:
    """Return why the game is over after a hand, "" if it is not (GIN-END-1, GIN-END-2)."""
    if max(totals) >= options.target:
        return "target"
    return "max_rounds" if round_number == options.max_rounds else ""


def end_bonuses(options: GinOptions, totals: Points, boxes: Points, reason: str) -> Bonuses:
    """Return the bonuses that are added after a hand (GIN-END-3)."""
    if not reason or not options.end_bonuses:
        return Bonuses()
    game = NONE
    if reason == "target":
        leader = totals.index(max(totals))
        game = changed(NONE, leader, GAME_BONUS if totals[other(leader)] else SHUTOUT_BONUS)
    return Bonuses(game, tuple(BOX_BONUS * count for count in boxes))


def next_dealer(options: GinOptions, dealer: Seat, winner: Seat) -> Seat:
    """Return who deals the next hand (GIN-DEAL-4)."""
    if winner == NOBODY:
        return dealer
    if options.next_dealer == "alternate":
        return other(dealer)
    return winner if options.next_dealer == "winner" else other(winner)


def ranking(progress: Progress) -> Ranking:
    """Return the seats by score, the higher one first (GIN-END-4)."""
    return ranked(range(SEATS), lambda seat: -progress.totals[seat])


def ranking_at_limit(state: GinState) -> Ranking | None:
    """Return the ranking by the hands so far; None if nobody has a point (GIN-END-5)."""
    return ranking(state.progress) if any(state.progress.totals) else None


def sheet_line(state: GinState, ending: Ending, points: Points, bonuses: Bonuses) -> RoundScore:
    """Return the line of a hand for people and for programs (GIN-SCORE-6)."""
    progress, knocker = state.progress, state.knocker
    details = [Mark("ending", None, WordValue(ending.name))]
    if knocker >= 0:
        details.append(Mark("knocker", None, SeatValue(knocker)))
        details.append(Mark("deadwood", None, PointsValue(tuple(map(points_of, state.hands)))))
    if ending.bonus:
        details.append(Mark("bonus", None, NumberValue(ending.bonus)))
    if any(bonuses.game):
        details.append(Mark("game_bonus", None, PointsValue(bonuses.game)))
    if any(bonuses.boxes):
        details.append(Mark("box_bonus", None, PointsValue(bonuses.boxes)))
    notes = tuple(_note(state, ending, bonuses, seat) for seat in range(SEATS))
    headline = (_headline(ending, knocker),)
    return RoundScore(
        progress.round_number, points, progress.totals, notes, headline, tuple(details), _counts(ending, knocker)
    )


def _headline(ending: Ending, knocker: Seat) -> Phrase:
    match ending.name:
        case "stock":
            return phrase("no_knock")
        case "gin":
            return phrase("went_gin", seat=SeatValue(knocker))
        case "big_gin":
            return phrase("went_big_gin", seat=SeatValue(knocker))
        case "undercut":
            return phrase("undercut_by", seat=SeatValue(ending.winner))
        case _:
            return phrase("knock_by", seat=SeatValue(knocker))


def _note(state: GinState, ending: Ending, bonuses: Bonuses, seat: Seat) -> Phrases:
    note = []
    if state.knocker >= 0:
        note.append(phrase("deadwood", points=NumberValue(points_of(state.hands[seat]))))
    if ending.bonus and seat == ending.winner:
        note.append(phrase("bonus", points=NumberValue(ending.bonus)))
    if bonuses.game[seat]:
        note.append(phrase("for_game", points=NumberValue(bonuses.game[seat])))
    if bonuses.boxes[seat]:
        note.append(phrase("for_boxes", points=NumberValue(bonuses.boxes[seat])))
    return tuple(note)


def _counts(ending: Ending, knocker: Seat) -> tuple[Count, ...]:
    match ending.name:
        case "stock":
            return ()
        case "gin" | "big_gin":
            return Count("rounds_won", knocker), Count("gins", knocker)
        case "undercut":
            won_by = ending.winner
            return Count("rounds_won", won_by), Count("knocks", knocker), Count("undercuts", won_by)
        case _:
            return Count("rounds_won", knocker), Count("knocks", knocker)
