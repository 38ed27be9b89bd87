"""Plays a replay, or the rows of a log, again by the judge's own rules, and compares it and all views."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from croupier_api.v1 import facts_pb2
from croupier_loadtest.judge.deals import deal, table_key
from croupier_loadtest.judge.notation import cards_of, legal_of, legal_texts
from croupier_loadtest.judge.replay import Replay
from croupier_loadtest.judge.rules.interface import Card, Illegal, JudgeTable, Legal, Pile, Round, Shuffle
from croupier_loadtest.judge.rules.registry import table_of
from croupier_loadtest.judge.streams import ViewerHistory, ViewerState
from croupier_loadtest.judge.violations import Found, Invariant

_NOTHING = Legal([], [])


class Position(NamedTuple):
    """The table between two entries, by the judge's rules."""

    round_number: int
    seen: Sequence[tuple[list[list[Card]], Mapping[str, Pile]]]
    """Hands and piles as each seat, and last a spectator, sees them; hands of others have the right counts only."""
    open_hands: Sequence[int]
    """The seats whose hands all see."""
    legal: Mapping[int, Legal]
    """By seat to act."""
    scores: list[int]
    ranking: list[list[int]] | None
    is_void: bool
    outcomes: list[str]
    """By seat; empty before the end, and if the game counts for no seat."""
    known: list[list[Card]]
    """By seat, the cards that all know to be in its hidden hand."""


@dataclass(frozen=True, slots=True)
class Verification:
    """The positions before the first entry and after each, up to a fault that stops the game."""

    positions: Sequence[Position]
    rounds: Sequence[Round]
    faults: Sequence[Found]
    """By number of the entry in the replay; 0 is the header."""
    shuffles: Mapping[int, tuple[list[Card], list[int]]]
    """By number of the entry, the cards and drawn numbers that follow from the seeds."""

    @property
    def ranking(self) -> list[list[int]] | None:
        """The ranking by the rules; None before the end of the game."""
        return self.positions[-1].ranking if self.positions else None

    @property
    def is_void(self) -> bool:
        """Whether the result is void by the rules."""
        return bool(self.positions) and self.positions[-1].is_void

    @property
    def outcomes(self) -> list[str]:
        """The outcomes of the seats by the rules; empty before the end, and if the game counts for no seat."""
        return self.positions[-1].outcomes if self.positions else []


def verify(replay: Replay) -> Verification | None:
    """Play a replay again; None for a game, or a version of its rules, that no judge knows."""
    rules = table_of(replay.header["game"], replay.header["rules_version"])
    if rules is None:
        return None
    try:
        table = rules(replay.header["seats"], replay.header["options"])
    except (KeyError, TypeError, ValueError) as error:
        return Verification((), (), [(Invariant.REPLAY_DIFFERS, 0, f"the options are not the game's: {error!r}")], {})
    verifier = _Verifier(replay, table)
    faults = list(verifier.faults())
    return Verification(verifier.positions, list(verifier.table.rounds), faults, verifier.shuffles)


class _Verifier:
    """Applies the entries of a replay to the judge's table."""

    def __init__(self, replay: Replay, table: JudgeTable) -> None:
        self.table = table
        self.positions = [_position(table)]
        self.shuffles: dict[int, tuple[list[Card], list[int]]] = {}
        self._replay = replay
        self._key = table_key(bytes.fromhex(replay.header["seed"]), replay.added)

    def faults(self) -> Iterator[Found]:
        for number, entry in enumerate(self._replay.entries, start=1):
            if self.table.ranking is not None:
                yield Invariant.REPLAY_DIFFERS, number, "the game was over before this entry"
                return
            rounds = len(self.table.rounds)
            if (fault := self._play(number, entry.line)) is not None:
                invariant, detail = fault
                yield invariant, number, detail
                return
            self.positions.append(_position(self.table))
            if self._replay.result is not None and self.table.rounds[rounds:] != entry.rounds:
                detail = f"the rounds are {entry.rounds}, by the rules {self.table.rounds[rounds:]}"
                yield Invariant.RESULT_DIFFERS, number, detail
        last, result = len(self._replay.entries), self._replay.result
        if result is None:
            return
        own: dict[str, Any] = {"ranking": self.table.ranking, "totals": self.table.scores}
        own |= {"void": True} if self.table.is_void else {}
        if self.table.ranking is None:
            yield Invariant.REPLAY_DIFFERS, last, "the replay ends before the game does"
        elif dict(result) != own:
            yield Invariant.RESULT_DIFFERS, last, f"the result is {dict(result)}, by the rules {own}"

    def _play(self, number: int, line: Mapping[str, Any]) -> tuple[Invariant, str] | None:
        if (shuffle := self.table.pending_shuffle) is not None:
            return self._deal(number, line, shuffle)
        if "cards" in line:
            return Invariant.RULES_BROKEN, "cards were shuffled though seats had to act"
        if "event" in line and line["event"]["type"] == "end":
            self.table.end_at_limit(line["event"]["limit"])
            return None
        if "agreed" in line:
            return Invariant.RULES_BROKEN, f"the rules have no proposal {line['agreed']!r}"
        if "event" not in line:
            return self._act(line)
        try:
            self.table.agree(line["event"])
        except Illegal as illegal:
            return Invariant.RULES_BROKEN, f"this event is not possible: {illegal}"
        return None

    def _deal(self, number: int, line: Mapping[str, Any], shuffle: Shuffle) -> tuple[Invariant, str] | None:
        if "seat" in line:
            return Invariant.RULES_BROKEN, f"seat {line['seat']} acted while cards had to be shuffled"
        shuffled = self.shuffles[number] = deal(self._key, shuffle)
        event = self.table.shuffled(*shuffled)
        is_row = "cards" in line
        if ((line["cards"], line["drawn"]) if is_row else line.get("event")) != (shuffled if is_row else event):
            return Invariant.DEAL_UNFAIR, "these cards do not follow from the seed and the seats' seeds"
        return None

    def _act(self, line: Mapping[str, Any]) -> tuple[Invariant, str] | None:
        seat, is_bot = line["seat"], self._replay.header["players"][line["seat"]]["bot"]
        if (line.get("auto") == "bot") != is_bot:
            detail = f"seat {seat} is {'a' if is_bot else 'no'} bot, the entry has {line.get('auto')}"
            return Invariant.REPLAY_DIFFERS, detail
        try:
            self.table.act(seat, line["action"])
        except Illegal as illegal:
            invariant = Invariant.RULES_BROKEN if "auto" in line else Invariant.ILLEGAL_ACCEPTED
            return invariant, f"seat {seat} acted {line['action']}: {illegal}"
        return None


