"""A computer player of the house at a client's side: it decides by the view that the client folded."""

from collections.abc import Iterable
from random import Random

from croupier.cli.options import game_named, read_options
from croupier.engine.codec import decode_action, encode_action
from croupier.games.actions import Action, Keep, Swap
from croupier.games.cards import Card, Suit
from croupier.games.facts import Called, ContractChanged, Mark, Pile, PileCard, Seat, SeatView, View
from croupier.games.interface import Bot, CardChoice, Legal, OptionValue, Seen
from croupier_api.v1 import table_pb2 as pb
from croupier_client.cards import CardValue, SuitValue
from croupier_client.table import Table

_VERBS: dict[int, type[Action]] = {pb.CARD_CHOICE_VERB_KEEP: Keep, pb.CARD_CHOICE_VERB_SWAP: Swap}


class BotPlayer:
    """Plays one seat of one table as the first computer player of the game does; all its chance is the given one."""

    def __init__(self, info: pb.TableInfo, random: Random) -> None:
        game = game_named(info.game)
        self._bot: Bot = next(iter(game.bots.values()))
        self._options: dict[str, OptionValue] = read_options(game, len(info.seats), info.options.values)
        self._random = random

    def decide(self, table: Table) -> pb.Action:
        """What to do now; raises ValueError if there is nothing to decide."""
        if table.seat is None:
            raise ValueError("a spectator has nothing to decide")
        seen = Seen(table.seat, self._options, read_view(table.view), read_legal(table.legal_actions))
        return encode_action(self._bot(seen, self._random.randrange))


def read_view(view: pb.TableView) -> View:
    """A view as the rules have it."""
    return View(
        round_number=view.round,
        phase=view.phase,
        dealer=view.dealer if view.HasField("dealer") else None,
        seats=tuple(
            SeatView(it.card_count, _cards(it.cards), it.score, it.tricks_taken, it.out, it.place) for it in view.seats
        ),
        piles=tuple(Pile(it.name, it.count, tuple(map(_pile_card, it.cards))) for it in view.piles),
        calls=tuple(Called(it.seat, decode_action(it.action) if it.HasField("action") else None) for it in view.calls),
        contract=_contract(view.contract),
        marks=tuple(Mark(it.name, it.seat if it.HasField("seat") else None, it.value) for it in view.marks),
        card_order=_cards(view.card_order),
        seats_to_act=tuple(view.seats_to_act),
        ranking=tuple(tuple(group.seats) for group in view.ranking),
    )


def read_legal(legal: pb.LegalActions) -> Legal:
    """What may be done, as the rules have it."""
    choices = (
        CardChoice(_VERBS[it.verb], _cards(it.cards), it.min_cards, it.max_cards, tuple(map(_suit, it.suits)))
        for it in legal.choices
    )
    return Legal(tuple(map(decode_action, legal.actions)), tuple(choices))


def _cards(cards: Iterable[CardValue]) -> tuple[Card, ...]:
    """In the contract cards and suits count from 1."""
    return tuple(card - 1 for card in cards)


def _suit(suit: SuitValue) -> Suit:
    return suit - 1


def _pile_card(laid: pb.PileCard) -> PileCard:
    seat: Seat | None = laid.seat if laid.HasField("seat") else None
    return PileCard(laid.card - 1, seat)


def _contract(contract: pb.ContractChanged) -> ContractChanged:
    return ContractChanged(
        declarer=contract.declarer if contract.HasField("declarer") else None,
        partner=contract.partner if contract.HasField("partner") else None,
        name=contract.name if contract.HasField("name") else None,
        amount=contract.amount if contract.HasField("amount") else None,
        trump=_suit(contract.trump) if contract.HasField("trump") else None,
    )
