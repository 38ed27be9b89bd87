"""The rules of 110 behind the interface of all games."""

from types import MappingProxyType
from typing import Any

from croupier.games import interface
from croupier.games.actions import Action
from croupier.games.bots import random_legal
from croupier.games.cards import notation
from croupier.games.facts import Fact, Ranking, Seat
from croupier.games.interface import Condition, Option, Requirement
from croupier.games.one_ten import bidding, determinization, kitty, scoring, steering, tricks, view
from croupier.games.one_ten.bots import sensible
from croupier.games.one_ten.state import OneTenOptions, OneTenState, Progress, before_first_deal, has_enough_cards
from croupier.games.one_ten.words import PILES, WORDS
from croupier.games.sampling import Sampling


class OneTen(interface.Rules[OneTenState]):
    """The game of 110 for 2 to 8 seats."""

    id = "one_ten"
    name = "110"
    summary = "Bid for the kitty and the trump suit, take tricks, and be the first with 110 points."
    seats = range(2, 9)
    rule_prefix = "110"
    bots = MappingProxyType({"sensible": sensible, "random": random_legal})
    words = WORDS
    piles = PILES
    has_tricks = True
    sampling = Sampling(
        brief=MappingProxyType({"max_rounds": 2}),
        briefest=MappingProxyType({"max_rounds": 1}),
        drawn=MappingProxyType({"max_rounds": range(1, 7)}),
        steered=steering.low_bids,
        steered_options=steering.steered_options,
    )

    def options(self, seats: int) -> tuple[Option, ...]:
        """Return every option; ten cards in each hand need enough packs, and two are enough (110-OPT-1)."""
        packs = () if has_enough_cards(seats, 1) else (Requirement("10", "decks", 2),)
        return (
            Option("hand_size", "auto", ("auto", "5", "10"), "cards in a hand", packs, group="deal"),
            Option("decks", 1, (1, 2), "packs of 53 cards shuffled together", group="deal", unit="packs"),
            *_BIDDING,
            *_PLAY,
            *_SCORING,
            Option(
                "max_rounds",
                0,
                range(1001),
                "rounds after which the game ends at the latest, 0 for no limit",
                group="end",
                unit="rounds",
            ),
        )

    def new(self, seats: int, options: interface.OptionValues) -> OneTenState:
        """Return the state before the first deal."""
        return before_first_deal(OneTenOptions.of(seats, options), Progress(0, None, (0,) * seats))

    def awaiting(self, state: OneTenState) -> interface.Awaiting:
        """Return all seats that still have to act, a shuffle, or the end."""
        if to_act := state.to_act:
            return interface.ONE_TO_ACT[to_act[0]] if len(to_act) == 1 else interface.SeatsToAct(to_act)
        progress = state.progress
        match state.phase:
            case "deal":
                # With the first deal the dealer is drawn (110-DEAL-3, 110-DEAL-5).
                bounds = (state.options.seats,) if progress.dealer is None else ()
                return interface.ShuffleNeeded(state.options.deck, bounds, progress.round_number + 1, 1)
            case "reshuffle":
                return interface.ShuffleNeeded(state.exchange.put_away, (), progress.round_number, 2)
            case _:
                return interface.GameOver(progress.ranking, progress.reason)

    def scores(self, state: OneTenState) -> tuple[int, ...]:
        """Return the totals by seat."""
        return state.progress.totals

    def legal_actions(self, state: OneTenState, seat: Seat) -> interface.Legal:
        """Return all that a seat may do now; keeping and swapping are described as choices."""
        if seat not in state.to_act:
            return interface.NOTHING_LEGAL
        return _PHASES[state.phase][0](state, seat)

    def event_rules(self, state: OneTenState) -> interface.EventRules:
        """Return the rules of the deal or the reshuffle."""
        if state.phase == "reshuffle":
            return interface.EventRules(*["110-SWAP-6"] * 4)
        return interface.EventRules("110-DEAL-1", "110-DEAL-4", "110-DEAL-3", "110-DEAL-1")

    def act(self, state: OneTenState, seat: Seat, action: Action) -> tuple[OneTenState, tuple[Fact, ...]]:
        """Bid, keep, swap or play."""
        if seat not in state.to_act:
            rule, message = _NOT_TO_ACT[state.phase]
            raise interface.IllegalAction(rule, message.format(seat=seat))
        return _PHASES[state.phase][1](state, seat, action)

    def shuffle(self, state: OneTenState, shuffled: interface.CardsShuffled) -> tuple[OneTenState, tuple[Fact, ...]]:
        """Deal, or go on after a reshuffle."""
        return kitty.reshuffle(state, shuffled) if state.phase == "reshuffle" else bidding.deal(state, shuffled)

    def shuffle_record(self, state: OneTenState, shuffled: interface.CardsShuffled) -> dict[str, Any]:
        """Return the deal (110-DEAL-1) or the reshuffle (110-SWAP-6)."""
        if state.phase == "reshuffle":
            return {"type": "reshuffle", "stock": notation(shuffled.cards)}
        return bidding.record(state, shuffled)

    def ranking_at_limit(self, state: OneTenState) -> Ranking | None:
        """Return the seats by score; None in the first round (110-END-5)."""
        progress = state.progress
        return scoring.ranking(progress.totals, winner=None) if progress.round_number > 1 else None

    determinize = staticmethod(determinization.determinize)
    evaluate = staticmethod(determinization.evaluate)
    view = staticmethod(view.view)


