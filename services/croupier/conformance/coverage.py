"""Coverage: what a game can do, by its code and its words, and how much of it walks have reached."""

import itertools
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from random import Random
from typing import NamedTuple

from croupier.conformance.attempts import attempted_actions, plays_of, refusing_rule, some_of_each_form
from croupier.conformance.description_laws import check_shown, defined_rules
from croupier.conformance.law import require
from croupier.conformance.play_laws import wrong_events
from croupier.conformance.source import named_by
from croupier.conformance.tables import SampledTable, Style, drawn_values, sample_options, styles
from croupier.conformance.words import Shown, in_action, in_description, in_fact, in_legal, in_view
from croupier.games.actions import Play
from croupier.games.cards import card_names
from croupier.games.facts import SPECTATOR
from croupier.games.interface import (
    NOTHING_LEGAL,
    Game,
    InvalidOption,
    OptionValue,
    ProposalAgreed,
    SeatActed,
    SeatsToAct,
    State,
    resolve_options,
)
from croupier.games.words import SHARED_WORDS, WordKind

MAX_TABLES = 200
"""So many tables are played at most until all is reached."""
LOOKS = 20
LATER_LOOKS = 0.1
"""So many positions of a kind are looked at, and of the later ones this share; those of one kind have the same phase,
marks and verbs with their words."""
ATTEMPTS = 4
"""The number of random actions of each form that a seat attempts there, besides plays of its own cards."""
REQUIRED = (WordKind.PHASE, WordKind.PILE, WordKind.MELD, WordKind.CALL, WordKind.CONTRACT, WordKind.REASON)
"""The kinds of words that tables must show. Others must be shown, or be named by the code."""


class Coverage(NamedTuple):
    """How often walks have reached each thing that a game can do, such as "action Play", and what they have not."""

    tables: int
    reached: Mapping[str, int]
    missing: tuple[str, ...]


def expected(game: Game) -> frozenset[str]:
    """Return what walks must reach: what the game's code and words name, without what `sampling` excuses."""
    named = named_by(type(game))
    things = {
        "action": named.actions,
        "fact": named.facts,
        "rule": named.rules(game.rule_prefix) | set(game.words.get(WordKind.RULE, {})),
        **{kind.name.lower(): game.words.get(kind, {}) for kind in REQUIRED},
    }
    values = {_value_text(*pair) for seats in game.seats for pair in _option_values(game, seats)}
    reachable = values | {f"{kind} {name}" for kind, names in things.items() for name in names}
    return frozenset(reachable - set(game.sampling.unreached))


def _value_text(name: str, value: OptionValue) -> str:
    return f"option {name}={str(value).lower() if isinstance(value, bool) else value}"


def _option_values(game: Game, seats: int) -> list[tuple[str, OptionValue]]:
    """Return the values of options to be played: each of a list, and the ends of a long range."""
    pairs = []
    for option in game.options(seats):
        values = drawn_values(game, option)
        ends = isinstance(values, range) and len(values) > 10
        pairs += [(option.name, value) for value in ((values[0], values[-1]) if ends else values)]
    return pairs


def covered(game: Game, seed: int) -> Coverage:
    """Play tables until all is reached, at most MAX_TABLES; raises LawBroken for words without a text or left over."""
    wanted, counts, shown, played = expected(game), Counter[str](), set(in_description(game)), 0
    kinds = Counter[Hashable]()
    for table in itertools.islice(_tables(game, seed), MAX_TABLES):
        played += 1
        reached = list(_reached_in(table, kinds))
        shown.update(thing for thing in reached if isinstance(thing, Shown))
        counts.update(map(_thing_text, reached))
        if wanted <= counts.keys():
            break
    check_shown(game, shown)
    _check_left_over(game, shown)
    _check_declared(game, counts)
    return Coverage(played, counts, tuple(sorted(wanted - counts.keys())))


def _thing_text(thing: Shown | str) -> str:
    return f"{thing.kind.name.lower()} {thing.word}" if isinstance(thing, Shown) else thing


def _tables(game: Game, seed: int) -> Iterator[SampledTable]:
    """Yield tables without end, with each value of each option in turn."""
    pairs = [(seats, pair) for seats in game.seats for pair in _option_values(game, seats)]
    values = list(dict.fromkeys([pair for _, pair in pairs]))
    for number in itertools.count():
        random, forced = Random(f"{seed}/{number}"), values[number % len(values)] if values else None
        seats = random.choice([seats for seats, pair in pairs if pair == forced] or game.seats)
        style = random.choice(styles(game, seats))
        steered = game.sampling.steered_options(seats) if style is Style.STEERED else {}
        wanted = dict([forced] if forced else []) | dict(steered)
        options = with_values(game, seats, wanted, random) or sample_options(game, seats, random)
        yield SampledTable(game, seats, game.new(seats, options), options, random, style)


