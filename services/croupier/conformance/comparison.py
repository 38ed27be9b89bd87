"""The comparison of the engine's rules with the judge's, which were written from the rules page alone.

`ComparedTable` follows a whole game, and compares all that can be known after each event.
"""

import json
import pickle
from collections.abc import Callable, Collection
from functools import lru_cache
from random import Random
from typing import Any, NamedTuple

from croupier.conformance.attempts import attempted_actions, plays_of, refusing_rule
from croupier.conformance.law import require_equal
from croupier.games import interface
from croupier.games.actions import Action, Play, decode_action, encode_action
from croupier.games.bots import with_empty_swaps
from croupier.games.cards import NOTATION, SUITS, CardFace, CardNames
from croupier.games.choices import ActionChoice
from croupier.games.facts import SPECTATOR, Fact, Ranking, RoundEnded, View, Viewer
from croupier.games.interface import (
    CardsShuffled,
    Event,
    Game,
    IllegalAction,
    OptionValues,
    ProposalAgreed,
    SeatActed,
    SeatsToAct,
    State,
)
from croupier_loadtest.judge.rules.interface import Choice, Illegal, JudgeTable, Legal, ReplayAction

TURN, HELD = 0.8, 0.5
"""The probability that an attempt is by the seat to act, and with a card of its own."""
PROPOSALS = 0.1
"""The probability that it is a proposal, in games with proposals."""


def judge_names(game: Game) -> CardNames:
    """Return the notation of the judge, in which a card of a game's own deck is "#" and its number in the contract."""
    return _judge_names(game.deck)


@lru_cache(maxsize=16)
def _judge_names(deck: tuple[CardFace, ...]) -> CardNames:
    texts = dict(enumerate(NOTATION)) | {face.card: f"#{face.card + 1}" for face in deck}
    return CardNames(texts, {text: card for card, text in texts.items()})


