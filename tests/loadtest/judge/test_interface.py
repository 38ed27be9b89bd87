"""The part of the judge's interface that all games share."""

from croupier_loadtest.judge.rules.interface import Choice, Legal
from tests.conformance.small_judge import HighCardTable


class LiveTable(HighCardTable):
    """A table that returns the list of a hand itself, which changes with the table."""

    def legal_in_turn(self, seat: int) -> Legal:
        hand = self.hands[seat]
        return Legal([{"type": "lay", "cards": hand}], [Choice("swap", hand, 1, 1, {})])


def test_legal_actions_stay_those_of_their_moment() -> None:
    table = LiveTable(2, {})
    table.shuffled(["2C", "3C", "4C", "5C", "6C", "7C"], [])
    seat = table.to_act[0]
    held = list(table.hands[seat])
    legal = table.legal(seat)
    table.hands[seat].clear()
    assert legal == Legal([{"type": "lay", "cards": held}], [Choice("swap", held, 1, 1, {})])
