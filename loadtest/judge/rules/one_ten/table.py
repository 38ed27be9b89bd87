"""A table of 110 from the first deal to the ranking."""

from loadtest.judge.rules.interface import Act, Card, Illegal, Legal, Options, Pile, Round, Shuffle
from loadtest.judge.rules.one_ten.cards import pack
from loadtest.judge.rules.one_ten.exchange import KITTY_SIZE
from loadtest.judge.rules.one_ten.round import OneTenRound
from loadtest.judge.rules.one_ten.scoring import PlayedRound, first_at_target, ranking_of, round_points


class OneTenTable:
    """110 for two to eight seats, as the judge plays it."""

    def __init__(self, seats: int, options: Options) -> None:
        self.seats = seats
        self.options = options
        self.pack = pack(int(options["decks"]))
        self.hands: list[list[Card]] = [[] for _ in range(seats)]
        self.round_number = 0
        self.scores = [0] * seats
        self.rounds: list[Round] = []
        self.ranking: list[list[int]] | None = None
        self.round: OneTenRound | None = None

    @property
    def hand_size(self) -> int:
        """How many cards a hand has (110-DEAL-2)."""
        if self.options["hand_size"] != "auto":
            return int(self.options["hand_size"])
        return 10 if 10 * self.seats + KITTY_SIZE <= len(self.pack) else 5

    @property
    def shuffle_wanted(self) -> Shuffle | None:
        """The pack before a round, with the first dealer drawn before the first; or the put-away cards."""
        if self.ranking is not None:
            return None
        if self.round is None:
            return Shuffle(self.pack, [self.seats], 1, 1)  # 110-DEAL-3
        if self.round.is_over:
            return Shuffle(self.pack, [], self.round_number + 1, 1)
        if self.round.to_reshuffle:
            return Shuffle(self.round.to_reshuffle, [], self.round_number, 2)
        return None

    @property
    def to_act(self) -> list[int]:
        """The seats that may act."""
        return [] if self.round is None else self.round.to_act

    @property
    def piles(self) -> dict[str, Pile]:
        """The piles that hold cards."""
        return {} if self.round is None else with_cards(self.round.piles)

    def hands_seen_by(self, viewer: int) -> list[list[Card]]:
        """All hands for a seat, or a spectator by any other number: his own as it is, the others to be counted.

        Until the exchange is over other hands still pass for those that were dealt (110-VIS-1), whatever was kept or
        swapped. At all other times this is `hands`.
        """
        return self.hands if self.round is None else self.round.hands_seen_by(viewer)

    def piles_seen_by(self, viewer: int) -> dict[str, Pile]:
        """The piles for a seat, or a spectator by any other number.

        Until the exchange is over nobody sees what another put away or discarded, not even that there is such a pile,
        and the kitty lies where it was for all but the bid winner (110-VIS-4). At all other times this is `piles`.
        """
        return {} if self.round is None else with_cards(self.round.piles_seen_by(viewer))

    def legal(self, seat: int) -> Legal:
        """All that a seat may do; nothing if it is not to act."""
        return Legal([], []) if self.round is None else self.round.legal(seat)

    def shuffled(self, cards: list[Card], drawn: list[int]) -> Act:
        """Deal, or slip the put-away cards under the stock; raises Illegal for other cards than those wanted."""
        wanted = self.shuffle_wanted
        if wanted is None:
            raise Illegal("110-DEAL-1", "nothing is to be shuffled")
        if sorted(cards) != sorted(wanted.cards):
            raise Illegal("110-DEAL-4", f"{cards} are not {wanted.cards}")
        if self.round is not None and not self.round.is_over:
            self.round.reshuffled(list(cards))
            return {"type": "reshuffle", "stock": list(cards)}
        return self._deal(list(cards), drawn[0] if self.round is None else (self.round.dealer + 1) % self.seats)

    def act(self, seat: int, action: Act) -> None:
        """Do what a seat did; raises Illegal."""
        if self.ranking is not None:
            raise Illegal("110-END-1", "the game is over")
        if self.round is None or self.round.is_over:
            raise Illegal("110-DEAL-5", "the cards are not dealt yet")
        self.round.act(seat, action)
        if self.round.is_over:
            self._score(self.round)

    def agree(self, event: Act) -> None:
        """Refuse it: nothing can be proposed to this table."""
        raise Illegal("110-DEAL-1", f"{event}")

    def _deal(self, cards: list[Card], dealer: int) -> Act:
        """One card at a time from the dealer's left, then the kitty; the rest is the stock (110-DEAL-1, 110-DEAL-5)."""
        hands: list[list[Card]] = [[] for _ in range(self.seats)]
        for index in range(self.hand_size * self.seats):
            hands[(dealer + 1 + index) % self.seats].append(cards.pop(0))
        kitty, stock = cards[:KITTY_SIZE], cards[KITTY_SIZE:]
        event = {"type": "deal", "dealer": dealer, "hands": [list(hand) for hand in hands]}
        event |= {"kitty": list(kitty), "stock": list(stock)}
        self.hands = hands
        self.round_number += 1
        self.round = OneTenRound(dealer, hands, kitty, stock, self.options)
        return event

    def _score(self, done: OneTenRound) -> None:
        assert done.exchange is not None
        assert done.play is not None
        played = PlayedRound(
            tricks=done.play.taken,
            trump=done.play.trump,
            bid_winner=done.exchange.winner,
            bid=done.bidding.amount,
            scores_before=self.scores,
            bonus_forfeit=str(self.options["bonus_forfeit"]),
            bonus_counts_for_bid=bool(self.options["bonus_counts_for_bid"]),
        )
        points = round_points(played)
        self.scores = [score + change for score, change in zip(self.scores, points, strict=True)]
        self.rounds.append(Round(points, list(self.scores)))
        winner = first_at_target(played)
        if winner is not None or self.round_number == self.options["max_rounds"]:  # 110-END-1, 110-END-4
            self.ranking = ranking_of(self.scores, winner)


def with_cards(piles: dict[str, Pile]) -> dict[str, Pile]:
    """Those that are not empty."""
    return {name: pile for name, pile in piles.items() if pile.cards}