def with_values(
    game: Game, seats: int, values: Mapping[str, OptionValue], random: Random
) -> dict[str, OptionValue] | None:
    """Return random options with these values; None if no others are valid with them."""
    for _ in range(50):
        try:
            return resolve_options(game, seats, sample_options(game, seats, random) | dict(values))
        except InvalidOption:
            continue
    return None


def _reached_in(table: SampledTable, kinds: Counter[Hashable]) -> Iterator[Shown | str]:
    """Yield all that a table reaches; a word is one that it shows."""
    yield from (_value_text(name, value) for name, value in table.options.items())
    yield from _reached_at(table, table.state)
    for step in table.walk():
        if isinstance(step.event, SeatActed):
            yield f"action {type(step.event.action).__name__}"
        for fact in step.facts:
            yield f"fact {type(fact).__name__}"
            yield from in_fact(fact)
        kind = _kind(table.game, step.after)
        kinds[kind] += 1
        if table.random.random() < max(LOOKS / kinds[kind], LATER_LOOKS):
            yield from _reached_at(table, step.after)


def _kind(game: Game, state: State) -> Hashable:
    """Return what tells positions apart in which different things may be refused."""
    view = game.view(state, SPECTATOR)
    legal = game.legal_actions(state, view.seats_to_act[0]) if view.seats_to_act else NOTHING_LEGAL
    actions = (*legal.actions, *[choice.action for choice in legal.choices])
    forms = {(type(action), *in_action(action)) for action in actions}
    return view.phase, tuple(mark.name for mark in view.marks), frozenset(forms)


def _reached_at(table: SampledTable, state: State) -> Iterator[Shown | str]:
    """Yield the words of a view and of legal actions, and the rules by which wrong events are refused."""
    game, awaiting = table.game, table.game.awaiting(state)
    acting = awaiting.seats if isinstance(awaiting, SeatsToAct) else ()
    yield from in_view(game.view(state, table.random.choice((*range(table.seats), SPECTATOR))))
    for seat in {*acting[:1], table.random.randrange(table.seats)}:
        legal, hand = game.legal_actions(state, seat), game.view(state, seat).seats[seat].cards
        yield from in_legal(legal)
        attempted = attempted_actions(game, legal, hand, table.random)
        tried = [
            *plays_of(hand),
            *[Play(card, table.random.randrange(4)) for card in hand],
            *some_of_each_form(attempted, ATTEMPTS, table.random),
        ]
        refused = {refusing_rule(game, state, SeatActed(seat, action)) for action in tried}
        yield from (Shown(WordKind.RULE, rule) for rule in sorted(refused) if rule)
    wrong = [*wrong_events(table, state), *map(ProposalAgreed, game.proposals)]
    yield from (f"rule {rule}" for event in wrong if (rule := refusing_rule(game, state, event)))


def _check_declared(game: Game, reached: Iterable[str]) -> None:
    """Check that rules that refuse are on the page, and that piles with cards are declared."""
    piles, rules = {f"pile {pile.name}" for pile in game.piles}, {f"rule {rule}" for rule in defined_rules(game)}
    unknown = sorted(thing for thing in reached if thing.partition(" ")[0] in ("pile", "rule"))
    unknown = [thing for thing in unknown if thing not in piles | rules]
    require(not unknown, f"piles that `piles` does not declare, or rules that the page does not define: {unknown}")


def _check_left_over(game: Game, shown: Iterable[Shown]) -> None:
    """Check that each declared word is shown, or named by the code for a case that no walk has met."""
    used, texts = {(one.kind, one.word) for one in shown}, named_by(type(game)).texts
    english = {text for words in game.words.values() for text in words.values()}
    cards = card_names(game.deck).cards
    left = sorted(
        f"{kind.name} {word}"
        for kind, words in game.words.items()
        for word in words
        if (kind, word) not in used
        and kind not in REQUIRED
        and not (word in SHARED_WORDS[kind] if kind == WordKind.TERM else word in cards)
        # The code has it as a word, perhaps as the text of it, and not once more.
        and texts[word] <= 1 + (word in english)
    )
    require(not left, f"words that are never shown: {', '.join(left)}")
