"""The options of Solo."""

from croupier.games.interface import Option, OptionValues
from croupier.games.solo.state import SEATS, SoloOptions

OPTIONS = (
    Option("deal_packets", "323", ("323", "singles"), "how many cards are dealt to a seat at a time"),
    Option("deal_start", "right", ("right", "left"), "which neighbour of the dealer gets the first cards"),
    Option("first_lead", "left_of_dealer", ("left_of_dealer", "declarer"), "the leader to the first trick"),
    Option("through_factor", 2, (1, 2), "factor for a hand that goes through"),
    Option("do_factor", 3, (1, 3), "factor for a do"),
    Option("partner_do", True, (False, True), "whether a do may be called with a partner"),
    Option("fail_value", "full", ("full", "base"), "the value of a failed do or through: with its factor or without"),
    Option(
        "called_card_rule", "forced", ("forced", "penalty"), "whether the called card must be played when it can be"
    ),
    Option("solo_keep", False, (False, True), "whether a soloist may take clubs themselves when clubs overrule them"),
    Option("wedding_trump", "not_called_suit", ("not_called_suit", "any_suit"), "trumps of the partner in a wedding"),
    Option("last_two", "declarers", ("declarers", "either_pair"), "which pairs of the last two seats cause a throw-in"),
    Option("double_out", "void", ("void", "lowest"), "the result if a hand would put out all who remain"),
    Option("ranking", "buck_only", ("buck_only", "out_order"), "whether the three safe seats share one rank"),
)
"""The options of the game; all are independent (SOLO-OPT-1)."""


def resolved(values: OptionValues) -> SoloOptions:
    """Return the options of a table from their values by name."""
    return SoloOptions(
        deck_positions=_deck_positions((3, 2, 3) if values["deal_packets"] == "323" else (1,) * 8),
        deals_right_first=values["deal_start"] == "right",
        declarer_leads=values["first_lead"] == "declarer",
        through_factor=int(values["through_factor"]),
        do_factor=int(values["do_factor"]),
        partner_do=values["partner_do"] is True,
        fails_with_factor=values["fail_value"] == "full",
        forced=values["called_card_rule"] == "forced",
        solo_keep=values["solo_keep"] is True,
        wedding_any_suit=values["wedding_trump"] == "any_suit",
        either_pair=values["last_two"] == "either_pair",
        lowest_gets_buck=values["double_out"] == "lowest",
        out_order=values["ranking"] == "out_order",
    )


def _deck_positions(packets: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Return the positions in the deck by seat: each packet goes round the table once (SOLO-DEAL-2)."""
    deck_positions: list[tuple[int, ...]] = [()] * SEATS
    at = 0
    for packet in packets:
        for number in range(SEATS):
            deck_positions[number] += tuple(range(at, at + packet))
            at += packet
    return tuple(deck_positions)