def _position(table: JudgeTable) -> Position:
    return Position(
        table.round_number,
        table.seen(),
        table.open_hands,
        {seat: table.legal(seat) for seat in (table.to_act if table.ranking is None else ())},
        list(table.scores),
        table.ranking,
        table.is_void,
        table.outcomes,
        [list(cards) for cards in table.known],
    )


def check_positions(history: ViewerHistory, positions: Mapping[int, Position]) -> Iterator[Found]:
    """Yield differences between a viewer's states and the positions by the rules, by sequence."""
    for sequence, state in history.states.items():
        position = positions.get(sequence)
        if position is None:
            continue
        for invariant, detail in _differences(state, position, history.seat):
            yield invariant, sequence, f"{history.name}: {detail}"
        if state.legal_actions is None:
            continue
        shown = legal_texts(legal_of(state.legal_actions))
        own = legal_texts(_NOTHING if history.seat is None else position.legal.get(history.seat, _NOTHING))
        if shown != own:
            yield Invariant.RULES_BROKEN, sequence, f"{history.name} was offered {shown}, by the rules {own}"


def _differences(state: ViewerState, position: Position, seat: int | None) -> Iterator[tuple[Invariant, str]]:
    view, (hands, piles) = state.view, position.seen[-1 if seat is None else seat]
    values = {
        "round": (view.round, position.round_number),
        "seats to act": (list(view.seats_to_act), sorted(position.legal)),
        "ranking": ([list(group.seats) for group in view.ranking], position.ranking or []),
    }
    for name, (value, own) in values.items():
        if value != own:
            yield Invariant.RULES_BROKEN, f"the {name} is {value}, by the rules {own}"
    scores = [hand.score for hand in view.seats]
    if scores != position.scores:
        yield Invariant.RESULT_DIFFERS, f"the scores are {scores}, by the rules {position.scores}"
    for other, (hand, held) in enumerate(zip(view.seats, hands, strict=False)):
        if hand.card_count != len(held):
            yield Invariant.VIEW_DIFFERS, f"seat {other} is shown with {hand.card_count} cards, it has {len(held)}"
        is_seen = other == seat or other in position.open_hands
        yield from _compare_cards(f"hand of seat {other}", hand.cards, held if is_seen else [], is_own=other == seat)
        known = [] if is_seen else position.known[other]
        yield from _compare_cards(
            f"known part of the hand of seat {other}", hand.known_cards, known, is_own=other == seat
        )
    yield from _compare_piles(view, piles, seat)


def _compare_cards(
    name: str, numbers: Sequence[int], own: Sequence[Card], *, is_own: bool
) -> Iterator[tuple[Invariant, str]]:
    cards = cards_of(numbers)
    if sorted(cards) != sorted(own):
        is_hidden = not is_own and Counter(cards) - Counter(own)
        invariant = Invariant.HIDDEN_CARD_SEEN if is_hidden else Invariant.VIEW_DIFFERS
        yield invariant, f"the {name} is shown as {cards}, by the rules {own}"


def _compare_piles(
    view: facts_pb2.TableView, piles: Mapping[str, Pile], seat: int | None
) -> Iterator[tuple[Invariant, str]]:
    shown = {f"{pile.name} {pile.owner}" if pile.HasField("owner") else pile.name: pile for pile in view.piles}
    for name in shown.keys() | piles.keys():
        pile = shown.get(name, facts_pb2.Pile())
        own = piles.get(name, Pile([], frozenset()))
        is_known = own.seen_by is None or seat in own.seen_by
        if pile.count != len(own.cards):
            yield Invariant.VIEW_DIFFERS, f"{name} is shown with {pile.count} cards, it has {len(own.cards)}"
        elif pile.face_down != (own.seen_by is not None):
            yield Invariant.VIEW_DIFFERS, f"{name} is shown face {'down' if pile.face_down else 'up'}"
        if pile.cards and not is_known:
            yield Invariant.HIDDEN_CARD_SEEN, f"the cards of {name} are shown"
        if is_known:
            seats = [card.seat if card.HasField("seat") else None for card in pile.cards]
            cards = list(zip(cards_of(card.card for card in pile.cards), seats, strict=True))
            if cards != own.cards:
                yield Invariant.VIEW_DIFFERS, f"{name} is shown as {cards}, it is {own.cards}"
