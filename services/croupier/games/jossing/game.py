"""The rules of Jøssing behind the interface of all games."""

from types import MappingProxyType

from croupier.games import interface
from croupier.games.actions import Action
from croupier.games.bots import random_legal
from croupier.games.facts import Fact, Ranking, Seat
from croupier.games.interface import Condition, Option
from croupier.games.jossing import determinization, play, scoring, view
from croupier.games.jossing.bots import sensible
from croupier.games.jossing.state import JossingOptions, JossingState, Section
from croupier.games.jossing.words import PILES, WORDS
from croupier.games.sampling import Sampling


class Jossing(interface.Rules[JossingState]):
    """The game of Jøssing for 2 to 8 seats (JOS-PLAYERS-1)."""

    id = "jossing"
    name = "Jøssing"
    summary = (
        "Bid in secret how many tricks you will win, and score if you win exactly so many; best with 3 to 6 players."
    )
    seats = range(2, 9)
    rule_prefix = "JOS"
    bots = MappingProxyType({"sensible": sensible, "random": random_legal})
    words = WORDS
    piles = PILES
    has_tricks = True
    recommended_seats = range(3, 7)
    sampling = Sampling(is_long=True)

    def options(self, seats: int) -> tuple[Option, ...]:
        """Return every option; all are independent (JOS-OPT-1)."""
        leaders = ("left_of_dealer", "highest_bidder", "highest_bidder_dealer_first")
        return (
            Option(
                "game_type", "up", ("up", "up_and_down"), "whether sections only grow, or shrink again", group="deal"
            ),
            Option(
                "decks",
                1,
                (1, 2),
                "packs shuffled together; for eight players two are suggested",
                group="deal",
                unit="packs",
            ),
            Option("first_dealer", 0, range(seats), "the seat that deals the first section", group="deal", unit="seat"),
            Option(
                "hook",
                default=False,
                allowed=(False, True),
                meaning="the bids may not add up to the tricks",
                group="bidding",
            ),
            Option("leader", "left_of_dealer", leaders, "the leader of the first trick of a section", group="play"),
            Option(
                "identical_cards",
                "first",
                ("first", "last"),
                "which of two identical winning cards wins",
                group="play",
                condition=Condition("decks", (2,)),
            ),
            Option(
                "scoring", "classic", ("classic", "modern"), "the points of a bid that is hit exactly", group="scoring"
            ),
        )

    def new(self, seats: int, options: interface.OptionValues) -> JossingState:
        """Return the state before the first deal."""
        none = (0,) * seats
        return JossingState(JossingOptions.of(seats, options), Section(0, 0, 0, 0), none, none, won=none)

    def awaiting(self, state: JossingState) -> interface.Awaiting:
        """Return a seat's play, bids, the next deal, or the end."""
        if state.queue:
            return interface.ONE_TO_ACT[state.queue[0]]
        if state.bidders:
            return interface.SeatsToAct(state.bidders)
        if state.phase == "over":
            return interface.GameOver(scoring.ranking(state.totals), play.END_REASON)
        return interface.ShuffleNeeded(state.options.deck, (), state.section.number + 1, 1)

    def scores(self, state: JossingState) -> tuple[int, ...]:
        """Return the totals of the finished sections by seat (JOS-END-0)."""
        return state.totals

    def legal_actions(self, state: JossingState, seat: Seat) -> interface.Legal:
        """Return the amounts that a seat may bid or the cards that it may play now, ascending."""
        if state.queue[:1] == (seat,):
            return play.legal_plays(state, seat)
        return play.legal_bids(state) if seat in state.bidders else interface.NOTHING_LEGAL

    def event_rules(self, state: JossingState) -> interface.EventRules:  # noqa: ARG002 - the same in every state
        """Return the rules of the deal."""
        return interface.EventRules("JOS-DEAL-4", "JOS-DECK-1", "JOS-DEAL-2", "JOS-ACT-1")

    def act(self, state: JossingState, seat: Seat, action: Action) -> tuple[JossingState, tuple[Fact, ...]]:
        """Bid, or play a card."""
        if state.queue:
            return play.play(state, seat, action)
        if state.bidders:
            return play.bid(state, seat, action)
        if state.phase == "over":
            raise interface.IllegalAction("JOS-END-1", "the game is over")
        raise interface.IllegalAction("JOS-DEAL-4", "nobody can act before the deal")

    def ranking_at_limit(self, state: JossingState) -> Ranking | None:
        """Return the seats by total; None in the first section (JOS-END-4)."""
        return scoring.ranking(state.totals) if state.section.number > 1 else None

    shuffle = staticmethod(play.deal)
    shuffle_record = staticmethod(play.record)
    determinize = staticmethod(determinization.determinize)
    evaluate = staticmethod(determinization.evaluate)
    view = staticmethod(view.view)
