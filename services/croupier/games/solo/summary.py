"""The record of a finished hand of Solo: for people in words, for programs by name, for statistics."""

from typing import NamedTuple

from croupier.games.cards import NOTATION, SUIT_NAMES, SUITS, cards_of_mask, notation
from croupier.games.facts import Count, RoundScore, Seat
from croupier.games.solo import scoring
from croupier.games.solo.state import NOBODY, SEATS, UNSETTLED, SoloContract, SoloState
from croupier.games.standings import listed


class Result(NamedTuple):
    """The end of a hand: `outcome` is "made", "failed" or "thrown_in", `value` the points per winner if it counts."""

    outcome: str
    reason: str
    value: int = 0
    void: bool = False


BID_NAMES = {
    "froke": "froke",
    "iss": "iss",
    "wedding": "wedding",
    "solo": "solo",
    "solo_clubs": "solo in clubs",
    "solo_do": "solo do",
    "solo_do_clubs": "solo do in clubs",
}
"""The names of the bids for players."""
REASONS = {
    "five_tricks": "made with five tricks",
    "all_tricks": "made with all eight tricks",
    "thrown_down": "made with five out of five and thrown down",
    "four_tricks": "failed, four tricks lost",
    "trick_lost": "failed, a trick lost",
    "called_card_unplayed": "failed, the called card did not appear",
    "all_passed": "thrown in, all passed",
    "last_two": "thrown in, the last two cannot be partners",
}
"""The words of players for each reason for which a hand ends."""


def sheet_line(state: SoloState, result: Result, totals: tuple[int, ...]) -> RoundScore:
    """Return the line of a hand, headed for example "dirty froke in hearts, failed, four tricks lost"."""
    points = tuple([after - before for before, after in zip(state.progress.totals, totals, strict=True)])
    buck = scoring.buck(totals)
    words = REASONS[result.reason] + (", but void as it would put out all who remain" if result.void else "")
    return RoundScore(
        state.progress.hand_number,
        points,
        totals,
        tuple([_note(state, totals[seat], seat, seat == buck) for seat in range(SEATS)]),
        f"{_contract_words(state.contract, state.through)}, {words}" if state.contract.stands else words,
        _details(state, result),
        _counts(state, result, buck),
    )


def _contract_words(contract: SoloContract, through: bool) -> str:
    name = BID_NAMES[contract.bid]
    if contract.trump == UNSETTLED:
        return name
    suit = "" if contract.kind.clubs else f" in {SUIT_NAMES[contract.trump]}"
    do = " with a do" if contract.do and not contract.kind.do else ""
    how = (", alone" if contract.is_alone else "") + (", gone through" if through else "")
    return f"{'clean' if contract.is_clean else 'dirty'} {name}{suit}{do}{how}"


def _note(state: SoloState, after: int, seat: Seat, is_buck: bool) -> str:
    """Return a seat's role and gain, for example "partner, +2"."""
    before = state.progress.totals[seat]
    roles = {state.contract.declarer: "declarer", state.contract.partner: "partner"}
    words = [roles.get(seat, "defender")] if state.contract.stands else []
    if after > before:
        words.append(f"+{after - before}")
    if before == scoring.OUT:
        words.append("already out")
    elif after == scoring.OUT:
        words.append("out")
    elif is_buck:
        words.append("the Buck")
    return ", ".join(words)


def _details(state: SoloState, result: Result) -> tuple[tuple[str, str], ...]:
    """Return the hand for programs; the names are those of the rules page."""
    outcome = (("outcome", result.outcome), ("reason", result.reason), ("void", str(result.void).lower()))
    contract = state.contract
    if not contract.stands:
        return outcome
    named = [("declarer", str(contract.declarer)), ("contract", contract.bid)]
    if contract.called != UNSETTLED:
        # An unknown card that did not appear stays unknown.
        is_unknown = state.is_called_unknown and state.partner_hidden
        called = "unknown" if is_unknown else NOTATION[contract.called]
        named += [("partner", str(contract.partner)), ("called", called)]
    elif contract.is_alone:
        named.append(("called", "nobody"))
    if contract.trump == UNSETTLED:
        return *outcome, *named
    named += [
        ("trump", SUITS[contract.trump]),
        ("kind", "clean" if contract.is_clean else "dirty"),
        ("do", str(contract.do).lower()),
        ("through", str(state.through).lower()),
        ("value", str(result.value)),
        ("tricks", listed(state.tricks)),
        ("side_tricks", str(sum(state.tricks[seat] for seat in contract.side))),
    ]
    roles = {contract.declarer: "declarer_cards", contract.partner: "partner_cards"}
    shown = [(roles[seat], listed(notation(cards_of_mask(state.hands[seat])))) for seat in state.shown_seats]
    return *outcome, *named, *shown


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
