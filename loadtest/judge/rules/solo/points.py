"""What a hand of solo is worth, and who is out."""

from loadtest.judge.rules.interface import Options
from loadtest.judge.rules.solo.hand import FOUR, Hand

OUT = 36


def value(hand: Hand, made: bool, options: Options) -> int:
    """What each winner of a hand gets, before the limit."""
    base = {"froke": 2, "iss": 2, "wedding": 4}.get(hand.contract, 6)  # SOLO-SCORE-1
    if hand.trump == "C":
        base *= 2
    if not made and options["fail_value"] == "base":  # SOLO-SCORE-4
        return base
    if hand.do:  # SOLO-SCORE-2
        return base * int(options["do_factor"])
    if hand.through:
        return base * int(options["through_factor"])
    return base


def remaining_seats(scores: list[int]) -> list[int]:
    """The seats that are not out (SOLO-END-1)."""
    return [seat for seat in FOUR if scores[seat] < OUT]


def scores_after(scores: list[int], winners: list[int], each: int, double_out: str) -> list[int]:
    """The scores when each of the winners has been given his points, by the option `double_out`."""
    after = list(scores)
    for seat in winners:
        after[seat] = min(OUT, scores[seat] + each)  # SOLO-SCORE-5
    if remaining_seats(after):
        return after
    # SOLO-LAST-3: all who remained would be out.
    remaining = remaining_seats(scores)
    fewest = min(scores[seat] for seat in remaining)
    lowest = [seat for seat in remaining if scores[seat] == fewest]
    if double_out == "void" or len(lowest) > 1:
        return list(scores)
    after[lowest[0]] = fewest
    return after


def final_ranking(went_out: dict[int, int], ranking: str) -> list[list[int]]:
    """Groups of seats, given by seat the hand in which it went out (SOLO-END-4)."""
    buck = [seat for seat in FOUR if seat not in went_out]
    if ranking == "buck_only":
        return [sorted(went_out), buck]
    return [[seat for seat in FOUR if went_out.get(seat) == hand] for hand in sorted(set(went_out.values()))] + [buck]
