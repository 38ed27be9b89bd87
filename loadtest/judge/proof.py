"""A replay, or the rows of a log, played again by the judge's own rules: what they say of each entry."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from loadtest.judge.deals import deal, table_key
from loadtest.judge.replay import Replay
from loadtest.judge.rules.catalogue import RULES
from loadtest.judge.rules.interface import Act, Card, Illegal, Legal, Pile, Round, Shuffle, Table
from loadtest.judge.violations import Found, Invariant


class Position(NamedTuple):
    """The table between two entries, as the rules have it."""

    round_number: int
    hands: list[list[Card]]
    piles: Mapping[str, Pile]
    legal: Mapping[int, Legal]
    """By seat to act."""
    scores: list[int]
    ranking: list[list[int]] | None


@dataclass(frozen=True, slots=True)
class Proof:
    """The table before the first entry and after each; it ends early at a fault after which it cannot go on."""

    positions: Sequence[Position]
    rounds: Sequence[Round]
    faults: Sequence[Found]
    """Each by the number of its entry in the replay; 0 is the header."""
    shuffles: Mapping[int, tuple[list[Card], list[int]]]
    """By number of the entry the cards, and the numbers drawn, that follow from the seeds."""

    @property
    def ranking(self) -> list[list[int]] | None:
        """How the game ended by the rules."""
        return self.positions[-1].ranking if self.positions else None


def prove(replay: Replay) -> Proof | None:
    """Play a replay again; None if the rules of the game are not known here."""
    rules = RULES.get(replay.header["game"])
    if rules is None:
        return None
    try:
        table = rules(replay.header["seats"], replay.header["options"])
    except (KeyError, TypeError, ValueError) as error:
        return Proof((), (), [(Invariant.REPLAY_UNTRUE, 0, f"the options are not the game's: {error!r}")], {})
    run = _Run(replay, table)
    faults = list(run.faults())
    return Proof(run.positions, list(run.table.rounds), faults, run.shuffles)


class _Run:
    """A replay on its way through the rules."""

    def __init__(self, replay: Replay, table: Table) -> None:
        self.table = table
        self.positions = [_position(table)]
        self.shuffles: dict[int, tuple[list[Card], list[int]]] = {}
        self._replay = replay
        self._key = table_key(bytes.fromhex(replay.header["seed"]), replay.added)

    def faults(self) -> Iterator[Found]:
        for number, entry in enumerate(self._replay.entries, start=1):
            if self.table.ranking is not None:
                yield Invariant.REPLAY_UNTRUE, number, "the game was over before this entry"
                return
            rounds = len(self.table.rounds)
            if (fault := self._play(number, entry.line)) is not None:
                invariant, detail = fault
                yield invariant, number, detail
                return
            self.positions.append(_position(self.table))
            if self._replay.result is not None and self.table.rounds[rounds:] != entry.rounds:
                detail = f"rounds told {entry.rounds}, by the rules {self.table.rounds[rounds:]}"
                yield Invariant.RESULT_DIFFERS, number, detail
        yield from self._result()

    def _play(self, number: int, line: Mapping[str, Any]) -> tuple[Invariant, str] | None:
        if (wanted := self.table.shuffle_wanted) is not None:
            return self._deal(number, line, wanted)
        if "cards" in line:
            return Invariant.RULES_BROKEN, "cards were shuffled though seats had to act"
        if "event" in line:
            return self._agree(line["event"])
        return self._act(line)

    def _deal(self, number: int, line: Mapping[str, Any], wanted: Shuffle) -> tuple[Invariant, str] | None:
        if "seat" in line:
            return Invariant.RULES_BROKEN, f"seat {line['seat']} acted while cards had to be shuffled"
        shuffled = self.shuffles[number] = deal(self._key, wanted)
        event = self.table.shuffled(*shuffled)
        is_row = "cards" in line
        if ((line["cards"], line["drawn"]) if is_row else line["event"]) != (shuffled if is_row else event):
            return Invariant.DEAL_UNFAIR, "these cards do not follow from the seed and the seats' seeds"
        return None

    def _agree(self, event: Act) -> tuple[Invariant, str] | None:
        try:
            self.table.agree(event)
        except Illegal as illegal:
            return Invariant.RULES_BROKEN, f"this could not happen at the table: {illegal}"
        return None

    def _act(self, line: Mapping[str, Any]) -> tuple[Invariant, str] | None:
        seat, is_bot = line["seat"], self._replay.header["players"][line["seat"]]["bot"]
        if (line.get("auto") == "bot") != is_bot:
            detail = f"seat {seat} is {'a' if is_bot else 'no'} computer player, told is {line.get('auto')}"
            return Invariant.REPLAY_UNTRUE, detail
        try:
            self.table.act(seat, line["action"])
        except Illegal as illegal:
            invariant = Invariant.RULES_BROKEN if "auto" in line else Invariant.ILLEGAL_ACCEPTED
            return invariant, f"seat {seat} did {line['action']}: {illegal}"
        return None

    def _result(self) -> Iterator[Found]:
        last, result = len(self._replay.entries), self._replay.result
        if result is None:
            return
        if self.table.ranking is None:
            yield Invariant.REPLAY_UNTRUE, last, "the replay ends before the game does"
        elif (result["ranking"], result["totals"]) != (self.table.ranking, self.table.scores):
            own = f"by the rules {self.table.ranking} with {self.table.scores}"
            yield Invariant.RESULT_DIFFERS, last, f"result told {result['ranking']} with {result['totals']}, {own}"


def _position(table: Table) -> Position:
    return Position(
        table.round_number,
        [list(hand) for hand in table.hands],
        table.piles,
        {seat: table.legal(seat) for seat in table.to_act},
        list(table.scores),
        table.ranking,
    )
