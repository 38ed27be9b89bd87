"""The state of a game of Solo, and the ladder of its bids: frozen data."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from croupier.games.actions import Bid, CallPartner, ThrowDown
from croupier.games.cards import Card, Suit
from croupier.games.facts import Call, Mark, PileCard, Seat
from croupier.games.interface import OptionValues
from croupier.games.solo.deck import CLUBS
from croupier.games.values import CardsValue, NumberValue, WordValue

SEATS = 4
"""The only number of seats (SOLO-DECK-2)."""
NOBODY = UNSETTLED = -1
"""Stands for a seat, suit or card that there is not, or not yet."""


@dataclass(frozen=True, slots=True)
class SoloOptions:
    """The resolved options of a table; `deck_positions` has those of each seat's cards, as dealt."""

    deck_positions: tuple[tuple[int, ...], ...]
    deals_right_first: bool
    declarer_leads: bool
    through_factor: int
    do_factor: int
    partner_do: bool
    fails_with_factor: bool
    forced: bool
    solo_keep: bool
    wedding_any_suit: bool
    wedding_binds: bool
    may_call_nobody: bool
    do_over_clubs: bool
    either_pair: bool
    lowest_gets_buck: bool
    out_order: bool

    @classmethod
    def of(cls, values: OptionValues) -> "SoloOptions":
        """Return the options of a table from their values by name."""
        return cls(
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
            wedding_binds=values["wedding_card"] == "binds",
            may_call_nobody=values["call"] == "may",
            do_over_clubs=bool(values["do_over_clubs"]),
            either_pair=values["last_two"] == "either_pair",
            lowest_gets_buck=values["double_out"] == "lowest",
            out_order=values["ranking"] == "out_order",
        )


class ContractKind(NamedTuple):
    """A bid of the ladder: `value` is that of a dirty hand; see the table of bids."""

    value: int
    partner: bool = False
    clubs: bool = False
    do: bool = False
    overrules: str = ""


KINDS: Mapping[str, ContractKind] = MappingProxyType(
    {
        "froke": ContractKind(2, partner=True),
        "iss": ContractKind(2, partner=True, clubs=True, overrules="froke"),
        "wedding": ContractKind(4, partner=True),
        "solo": ContractKind(6),
        "solo_clubs": ContractKind(6, clubs=True, overrules="solo"),
        "solo_do": ContractKind(6, do=True),
        "solo_do_clubs": ContractKind(6, clubs=True, do=True, overrules="solo_do"),
    }
)
"""Every bid by its name; `overrules` is the same bid without the promise of clubs."""

BIDS = MappingProxyType({name: Bid(name) for name in KINDS})
"""Every bid as an action, made once."""

LADDERS: Mapping[bool, tuple[str, ...]] = MappingProxyType(
    {
        True: ("froke", "iss", "wedding", "solo", "solo_clubs", "solo_do", "solo_do_clubs"),
        False: ("froke", "iss", "wedding", "solo", "solo_do", "solo_clubs", "solo_do_clubs"),
    }
)
"""The names of the bids, lowest first, by whether a do outranks clubs (SOLO-BID-2, SOLO-BID-9)."""


class Progress(NamedTuple):
    """The part of the state that stays when a hand is restarted.

    `hand_number` and `dealer` are those of the last deal, NOBODY before the first; `went_out` has the hand in which
    each seat reached 36, else 0; `deals` counts the deals of the present hand, 0 when it has a result.
    """

    hand_number: int = 0
    dealer: Seat = NOBODY
    totals: tuple[int, ...] = (0,) * SEATS
    went_out: tuple[int, ...] = (0,) * SEATS
    deals: int = 0


CLEAN, DIRTY = (Mark("kind", None, WordValue(kind)) for kind in ("clean", "dirty"))
DO, THROUGH = (Mark("pledge", None, WordValue(pledge)) for pledge in ("do", "through"))
"""The marks of a contract: the kind of its trump, and why all eight tricks are owed."""
UNKNOWN_CARD = Mark("called_card", None, WordValue("unknown"))
"""The mark of an unknown call, until the card is played."""


def called_card(card: Card) -> Mark:
    """Return the mark of an unknown call whose card was played."""
    return Mark("called_card", None, CardsValue((card,)))


