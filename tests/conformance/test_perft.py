"""The lines that perft counts have every listed action, and each way in which a choice can be made."""

from croupier.conformance.perft import acts
from croupier_loadtest.judge.rules.interface import Choice, Legal

LEGAL = Legal(
    [{"type": "pass"}],
    [
        Choice("swap", ["2C", "3C"], 0, 1, {}),
        Choice("bid", [], 0, 0, {"amount": [10, 20]}),
        Choice("keep", [], 0, 0, {"trump": ["C", "D"]}),
    ],
)


def test_choices_are_counted_in_all_ways() -> None:
    swaps = [{"type": "swap", "cards": cards} for cards in ([], ["2C"], ["3C"])]
    bids = [{"type": "bid", "amount": amount} for amount in (10, 20)]
    keeps = [{"type": "keep", "cards": [], "trump": trump} for trump in "CD"]
    assert list(acts(LEGAL, chooses=True)) == [{"type": "pass"}, *swaps, *bids, *keeps]
    assert list(acts(LEGAL, chooses=False)) == [{"type": "pass"}]
