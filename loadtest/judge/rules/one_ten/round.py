"""A round of 110 from the deal to the last trick."""

from loadtest.judge.rules.interface import Act, Card, Illegal, Legal, Options, Pile
from loadtest.judge.rules.one_ten.bidding import Bidding, ladder_of
from loadtest.judge.rules.one_ten.exchange import Exchange, face_down
from loadtest.judge.rules.one_ten.play import Play


class OneTenRound:
    """Bidding, exchange and tricks, each there from its beginning on."""

    def __init__(
        self, dealer: int, hands: list[list[Card]], kitty: list[Card], stock: list[Card], options: Options
    ) -> None:
        self.dealer = dealer
        self.hands = hands
        self.kitty = kitty
        self.stock = stock
        self.options = options
        ladder = ladder_of(str(options["bid_ladder"]), len(hands[0]))
        self.bidding = Bidding(len(hands), dealer, ladder, str(options["dealer_match"]))
        self.exchange: Exchange | None = None
        self.play: Play | None = None

    @property
    def is_over(self) -> bool:
        """Whether the last trick is taken."""
        return self.play is not None and self.play.is_over

    @property
    def to_reshuffle(self) -> list[Card]:
        """The put-away cards, once all have acted and while the stock is too short for them; else none (110-SWAP-6)."""
        if self.exchange is None or self.play is not None or self.exchange.to_act:
            return []
        return self.exchange.put_away

    @property
    def to_act(self) -> list[int]:
        """The seats that may act."""
        if self.play is not None:
            return self.play.to_act
        if self.exchange is not None:
            return self.exchange.to_act
        return [] if self.bidding.speaker is None else [self.bidding.speaker]

    @property
    def piles(self) -> dict[str, Pile]:
        """All piles, those without cards among them."""
        piles = {"stock": face_down(self.stock)}  # 110-VIS-6
        piles |= {"kitty": face_down(self.kitty)} if self.exchange is None else self.exchange.piles()
        if self.play is not None:
            piles |= self.play.piles()
        return piles

    def hands_seen_by(self, viewer: int) -> list[list[Card]]:
        """All hands, or in the exchange what passes for them."""
        return self.hands if self.exchange is None or self.play is not None else self.exchange.hands_seen_by(viewer)

    def piles_seen_by(self, viewer: int) -> dict[str, Pile]:
        """All piles, or in the exchange what passes for them."""
        if self.exchange is None or self.play is not None:
            return self.piles
        return {"stock": face_down(self.stock)} | self.exchange.piles_seen_by(viewer)

    def legal(self, seat: int) -> Legal:
        """All that a seat may do; nothing if it is not to act."""
        if seat not in self.to_act:
            return Legal([], [])
        if self.play is not None:
            return self.play.legal(seat)
        if self.exchange is not None:
            return self.exchange.legal(seat)
        return Legal(self.bidding.legal(), [])

    def act(self, seat: int, action: Act) -> None:
        """Do what a seat did; raises Illegal."""
        if seat not in self.to_act:
            raise Illegal(self._rule_of_turns(), f"seat {seat} is not to act")
        if self.play is not None:
            self.play.act(seat, action)
        elif self.exchange is not None:
            self.exchange.act(seat, action)
            self._draw_if_enough(self.exchange)
        else:
            self.bidding.call(action)
            self._open_kitty()

    def reshuffled(self, cards: list[Card]) -> None:
        """Place the put-away cards below the stock, then all draw (110-SWAP-6)."""
        assert self.exchange is not None
        self.exchange.put_away = []
        self.stock += cards
        self._draw_if_enough(self.exchange)

    def _open_kitty(self) -> None:
        winner = self.bidding.winner
        if winner is not None:
            self.exchange = Exchange(self.hands, winner, self.kitty, str(self.options["swap_timing"]))

    def _draw_if_enough(self, exchange: Exchange) -> None:
        if exchange.trump is None or exchange.to_act or exchange.cards_to_draw() > len(self.stock):
            return
        exchange.draw(self.stock)
        self.play = Play(self.hands, exchange.winner, exchange.trump, str(self.options["force_out"]))

    def _rule_of_turns(self) -> str:
        if self.play is not None:
            return "110-TRICK-3"
        if self.exchange is not None:
            return "110-SWAP-1" if self.exchange.to_act else "110-SWAP-6"
        return "110-BID-1"
