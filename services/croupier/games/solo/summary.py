"""What is written down of a finished hand of Solo: for people in words, for programs by name, for statistics."""

from typing import NamedTuple

from croupier.games.cards import NOTATION, SUIT_NAMES, SUITS
from croupier.games.facts import Count, Seat
from croupier.games.solo import scoring
from croupier.games.solo.contracts import NOBODY, UNSETTLED, SoloContract
from croupier.games.solo.state import SEATS, SoloState


class Result(NamedTuple):
    """How a hand ended: `outcome` is "made", "failed" or "thrown_in", `value` what a winner gets unless it is void."""

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
"""What players call the bids."""
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
"""What players say of each reason for which a hand ends."""


def headline(state: SoloState, result: Result) -> str:
    """What the hand was, for example "dirty froke in hearts, failed, four tricks lost"."""
    contract = state.contract
    words = REASONS[result.reason] + (", but void as it would put out all who remain" if result.void else "")
    return words if not contract.stands else f"{_contract_words(contract, state.through)}, {words}"


def _contract_words(contract: SoloContract, through: bool) -> str:
    name = BID_NAMES[contract.bid]
    if contract.trump == UNSETTLED:
        return name
    suit = "" if contract.kind.clubs else f" in {SUIT_NAMES[contract.trump]}"
    do = " with a do" if contract.do and not contract.kind.do else ""
    return f"{'clean' if contract.clean else 'dirty'} {name}{suit}{do}{', gone through' if through else ''}"


def notes(state: SoloState, totals: tuple[int, ...]) -> tuple[str, ...]:
    """Each seat's role and what the hand brought it, for example "partner, +2"."""
    buck = scoring.buck(totals)
    return tuple([_note(state, totals[seat], seat, seat == buck) for seat in range(SEATS)])


def _note(state: SoloState, after: int, seat: Seat, is_buck: bool) -> str:
    before = state.progress.totals[seat]
    words = [role(state.contract, seat)]
    if after > before:
        words.append(f"+{after - before}")
    if before == scoring.OUT:
        words.append("already out")
    elif after == scoring.OUT:
        words.append("out")
    elif is_buck:
        words.append("the Buck")
    return ", ".join(word for word in words if word)


def role(contract: SoloContract, seat: Seat) -> str:
    """ "declarer", "partner" or "defender"; empty where there is no contract."""
    if not contract.stands:
        return ""
    return {contract.declarer: "declarer", contract.partner: "partner"}.get(seat, "defender")


def details(state: SoloState, result: Result) -> tuple[tuple[str, str], ...]:
    """The hand for programs; the names are those of the rules page."""
    outcome = (("outcome", result.outcome), ("reason", result.reason), ("void", _flag(result.void)))
    contract = state.contract
    if not contract.stands:
        return outcome
    named = [("declarer", str(contract.declarer)), ("contract", contract.bid)]
    if contract.called != UNSETTLED:
        named += [("partner", str(contract.partner)), ("called", _called(state, contract))]
    if contract.trump == UNSETTLED:
        return *outcome, *named
    named += [
        ("trump", SUITS[contract.trump]),
        ("kind", "clean" if contract.clean else "dirty"),
        ("do", _flag(contract.do)),
        ("through", _flag(state.through)),
        ("value", str(result.value)),
        ("tricks", " ".join(map(str, state.tricks))),
        ("side_tricks", str(sum(state.tricks[seat] for seat in contract.side))),
    ]
    return *outcome, *named


def _called(state: SoloState, contract: SoloContract) -> str:
    """The called card as far as everybody knows it: an unknown one that did not appear stays unknown."""
    if state.called_unknown and state.partner_hidden:
        return "unknown"
    return NOTATION[contract.called]


def _flag(value: bool) -> str:
    return "true" if value else "false"


def counts(state: SoloState, result: Result, totals: tuple[int, ...]) -> tuple[Count, ...]:
    """For statistics: what was declared and made by whom, alone or with a partner, and who got the Buck."""
    found: list[Count] = []
    contract = state.contract
    if contract.stands and result.outcome != "thrown_in":
        verbs = ("declared", "made") if result.outcome == "made" else ("declared",)
        noun = "hands" if contract.kind.partner else "solos"
        found += [Count(f"{noun}_{verb}", contract.declarer) for verb in verbs]
        if contract.partner != NOBODY:
            found += [Count(f"partner_hands_{verb}", contract.partner) for verb in ("joined", *verbs[1:])]
    if (buck := scoring.buck(totals)) is not None:
        found.append(Count("bucks", buck))
    return tuple(found)