def out_since(seat: Seat, hand_number: int) -> Mark:
    """Return the mark of a seat that is out since a hand."""
    return Mark("went_out", seat, NumberValue(hand_number))


class SoloContract(NamedTuple):
    """The contract of a hand as far as it is settled; `partner` holds the `called` card."""

    declarer: Seat = NOBODY
    bid: str = ""
    trump: Suit = UNSETTLED
    do: bool = False
    called: Card = UNSETTLED
    partner: Seat = NOBODY

    @property
    def stands(self) -> bool:
        """Whether there is a declarer."""
        return self.declarer != NOBODY

    @property
    def kind(self) -> ContractKind:
        """The bid."""
        return KINDS[self.bid]

    @property
    def is_clean(self) -> bool:
        """Whether clubs are trump."""
        return self.trump == CLUBS

    @property
    def side(self) -> tuple[Seat, ...]:
        """The declaring side, ascending."""
        if self.partner == NOBODY:
            return (self.declarer,)
        return min(self.declarer, self.partner), max(self.declarer, self.partner)

    @property
    def secret(self) -> bool:
        """Whether the partner, if there is one, is hidden until the called card is played: froke and iss."""
        return self.bid in ("froke", "iss")

    @property
    def is_alone(self) -> bool:
        """Whether the declarer, who has made their call, has no partner though the bid has one (SOLO-CALL-7)."""
        return self.kind.partner and self.partner == NOBODY

    def marks(self, through: bool) -> list[Mark]:
        """Return the marks of a contract with trump: clean or dirty, and why all eight tricks are owed, if they are."""
        kind = CLEAN if self.is_clean else DIRTY
        pledge = DO if self.do else THROUGH
        return [kind, pledge] if self.do or through else [kind]


class SoloState(NamedTuple):
    """A table; hands are bit sets by seat, `to_act` is NOBODY while a deal is due and after the end.

    `calls` holds all calls of this hand in order, an unknown call as such, `taken` the cards of finished tricks, four
    by four, `tricks` the number that each seat won; `through` is whether the hand went through.
    """

    options: SoloOptions
    progress: Progress = Progress()
    phase: str = "deal"
    to_act: Seat = NOBODY
    hands: tuple[int, ...] = (0,) * SEATS
    calls: tuple[Call, ...] = ()
    contract: SoloContract = SoloContract()
    trick: tuple[PileCard, ...] = ()
    taken: tuple[PileCard, ...] = ()
    tricks: tuple[int, ...] = (0,) * SEATS
    through: bool = False

    @property
    def draws_dealer(self) -> bool:
        """Whether the deal that is due draws the first dealer by lot (SOLO-DEAL-1)."""
        return self.progress.dealer == NOBODY

    @property
    def due_hand(self) -> int:
        """The number of the hand whose deal is due (SOLO-END-5)."""
        return self.progress.hand_number + (self.progress.deals == 0)

    @property
    def hand(self) -> int:
        """The hand of the seat that is to act."""
        return self.hands[self.to_act]

    @property
    def is_called_unknown(self) -> bool:
        """Whether the partner was called by the unknown card (SOLO-CALL-4)."""
        return any(call.action == CallPartner(None) for call in self.calls)

    @property
    def called_card_binds(self) -> bool:
        """Whether the called card is unplayed and its duties stand: in a wedding by option (SOLO-WED-5, SOLO-WED-7)."""
        contract = self.contract
        is_unplayed = contract.called != UNSETTLED and bool(self.hands[contract.partner] >> contract.called & 1)
        return is_unplayed and (contract.secret or self.options.wedding_binds)

    @property
    def partner_hidden(self) -> bool:
        """Whether the partner is hidden: the called card of a froke or an iss is unplayed."""
        return self.contract.secret and self.called_card_binds

    @property
    def shown_seats(self) -> tuple[Seat, ...]:
        """The seats whose cards lie open: the declaring side that has thrown them down (SOLO-THROUGH-5)."""
        return self.contract.side if self.calls and isinstance(self.calls[-1].action, ThrowDown) else ()


def _deck_positions(packets: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Return the positions in the deck by seat: each packet goes round the table once (SOLO-DEAL-2)."""
    deck_positions: list[tuple[int, ...]] = [()] * SEATS
    at = 0
    for packet in packets:
        for number in range(SEATS):
            deck_positions[number] += tuple(range(at, at + packet))
            at += packet
    return tuple(deck_positions)
