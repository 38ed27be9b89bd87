"""The tricks of a round of 110."""

from loadtest.judge.rules.interface import Act, Card, Illegal, Legal, Pile
from loadtest.judge.rules.one_ten.cards import playable
from loadtest.judge.rules.one_ten.scoring import Trick, taker


class Play:
    """The trick on the table and those that are taken; it takes cards out of the hands that it is given."""

    def __init__(self, hands: list[list[Card]], leader: int, trump: str, force_out: str) -> None:
        self.hands = hands
        self.hand_size = len(hands[leader])
        self.trump = trump
        self.force_out = force_out
        self.leader = leader  # 110-TRICK-1: the bid winner at first
        self.trick: Trick = []
        self.taken: list[Trick] = []

    @property
    def is_over(self) -> bool:
        """Whether there have been as many tricks as a hand has cards (110-TRICK-4)."""
        return len(self.taken) == self.hand_size

    @property
    def to_act(self) -> list[int]:
        """The next seat clockwise from the leader (110-TRICK-3)."""
        return [] if self.is_over else [(self.leader + len(self.trick)) % len(self.hands)]

    def legal(self, seat: int) -> Legal:
        """Each card that may be played, listed once."""
        return Legal([{"type": "play", "card": card} for card in sorted(set(self._playable(seat)[1]))], [])

    def act(self, seat: int, action: Act) -> None:
        """Play a card; raises Illegal."""
        if action.get("type") != "play" or set(action) != {"type", "card"}:
            raise Illegal("110-TRICK-3", f"{action}")
        card = action["card"]
        rule, cards = self._playable(seat)
        if card not in self.hands[seat]:
            raise Illegal("110-PLAY-1", f"{card} is not in the hand")
        if card not in cards:
            raise Illegal(rule, f"{card} to {self.trick}")
        self.hands[seat].remove(card)
        self.trick.append((card, seat))
        if len(self.trick) == len(self.hands):
            self.leader = taker(self.trick, self.trump)  # 110-TRICK-6
            self.taken.append(self.trick)
            self.trick = []

    def piles(self) -> dict[str, Pile]:
        """The open cards."""
        taken = [card for trick in self.taken for card in trick]
        return {"trick": Pile([*self.trick], None), "taken": Pile([*taken], None)}

    def _playable(self, seat: int) -> tuple[str, list[Card]]:
        return playable(self.hands[seat], [card for card, _ in self.trick], self.trump, self.force_out)