_BIDDING = (
    Option("bid_ladder", "short", ("short", "round_max", "long"), "the amounts that may be bid", group="bidding"),
    Option(
        "dealer_match", "wins", ("wins", "holds"), "whether a match by the dealer ends the bidding", group="bidding"
    ),
)
_PLAY = (
    Option(
        "swap_timing",
        "during",
        ("during", "after_trump"),
        "whether the others swap knowing the trump",
        group="play",
    ),
    Option(
        "keep",
        "ten",
        ("ten", "five"),
        "cards that the bid winner keeps of a hand of ten",
        earlier="ten",
        group="play",
        condition=Condition("hand_size", ("auto", "10")),
    ),
    Option(
        "first_lead",
        "bid_winner",
        ("bid_winner", "left_of_bid_winner"),
        "the seat that leads the first trick",
        earlier="bid_winner",
        group="play",
    ),
    Option(
        "force_out",
        "any_trick",
        ("any_trick", "trump_led"),
        "when a higher reneging card forces others out",
        group="play",
    ),
    Option(
        "forced_out_by",
        "any",
        ("any", "led"),
        "which cards of a trick force a reneging card out: any, or only the one that was led",
        earlier="any",
        group="play",
    ),
)
_SCORING = (
    Option(
        "bonus_counts_for_bid",
        True,
        (True, False),
        "whether the top trump bonus helps to make the bid",
        group="scoring",
    ),
    Option(
        "bonus_forfeit",
        "bid",
        ("bid", "score", "any_seat_85"),
        "whether a bid or a score from 85 up forfeits the bonus, and whose",
        group="scoring",
    ),
    Option(
        "failed_bonus",
        "paid",
        ("paid", "lost"),
        "whether a bid winner who failed gets the top trump bonus",
        earlier="lost",
        group="scoring",
    ),
)
_PHASES = {
    "bidding": (bidding.legal, bidding.act),
    "kitty": (kitty.legal, kitty.act),
    "tricks": (tricks.legal, tricks.act),
}
"""By phase: the legal actions of a seat that is to act, and its action."""
_NOT_TO_ACT = {
    "deal": ("110-DEAL-5", "the cards are being shuffled: wait for them"),
    "bidding": ("110-BID-1", "seat {seat} is not to speak: wait for your turn"),
    "kitty": ("110-SWAP-1", "seat {seat} is not to act: each seat keeps or swaps once"),
    "reshuffle": ("110-SWAP-6", "the stock is being filled up: wait until all have drawn"),
    "tricks": ("110-TRICK-3", "it is not the turn of seat {seat}"),
    "over": ("110-END-1", "the game is over"),
}
"""By phase the rule and the refusal of a seat that is not to act."""
