"""What a viewer may not know is in no byte that he gets: live, resumed, in snapshots and in refusals."""

from collections.abc import Iterator
from random import Random

import pytest
from google.protobuf.message import Message

from croupier.engine import streams
from croupier.engine.fact_codec import encode_refused
from croupier.engine.live import LiveTable
from croupier.engine.log import Entry, TableConfig
from croupier.engine.table import Step, advance, new_table, steps_of
from croupier.games.actions import PLAYS
from croupier.games.bots import random_of
from croupier.games.catalogue import GAMES
from croupier.games.facts import EVERYONE, SPECTATOR, Fact, HandRevealed, RoundEnded, Viewer
from croupier.games.interface import NOTHING_LEGAL, CardsShuffled, Legal, State
from croupier.runtime.errors import ServiceError
from croupier_api.v1 import cards_pb2
from tests.engine.fakes import START, Bench, FakeClock, FakeScoring, MemoryTableStore, bench
from tests.engine.play import (
    ROUNDS,
    choice,
    every_game,
    make_config,
    open_table,
    parsed,
    play_on,
    take_up,
    taken,
    until_end,
    viewers,
)
from tests.games.fold import heard
from tests.games.peculiar import PECULIAR
from tests.games.test_secrecy import called, common_legal, covered, known, named, shown, told
from tests.games.walk import usual

CARD = cards_pb2.Card.DESCRIPTOR
TWIN_ACTIONS = 40


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "LONGEST_QUEUE_MESSAGES", 10**6)


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


def told_to(facts: tuple[Fact, ...], viewer: Viewer) -> set[int]:
    """Cards that everybody, or he alone, is told of; open hands and the openly called card are those of others."""
    told: set[int] = set()
    for fact in facts:
        if fact.audience == EVERYONE or (viewer != SPECTATOR and fact.audience == 1 << viewer):
            told |= shown(fact)
        if fact.audience >> viewer & 1:
            told |= called(fact, viewer)
    return told


def choosable(legal: Legal) -> set[int]:
    """The cards of what may be done."""
    listed = {card for action in legal.actions for card in named(action)}
    return listed | {card for choice in legal.choices for card in choice.cards}


def may_know(made: Step, before: State, viewer: Viewer) -> set[int]:
    after = made.after.game
    own = choosable(after.legal_actions(viewer)) if viewer in made.after.seats_to_act else set()
    return known(before, viewer) | known(after, viewer) | told_to(made.facts, viewer) | own


@every_game
async def test_no_message_of_a_whole_game_tells_a_card_that_its_viewer_may_not_know(
    engine: Bench, game: str, seed: int
) -> None:
    random = Random(seed)
    config = make_config(game, random.choice(GAMES[game].seats), options=ROUNDS.get(game))
    table = await open_table(engine, config)
    live = {viewer: table.subscribe(viewer, 0) for viewer in viewers(config)}
    await play_on(table, random)
    for viewer, stream in live.items():
        before = new_table(config).game
        assert not all(made.public for made in list(steps_of(config, table.entries))[1:])
        for made, message in zip(steps_of(config, table.entries), await until_end(stream), strict=True):
            assert set(cards_in(parsed(message))) <= may_know(made, before, viewer), (viewer, made.entry.sequence)
            before = made.after.game


@every_game
async def test_no_snapshot_tells_a_card_of_another_hand(engine: Bench, game: str, seed: int) -> None:
    random = Random(seed)
    config = make_config(game, random.choice(GAMES[game].seats), options=ROUNDS.get(game))
    table = await open_table(engine, config)
    open_cards: set[int] = set()
    for _ in range(100):
        if table.state.is_over:
            return
        for viewer in viewers(config):
            stream = table.subscribe(viewer, None)
            (message,) = await taken(stream)
            table.audience.leave(stream)
            own = choosable(table.state.game.legal_actions(viewer)) if viewer in table.state.seats_to_act else set()
            told = {card for call in table.state.game.view(viewer).calls for card in named(call.action)}
            assert set(cards_in(parsed(message))) <= known(table.state.game, viewer) | own | told | open_cards
        sequence = table.state.sequence
        seat, action = choice(table.state, random)
        await table.act(seat, action, f"r{sequence}", None)
        for made in steps_of(config, table.entries):
            if made.entry.sequence > sequence:
                if isinstance(made.entry.event, CardsShuffled):
                    open_cards.clear()
                revealed = [fact.cards for fact in made.facts if isinstance(fact, HandRevealed)]
                open_cards |= {card for hand in revealed for card in hand}


