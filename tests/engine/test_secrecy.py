"""What a viewer may not know is in no byte that he gets: live, resumed, in snapshots and in refusals."""

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from google.protobuf.message import Message

from croupier.engine.fact_codec import StreamEncoder
from croupier.engine.streams import message_of
from croupier.engine.table import Step
from croupier.games.actions import PLAYS, Pass
from croupier.games.catalogue import GAMES
from croupier.games.facts import SPECTATOR, Seat, View, Viewer
from croupier.games.interface import CardsShuffled, IllegalAction, Legal, SeatActed, State
from croupier.runtime.errors import IllegalNow
from croupier_api.v1 import cards_pb2
from tests.engine.fakes import Bench
from tests.engine.play import ROUNDS, every_game, make_config, open_table, parsed, viewers, walk
from tests.games.fold import heard
from tests.games.test_secrecy import known, named, shown

CARD = cards_pb2.Card.DESCRIPTOR
SNAPSHOTS = 100


def cards_in(message: Message) -> Iterator[int]:
    """Every value of a Card field, however deep, as the games number cards."""
    for field, value in message.ListFields():
        if f"{message.DESCRIPTOR.name}.{field.name}" in ("CardOrder.cards", "TableView.card_order"):
            continue  # How hands are sorted tells of no hand.
        values = value if field.is_repeated else [value]
        if field.enum_type is not None and field.enum_type.full_name == CARD.full_name:
            yield from (number - 1 for number in values)
        elif field.message_type is not None and not field.message_type.GetOptions().map_entry:
            for each in values:
                yield from cards_in(each)


@every_game
def test_messages_tell_the_cards_of_the_facts_and_the_view_that_a_viewer_gets_and_no_others(
    game: str, seed: int
) -> None:
    """What these may tell him is tested with the rules."""
    random = Random(seed)
    config = make_config(game, random.choice(GAMES[game].seats), options=ROUNDS.get(game))
    encoder = StreamEncoder()
    for made in walk(config, random):
        for viewer in viewers(config):
            update = parsed(message_of(encoder, config, made, viewer)).update
            assert set(cards_in(update)) == {card for fact in heard(made.facts, viewer) for card in shown(fact)}
            if made.entry.sequence <= SNAPSHOTS:
                snapshot, view = (
                    parsed(encoder.snapshot(config, made.after, viewer)).snapshot,
                    made.after.game.view(viewer),
                )
                hands = {card for seat in view.seats for card in seat.cards}
                calls = {card for call in view.calls for card in named(call.action)}
                assert set(cards_in(snapshot.view)) == known(made.after.game, viewer) | hands | calls


@every_game
def test_the_seed_is_told_with_the_last_entry_and_not_before(game: str, seed: int) -> None:
    config, encoder = make_config(game), StreamEncoder()
    for made in walk(config, Random(seed)):
        sent = message_of(encoder, config, made, SPECTATOR), encoder.snapshot(config, made.after, SPECTATOR)
        told = {parsed(sent[0]).update.revealed_seed, parsed(sent[1]).snapshot.revealed_seed}
        assert told == {config.seed.hex() if made.after.is_over else ""}
        if not made.after.is_over:
            assert not any(config.seed in message or config.seed.hex().encode() in message for message in sent)


class OneSide:
    """A game that says what one viewer may know, and nothing else."""

    def __init__(self, game: State, viewer: Viewer) -> None:
        self._game, self._viewer = game, viewer

    def view(self, viewer: Viewer) -> View:
        assert viewer == self._viewer
        return self._game.view(viewer)

    def legal_actions(self, seat: Seat) -> Legal:
        assert seat == self._viewer
        return self._game.legal_actions(seat)


def one_side_of(made: Step, viewer: Viewer) -> Step:
    """A step without what it holds for others: their facts, the cards of shuffles, and what seats really did."""
    side: Any = OneSide(made.after.game, viewer)
    event = made.entry.event
    if isinstance(event, CardsShuffled):
        event = CardsShuffled(())
    elif isinstance(event, SeatActed):
        event = SeatActed(event.seat, Pass())
    entry, after = made.entry._replace(event=event), made.after._replace(game=side)
    return made._replace(entry=entry, facts=tuple(heard(made.facts, viewer)), after=after)


@every_game
def test_messages_are_made_of_what_the_game_says_to_their_viewer_and_of_nothing_else(game: str, seed: int) -> None:
    """That this is the same whatever is hidden from him is tested with the rules."""
    random, encoder = Random(seed), StreamEncoder()
    for seats in GAMES[game].seats:
        config = make_config(game, seats, seed=random.randbytes(32))
        for made in walk(config, random):
            for viewer in viewers(config):
                side = one_side_of(made, viewer)
                assert message_of(encoder, config, side, viewer) == message_of(encoder, config, made, viewer)
                snapshot = encoder.snapshot(config, made.after, viewer)
                assert encoder.snapshot(config, side.after, viewer) == snapshot


async def test_a_refusal_says_what_the_rules_say_and_no_more(engine: Bench) -> None:
    table = await open_table(engine, make_config())
    for seat in range(2):
        for play in PLAYS:
            if play in table.state.game.legal_actions(seat).actions:
                continue
            with pytest.raises(IllegalAction) as said:
                table.state.game.apply(SeatActed(seat, play))
            with pytest.raises(IllegalNow) as refusal:
                await table.act(seat, play, "luck", None)
            assert (refusal.value.message, refusal.value.metadata) == (str(said.value), {"rule": said.value.rule})