class ComparedTable(NamedTuple):
    """A table by both implementations, after the same events."""

    game: Game
    state: State
    table: JudgeTable

    @classmethod
    def new(cls, game: Game, judge: type[JudgeTable], seats: int, options: OptionValues) -> "ComparedTable":
        """Return a table before its first deal."""
        return cls(game, game.new(seats, options), judge(seats, options))

    @property
    def seats(self) -> range:
        """All seats."""
        return range(self.table.seats)

    def copied(self) -> "ComparedTable":
        """Return the same tables, the judge's as a copy, because it changes in place."""
        return self._replace(table=pickle.loads(pickle.dumps(self.table)))  # noqa: S301 - of this process

    def apply(self, event: Event, viewers: Collection[Viewer] = ()) -> tuple["ComparedTable", tuple[Fact, ...]]:
        """Apply a legal event to both and compare them as `compare` does; the judge's table changes in place."""
        game, state, table = self
        after, facts = game.apply(state, event)
        rounds, names = len(table.rounds), judge_names(game)
        match event:
            case SeatActed(seat, action):
                table.act(seat, encode_action(action, names))
            case CardsShuffled(cards, drawn):
                written = table.shuffled([names.text(card) for card in cards], list(drawn))
                require_equal("the record of a shuffle by the judge", written, self._record(event))
            case ProposalAgreed():
                table.agree(game.event_record(state, event))
        ended = [(list(fact.score.points), list(fact.score.totals)) for fact in facts if isinstance(fact, RoundEnded)]
        require_equal("the rounds of the judge", [(one.points, one.totals) for one in table.rounds[rounds:]], ended)
        compared = self._replace(state=after)
        compared.compare(viewers)
        return compared, facts

    def _record(self, event: CardsShuffled) -> ReplayAction:
        """Return the record of a shuffle with the judge's notation of cards."""
        names = {face.notation: f"#{face.card + 1}" for face in self.game.deck}

        def renamed(value: Any) -> Any:
            return [renamed(one) for one in value] if isinstance(value, list) else names.get(value, value)

        record = self.game.event_record(self.state, event)
        return {key: renamed(value) for key, value in record.items()} if names else record

    def compare(self, viewers: Collection[Viewer] = ()) -> None:
        """Require that all that these viewers can know of the two tables is the same; by default all viewers."""
        game, state, table = self
        self._compare_awaiting()
        for seat in self.seats:
            legal, own = engine_legal(game, state, seat), table.legal(seat)
            if legal != own:
                require_equal(f"the legal actions of seat {seat} by the judge", _canonical(own), _canonical(legal))
        for viewer in viewers or (*self.seats, SPECTATOR):
            _compare_view(game, game.view(state, viewer), viewer, table)
        require_equal("the scores of the judge", table.scores, list(game.scores(state)))

    def _compare_awaiting(self) -> None:
        """Compare the awaited events, or the end of the game."""
        game, state, table = self
        awaiting, names = game.awaiting(state), judge_names(game)
        due = awaiting if isinstance(awaiting, interface.ShuffleNeeded) else None
        cards = [names.text(card) for card in due.cards] if due else []
        pending = (cards, list(due.draw_bounds), due.round_number, due.shuffle_number) if due else None
        require_equal("the shuffle that is due by the judge", table.pending_shuffle, pending)
        seats = list(awaiting.seats) if isinstance(awaiting, SeatsToAct) else []
        require_equal("the seats to act by the judge", table.to_act, seats)
        over = awaiting if isinstance(awaiting, interface.GameOver) else None
        outcomes = game.outcomes(over.ranking, over.reason) if over and not over.is_void else ()
        require_equal("the outcomes of the judge", table.outcomes, list(outcomes))
        require_equal("the ranking of the judge", _groups(table.ranking), _groups(over.ranking if over else None))
        if seats:
            at_limit = game.ranking_at_limit(state)
            require_equal("the judge's ranking at a limit", _groups(table.ranking_at_limit()), _groups(at_limit))

    def refusal(self, event: Event) -> str | None:
        """Return the rule by which the judge refuses an event, "" if it does not, None for events that it cannot check.

        It cannot check shuffles, which only the engine makes, nor seats and actions that do not exist.
        """
        if isinstance(event, SeatActed):
            written = _to_json(self.game, event.action) if event.seat in self.seats else None
            return None if written is None else self.refusal_of_action(event.seat, written)
        if isinstance(event, ProposalAgreed):
            record = self._proposal(event)
            return self._refusal(lambda table: table.agree(record))
        return None

    def _proposal(self, event: ProposalAgreed) -> ReplayAction:
        """Return a proposal as a replay has it; one that is refused has no such form."""
        try:
            return self.game.event_record(self.state, event)
        except IllegalAction:
            return {"type": event.proposal}

    def refusal_of_action(self, seat: int, action: ReplayAction) -> str:
        """Return the rule by which the judge refuses an action as JSON; "" if it does not."""
        return self._refusal(lambda table: table.act(seat, action))

    def _refusal(self, act: Callable[[JudgeTable], object]) -> str:
        trial = self.copied()
        try:
            act(trial.table)
        except Illegal as refusal:
            trial.compare()  # A refusal changes nothing.
            return refusal.rule
        return ""

    def compare_refusal(self, event: Event) -> str:
        """Return the rule by which both refuse an event; "" if both accept it."""
        rule = refusing_rule(self.game, self.state, event)
        judged = self.refusal(event)
        if judged is not None:
            require_equal(f"the rule by which the judge refuses {event}", judged, rule)
        return rule

    def compare_attempt(self, random: Random) -> None:
        """Require that both refuse a random action or proposal by the same rule, or are the same after it."""
        event = self._attempt(random)
        if not self.compare_refusal(event):
            self.copied().apply(event)

    def _attempt(self, random: Random) -> Event:
        game, state = self.game, self.state
        if game.proposals and random.random() < PROPOSALS:
            return ProposalAgreed(random.choice(list(game.proposals)))
        awaiting = game.awaiting(state)
        acting = awaiting.seats if isinstance(awaiting, SeatsToAct) else self.seats
        seat = random.choice(acting if random.random() < TURN else self.seats)
        hand = game.view(state, seat).seats[seat].cards
        if hand and random.random() < HELD:
            return SeatActed(seat, random.choice(plays_of(hand)))
        legal = game.legal_actions(state, random.choice(acting))
        return SeatActed(seat, random.choice(attempted_actions(game, legal, hand, random)))