@every_game
async def test_an_entry_shows_each_viewer_just_the_facts_meant_for_him(engine: Bench, game: str, seed: int) -> None:
    config = make_config(game, options=ROUNDS.get(game))
    table = await open_table(engine, config)
    live = {viewer: table.subscribe(viewer, 0) for viewer in viewers(config)}
    await play_on(table, Random(seed))
    for viewer, stream in live.items():
        for made, message in zip(steps_of(config, table.entries), await until_end(stream), strict=True):
            update = parsed(message).update
            meant = [fact for fact in made.facts if fact.audience == EVERYONE or fact.audience & (1 << viewer)]
            assert len(update.facts) == len(meant)
            assert parsed(message).HasField("legal_actions") == (viewer in made.after.seats_to_act)


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


async def refusals(table: LiveTable, viewer: Viewer, random: Random) -> list[bytes]:
    """What a seat hears when it tries its luck; nothing of it is accepted."""
    answers = []
    legal = table.state.game.legal_actions(viewer)
    for play in [play for play in random.sample(PLAYS, 12) if play not in legal.actions]:
        with pytest.raises(ServiceError) as refusal:
            await table.act(viewer, play, "luck", None)
        answers.append(encode_refused("luck", refusal.value))
    return answers


@every_game
async def test_hidden_cards_make_no_difference_in_any_byte(game: str, seed: int) -> None:
    random = Random(seed)
    for number in range(6):
        config = make_config(game, random.choice(GAMES[game].seats), seed=random.randbytes(32))
        for viewer in viewers(config):
            await _play_alike(config, viewer, Random(f"{seed}/{number}/{viewer}"))


async def _play_alike(config: TableConfig, viewer: Viewer, random: Random) -> None:
    (dealt,) = advance(config, new_table(config), START, None)
    public = PECULIAR[config.game].public_cards(config.options)
    pair: list[LiveTable] = []
    for entry in (dealt.entry, exchanged(dealt, viewer, public, random)):
        side = bench(FakeClock(), MemoryTableStore(), FakeScoring())
        await side.store.open(config, [entry])
        pair.append(await take_up(side, config.table_id))
    one, other = pair
    followed = one.subscribe(viewer, 0), other.subscribe(viewer, 0)
    luck, alike = random.random(), 1
    for _ in range(TWIN_ACTIONS):
        if viewer != SPECTATOR:
            answers = [await refusals(table, viewer, Random(luck)) for table in pair]
            assert answers[0] == answers[1]
        assert one.state.seats_to_act == other.state.seats_to_act
        if not one.state.seats_to_act:
            break
        seat = random.choice(one.state.seats_to_act)
        legal = common_legal(*(table.state.game.legal_actions(seat) for table in pair))
        if legal == NOTHING_LEGAL:
            break
        action = random_of(usual(GAMES[config.game], legal, random), random.randrange)
        before = [table.state for table in pair]
        await one.act(seat, action, f"r{one.state.sequence}", None)
        await other.act(seat, action, f"r{other.state.sequence}", None)
        if any(_tells_of_hands(table, state.sequence) for table, state in zip(pair, before, strict=True)):
            break
        mine, others = (_heard_since(table, state.sequence, viewer) for table, state in zip(pair, before, strict=True))
        assert covered(mine, viewer) == covered(others, viewer)
        if told(mine) != told(others):  # They drew cards that were exchanged, or the same ones in another order.
            break
        alike = one.state.sequence
        snapshots = [table.subscribe(viewer, None) for table in pair]
        assert await taken(snapshots[0]) == await taken(snapshots[1])
        for table, stream in zip(pair, snapshots, strict=True):
            table.audience.leave(stream)
    messages = [await taken(stream) for stream in followed]
    assert messages[0][:alike] == messages[1][:alike]
    assert len(messages[0]) == one.state.sequence
    resumed = [await taken(table.subscribe(viewer, 0)) for table in pair]
    assert resumed == messages


def _heard_since(table: LiveTable, after: int, viewer: Viewer) -> list[Fact]:
    """What a viewer was told after an entry."""
    steps = [made for made in steps_of(table.config, table.entries) if made.entry.sequence > after]
    return heard((fact for made in steps for fact in made.facts), viewer)


def _tells_of_hands(table: LiveTable, after: int) -> bool:
    """Whether hands were laid open or dealt anew, or the rules told everybody something about them."""
    reveals = PECULIAR[table.config.game].reveals
    steps = [made for made in steps_of(table.config, table.entries) if made.entry.sequence > after]
    facts = [fact for made in steps for fact in made.facts]
    return len(steps) > 1 or any(isinstance(fact, HandRevealed | RoundEnded) or reveals(fact) for fact in facts)
