"""What is fixed for a game of Solo: the options and what follows from them."""

from dataclasses import dataclass

from croupier.games.interface import Option, OptionValues

SEATS = 4
"""The only number of seats (SOLO-DECK-2)."""

OPTIONS = (
    Option("deal_packets", "323", ("323", "singles"), "how many cards are dealt to a seat at a time"),
    Option("deal_start", "right", ("right", "left"), "which neighbour of the dealer gets the first cards"),
    Option("first_lead", "left_of_dealer", ("left_of_dealer", "declarer"), "who leads to the first trick"),
    Option("through_factor", 2, (1, 2), "factor for a hand that goes through"),
    Option("do_factor", 3, (1, 3), "factor for a do"),
    Option("partner_do", True, (False, True), "whether a do may be called with a partner"),
    Option("fail_value", "full", ("full", "base"), "what a failed do or through pays: with its factor or without"),
    Option(
        "called_card_rule", "forced", ("forced", "penalty"), "whether the called card must be played when it can be"
    ),
    Option("solo_keep", False, (False, True), "whether a soloist may take clubs himself when clubs overrule him"),
    Option("wedding_trump", "not_called_suit", ("not_called_suit", "any_suit"), "trumps of the partner in a wedding"),
    Option("last_two", "declarers", ("declarers", "either_pair"), "which pairs of the last two seats cause a throw-in"),
    Option("double_out", "void", ("void", "lowest"), "what happens if a hand would put out all who remain"),
    Option("ranking", "buck_only", ("buck_only", "out_order"), "whether the three safe seats share one rank"),
)
"""The options of the game; all are independent (SOLO-OPT-1)."""


@dataclass(frozen=True, slots=True)
class Table:
    """The resolved options of a game; `places` has the positions in the deck of each seat, in order of dealing."""

    places: tuple[tuple[int, ...], ...]
    deals_right_first: bool
    declarer_leads: bool
    through_factor: int
    do_factor: int
    partner_do: bool
    fails_with_factor: bool
    forced: bool
    solo_keep: bool
    wedding_any_suit: bool
    either_pair: bool
    lowest_gets_buck: bool
    out_order: bool

    @classmethod
    def of(cls, options: OptionValues) -> "Table":
        """The table for resolved options."""
        return cls(
            places=_places((3, 2, 3) if options["deal_packets"] == "323" else (1,) * 8),
            deals_right_first=options["deal_start"] == "right",
            declarer_leads=options["first_lead"] == "declarer",
            through_factor=int(options["through_factor"]),
            do_factor=int(options["do_factor"]),
            partner_do=options["partner_do"] is True,
            fails_with_factor=options["fail_value"] == "full",
            forced=options["called_card_rule"] == "forced",
            solo_keep=options["solo_keep"] is True,
            wedding_any_suit=options["wedding_trump"] == "any_suit",
            either_pair=options["last_two"] == "either_pair",
            lowest_gets_buck=options["double_out"] == "lowest",
            out_order=options["ranking"] == "out_order",
        )


def _places(packets: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Each packet goes round the table once (SOLO-DEAL-2)."""
    places: list[tuple[int, ...]] = [()] * SEATS
    at = 0
    for packet in packets:
        for number in range(SEATS):
            places[number] += tuple(range(at, at + packet))
            at += packet
    return tuple(places)