def _groups(ranking: Ranking | list[list[int]] | None) -> list[list[int]] | None:
    return None if ranking is None else [sorted(group) for group in ranking]


def _to_json(game: Game, action: Action) -> ReplayAction | None:
    """Return the action as JSON; None for one that has no encoding, such as an unknown card."""
    names = judge_names(game)
    try:
        written: ReplayAction = encode_action(action, names)
        return written if decode_action(written, names) == action else None
    except (IndexError, TypeError, ValueError):
        return None


def _compare_view(game: Game, view: View, viewer: Viewer, table: JudgeTable) -> None:
    """Compare the views of a seat or the spectators; the judge's table has hooks for views that differ (110-VIS-4)."""
    texts = judge_names(game).texts
    require_equal("the round by the judge", table.round_number, view.round_number)
    require_equal("the totals by the judge", table.scores, [seat.score for seat in view.seats])
    hands, piles = table.seen()[-1 if viewer == SPECTATOR else viewer]
    engine = {
        pile.name if pile.owner is None else f"{pile.name} {pile.owner}": (
            pile.card_count,
            [(texts[card], seat) for card, seat in pile.cards],
        )
        for pile in view.piles
    }
    judge = {
        name: (len(pile.cards), list(pile.cards) if pile.seen_by is None or viewer in pile.seen_by else [])
        for name, pile in piles.items()
    }
    require_equal(f"the piles that {viewer} sees by the judge", judge, engine)
    for seat, (shown, hand) in enumerate(zip(view.seats, hands, strict=True)):
        require_equal(f"the number of cards of seat {seat} that {viewer} sees", len(hand), shown.card_count)
        is_seen = seat == viewer or seat in table.open_hands
        held, known = (sorted(texts[card] for card in cards) for cards in (shown.cards, shown.known_cards))
        require_equal(f"the hand of seat {seat} that {viewer} sees by the judge", sorted(hand) if is_seen else [], held)
        judged = [] if is_seen else sorted(table.known[seat])
        require_equal(f"the known cards of seat {seat} that {viewer} sees by the judge", judged, known)


def engine_legal(game: Game, state: State, seat: int) -> Legal:
    """Return the engine's legal actions of a seat in the judge's form, in which standing pat is a swap of no cards."""
    legal, names = with_empty_swaps(game.legal_actions(state, seat)), judge_names(game)
    choices = [_written_choice(choice, names) for choice in legal.choices]
    return Legal([encode_action(action, names) for action in legal.actions], choices)


def _written_choice(choice: ActionChoice, names: CardNames) -> Choice:
    """Return a choice in the judge's form, in which each part but cards has the list of its values."""
    written = encode_action(choice.action, names)
    parts: dict[str, Any] = {name: [value] for name, value in written.items() if name not in ("type", "cards")}
    if choice.suits:
        parts["suit" if isinstance(choice.action, Play) else "trump"] = [SUITS[suit] for suit in choice.suits]
    if choice.amount:
        parts["amount"] = list(choice.amount.amounts)
    if choice.seats:
        parts["seat"] = list(choice.seats)
    fixed: list[str] = written.get("cards", [])
    if choice.cards is None:
        return Choice(written["type"], fixed, len(fixed), len(fixed), parts)
    cards, fewest, most = choice.cards
    return Choice(written["type"], [names.text(card) for card in cards], fewest, most, parts)


def _canonical(legal: Legal) -> list[str]:
    """Return legal actions in one order without repeats; no more cards can be chosen than there are."""
    actions = {json.dumps(action, sort_keys=True) for action in legal.actions}
    choices = {
        (verb, *sorted(cards), fewest, min(most, len(cards)), json.dumps(parts, sort_keys=True))
        for verb, cards, fewest, most, parts in legal.choices
    }
    return sorted(actions) + sorted(map(str, choices))
