"""The record of a finished hand of Solo: a headline, notes, details, and counts for statistics."""

from typing import NamedTuple

from croupier.games.cards import cards_of_mask
from croupier.games.facts import Count, Mark, RoundScore, Seat
from croupier.games.solo import scoring
from croupier.games.solo.state import NOBODY, SEATS, UNSETTLED, SoloState
from croupier.games.values import (
    CardsValue,
    NumberValue,
    Phrases,
    PointsValue,
    SeatValue,
    SuitValue,
    Value,
    WordValue,
    phrase,
)


class Result(NamedTuple):
    """The end of a hand: `outcome` is "made", "failed" or "thrown_in", `value` the points per winner if it counts."""

    outcome: str
    reason: str
    value: int = 0
    void: bool = False


def sheet_line(state: SoloState, result: Result, totals: tuple[int, ...]) -> RoundScore:
    """Return the line of a hand, headed for example "froke, trump hearts, failed, four tricks lost"."""
    points = tuple([after - before for before, after in zip(state.progress.totals, totals, strict=True)])
    buck = scoring.buck(totals)
    return RoundScore(
        state.progress.hand_number,
        points,
        totals,
        tuple([_note(state, totals[seat], seat, seat == buck) for seat in range(SEATS)]),
        _headline(state, result),
        tuple(_details(state, result)),
        _counts(state, result, buck),
    )


def _headline(state: SoloState, result: Result) -> Phrases:
    contract = state.contract
    found = [phrase("contract", contract=WordValue(contract.bid))] if contract.stands else []
    if contract.trump != UNSETTLED:
        is_open = not contract.kind.clubs
        found += [phrase("trump", trump=SuitValue(contract.trump))] if is_open else []
        found += [phrase("do")] if contract.do and not contract.kind.do else []
        found += [phrase("alone")] if contract.is_alone else []
        found += [phrase("through")] if state.through else []
    found += [phrase(result.outcome), phrase(result.reason)]
    return (*found, phrase("void")) if result.void else tuple(found)


def _note(state: SoloState, after: int, seat: Seat, is_buck: bool) -> Phrases:
    """Return a seat's role, and whether it is out or has the Buck."""
    roles = {state.contract.declarer: "declarer", state.contract.partner: "partner"}
    found = [phrase(roles.get(seat, "defender"))] if state.contract.stands else []
    if state.progress.totals[seat] == scoring.OUT:
        found.append(phrase("already_out"))
    elif after == scoring.OUT:
        found.append(phrase("out"))
    elif is_buck:
        found.append(phrase("buck"))
    return tuple(found)


def _details(state: SoloState, result: Result) -> list[Mark]:
    """Return the hand value by value; the names are those of the rules page."""
    found = [_detail("outcome", WordValue(result.outcome)), _detail("reason", WordValue(result.reason))]
    found += [_detail("void", WordValue("yes"))] if result.void else []
    contract = state.contract
    if contract.stands:
        found += [_detail("declarer", SeatValue(contract.declarer)), _detail("contract", WordValue(contract.bid))]
    if contract.called != UNSETTLED:
        # An unknown card that did not appear stays unknown.
        is_unknown = state.is_called_unknown and state.partner_hidden
        called = WordValue("unknown") if is_unknown else CardsValue((contract.called,))
        found += [_detail("partner", SeatValue(contract.partner)), _detail("called", called)]
    if contract.trump == UNSETTLED:
        return found
    found += [_detail("called", WordValue("nobody"))] if contract.is_alone else []
    found += [
        _detail("trump", SuitValue(contract.trump)),
        *contract.marks(state.through),
        _detail("value", NumberValue(result.value)),
        _detail("tricks", PointsValue(state.tricks)),
        _detail("side_tricks", NumberValue(sum(state.tricks[seat] for seat in contract.side))),
    ]
    return found + [
        Mark("thrown_down", seat, CardsValue(cards_of_mask(state.hands[seat]))) for seat in state.shown_seats
    ]


def _detail(name: str, value: Value) -> Mark:
    return Mark(name, None, value)


def _counts(state: SoloState, result: Result, buck: Seat | None) -> tuple[Count, ...]:
    """Return the counts for statistics: hands and solos declared and made, by declarers and partners, and the Buck."""
    found: list[Count] = []
    contract = state.contract
    if contract.stands and result.outcome != "thrown_in":
        verbs = ("declared", "made") if result.outcome == "made" else ("declared",)
        noun = "hands" if contract.kind.partner else "solos"
        found += [Count(f"{noun}_{verb}", contract.declarer) for verb in verbs]
        if contract.partner != NOBODY:
            found += [Count(f"partner_hands_{verb}", contract.partner) for verb in ("joined", *verbs[1:])]
    if buck is not None:
        found.append(Count("bucks", buck))
    return tuple(found)
