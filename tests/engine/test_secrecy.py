"""What a viewer may not know is in no byte that he gets: live, resumed, in snapshots and in refusals."""

from collections.abc import Iterator
from random import Random

import pytest
from google.protobuf.message import Message

from croupier.engine.fact_codec import StreamEncoder
from croupier.engine.log import Entry, TableConfig
from croupier.engine.streams import message_of
from croupier.engine.table import Step, advance, new_table, step
from croupier.games.actions import PLAYS
from croupier.games.bots import random_of
from croupier.games.catalogue import GAMES
from croupier.games.facts import SPECTATOR, HandRevealed, RoundEnded, Viewer
from croupier.games.interface import NOTHING_LEGAL, CardsShuffled, IllegalAction, SeatActed
from croupier.runtime.errors import IllegalNow
from croupier_api.v1 import cards_pb2
from tests.engine.fakes import START, Bench
from tests.engine.play import ROUNDS, every_game, make_config, open_table, parsed, viewers, walk
from tests.games.fold import heard
from tests.games.peculiar import PECULIAR
from tests.games.test_secrecy import common_legal, covered, known, named, shown, told
from tests.games.walk import usual

CARD = cards_pb2.Card.DESCRIPTOR
TWIN_ACTIONS = 40
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


def exchanged(made: Step, viewer: Viewer, public: tuple[int, ...], random: Random) -> Entry:
    """The deal with some cards exchanged that the viewer does not see."""
    assert isinstance(made.entry.event, CardsShuffled)
    cards = list(made.entry.event.cards)
    seen = {card for fact in made.facts if fact.audience >> viewer & 1 for card in shown(fact)}.union(public)
    hidden = [at for at, card in enumerate(cards) if card not in seen]
    places = random.sample(hidden, min(len(hidden), random.choice((2, 3, 5, 52))))
    for place, card in zip(places, [cards[at] for at in places[1:] + places[:1]], strict=True):
        cards[place] = card
    return made.entry._replace(event=CardsShuffled(tuple(cards), made.entry.event.drawn))


@every_game
def test_hidden_cards_make_no_difference_in_any_byte(game: str, seed: int) -> None:
    random = Random(seed)
    for _ in range(6):
        config = make_config(game, random.choice(GAMES[game].seats), seed=random.randbytes(32))
        for viewer in viewers(config):
            _play_alike(config, viewer, random)


def _play_alike(config: TableConfig, viewer: Viewer, random: Random) -> None:
    """Play two tables on in the same way until the viewer is told of what differs."""
    encoder, new, peculiar = StreamEncoder(), new_table(config), PECULIAR[config.game]
    (dealt,) = advance(config, new, START, None)
    pair = [dealt, step(config, new, exchanged(dealt, viewer, peculiar.public_cards(config.options), random))]
    for _ in range(TWIN_ACTIONS):
        facts = [fact for made in pair for fact in made.facts]
        if any(isinstance(fact, HandRevealed | RoundEnded) or peculiar.reveals(fact) for fact in facts):
            return
        mine, others = (heard(made.facts, viewer) for made in pair)
        assert covered(mine, viewer) == covered(others, viewer)
        if told(mine) != told(others):  # He drew cards that were exchanged, or the same ones in another order.
            return
        one, other = (
            [message_of(encoder, config, made, viewer), encoder.snapshot(config, made.after, viewer)] for made in pair
        )
        assert one == other
        seats, others_seats = (made.after.seats_to_act for made in pair)
        assert seats == others_seats
        if not seats:
            return
        seat = random.choice(seats)
        legal = common_legal(*(made.after.game.legal_actions(seat) for made in pair))
        if legal == NOTHING_LEGAL:
            return
        acted = SeatActed(seat, random_of(usual(GAMES[config.game], legal, random), random.randrange))
        steps = [advance(config, made.after, START, acted) for made in pair]
        if any(len(made) > 1 for made in steps):
            return
        pair = [made for (made,) in steps]


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
