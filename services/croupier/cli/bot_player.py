"""A player that picks among what is legal by chance; it needs no rule of any game."""

from random import Random

from croupier_api.v1 import table_pb2 as pb
from croupier_api.v1.cards_pb2 import SUIT_UNSPECIFIED


def decide(legal: pb.LegalActions, random: Random) -> pb.Action:
    """One of the legal actions; each and every choice of cards is as likely. Raises ValueError if there is none."""
    alternatives = len(legal.actions) + len(legal.choices)
    if not alternatives:
        raise ValueError("there is nothing to decide")
    picked = random.randrange(alternatives)
    if picked < len(legal.actions):
        return legal.actions[picked]
    return _take(legal.choices[picked - len(legal.actions)], random)


def _take(choice: pb.CardChoice, random: Random) -> pb.Action:
    count = random.randint(choice.min_cards, choice.max_cards)
    # Positions rather than cards are drawn: a card that is held twice may be taken twice.
    cards = [choice.cards[at] for at in sorted(random.sample(range(len(choice.cards)), count))]
    if choice.verb == pb.CARD_CHOICE_VERB_SWAP:
        return pb.Action(swap=pb.SwapAction(cards=cards))
    trump = random.choice(choice.suits) if choice.suits else SUIT_UNSPECIFIED
    return pb.Action(keep=pb.KeepAction(cards=cards, trump=trump))
