"""What the records say of a finished table: its replay, proved through the rules, and scoring's sheet."""

import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

from croupier.engine.codec import decode_action, encode_legal
from croupier.engine.fact_codec import encode_view
from croupier.engine.replay import ReplayFault, ReplaySummary, agreed_proposal, verify_replay
from croupier.engine.shuffles import shuffle, stream_key
from croupier.games.actions import action_from_json, action_to_json
from croupier.games.catalogue import GAMES
from croupier.games.interface import ProposalAgreed, SeatActed, ShuffleNeeded, State
from croupier_api.v1 import engine_pb2, scoring_pb2, table_pb2
from croupier_client import card_text
from croupier_client.cards import CardValue

_AUTO: Mapping[int, str] = {engine_pb2.ACTED_BY_TIMEOUT: "timeout", engine_pb2.ACTED_BY_BOT: "bot"}


class Heard(NamedTuple):
    """An entry of the log as a stream told it; `card` where the facts show plainly which was played.

    An entry that gives time back is no event of the game: replays leave it out, and count on without it.
    """

    at_milliseconds: int
    seat: int | None
    acted_by: int
    card: CardValue | None
    gives_time_back: bool = False


class Seen(NamedTuple):
    """What a viewer had before him at one sequence."""

    view: table_pb2.TableView
    legal_actions: table_pb2.LegalActions
    clock: engine_pb2.TurnClock
    revealed_seed: str
    known: frozenset[int]


@dataclass(frozen=True)
class Story:
    """A game as one seat lived it: what he heard, what was acknowledged to him, what he saw, and how it ended."""

    info: table_pb2.TableInfo
    seat: int
    heard: Mapping[int, Heard]
    acknowledged: Mapping[int, table_pb2.Action]
    seen: Mapping[int, Seen]
    rounds: Sequence[table_pb2.RoundEnded]
    last_sequence: int

    @property
    def _last(self) -> Seen:
        return self.seen[self.last_sequence]

    @property
    def ranking(self) -> list[list[int]]:
        """Groups of seats, best first."""
        return [list(group.seats) for group in self._last.view.ranking]

    @property
    def totals(self) -> list[int]:
        """Points by seat."""
        return [seat.score for seat in self._last.view.seats]

    @property
    def revealed_seed(self) -> str:
        """The secret seed in hexadecimal."""
        return self._last.revealed_seed

    @cached_property
    def _left_out(self) -> list[int]:
        return sorted(sequence for sequence, heard in self.heard.items() if heard.gives_time_back)

    def replayed(self, sequence: int) -> int:
        """The number that a replay gives to the last event of the game up to an entry."""
        return sequence - bisect_right(self._left_out, sequence)


@dataclass(frozen=True, slots=True)
class Proof:
    """A replay with what the rules say of it; `fault` says why it is not true, and then there is nothing else."""

    replay: str
    fault: str = ""
    summary: ReplaySummary | None = None
    lines: tuple[dict[str, Any], ...] = ()
    states: tuple[State, ...] = ()
    """The table after each entry; states[0] is after entry 1."""


class Difference(NamedTuple):
    """Something on which two records do not agree."""

    sequence: int
    detail: str


def prove(replay: str) -> Proof:
    """Play a replay again by the rules."""
    try:
        summary = verify_replay(replay)
    except ReplayFault as fault:
        return Proof(replay, fault=str(fault))
    lines = tuple(json.loads(line) for line in replay.splitlines())
    return Proof(replay, "", summary, lines, tuple(_states(lines)))


def _states(lines: Sequence[dict[str, Any]]) -> Iterator[State]:
    header = lines[0]
    added = tuple(bytes.fromhex(header["client_seeds"].get(str(seat), "")) for seat in range(header["seats"]))
    key = stream_key(bytes.fromhex(header["seed"]), added)
    game = GAMES[header["game"]].new(header["seats"], header["options"])
    for line in lines:
        if "seq" in line:
            awaiting = game.awaiting
            event = (
                shuffle(key, awaiting) if isinstance(awaiting, ShuffleNeeded) else _decided(header["game"], game, line)
            )
            game, _ = game.apply(event)
            yield game


def _decided(game_id: str, game: State, line: Mapping[str, Any]) -> SeatActed | ProposalAgreed:
    """What seats did: one of them acted, or all agreed."""
    if "event" not in line:
        return SeatActed(line["seat"], action_from_json(line["action"]))
    agreed = agreed_proposal(GAMES[game_id], game, line["event"])
    assert agreed is not None
    return agreed


def replay_differences(proof: Proof, story: Story) -> Iterator[Difference]:
    """Where a true replay does not tell what a seat heard."""
    header, entries = proof.lines[0], entries_of(proof)
    fixed = {"table_id": story.info.table_id, "game": story.info.game, "commitment": story.info.commitment}
    for name, value in {**fixed, "seed": story.revealed_seed}.items():
        yield from _differs(0, f"the replay's {name}", header[name], "the stream's", value)
    players = [who["player_id"] for who in header["players"]]
    yield from _differs(0, "the replay's players", players, "the table's", [who.player_id for who in story.info.seats])
    last = story.replayed(story.last_sequence)
    yield from _differs(0, "the replay's last entry", len(entries), "the stream's", last)
    for sequence, heard in story.heard.items():
        entry = entries.get(story.replayed(sequence))
        if heard.gives_time_back:
            continue
        if entry is None:
            yield Difference(sequence, "an entry that the stream told of is not in the replay")
        else:
            yield from _differs(sequence, "the replay's entry", _entry(entry, heard), "the stream's", _told(heard))


def _entry(entry: Mapping[str, Any], heard: Heard) -> tuple[Any, ...]:
    at = round(datetime.fromisoformat(entry["at"]).timestamp() * 1000)
    played = entry.get("action", {}).get("card") if heard.card is not None else None
    return at, entry.get("seat"), entry.get("auto", ""), played


def _told(heard: Heard) -> tuple[Any, ...]:
    played = card_text(heard.card) if heard.card is not None else None
    return heard.at_milliseconds, heard.seat, _AUTO.get(heard.acted_by, ""), played


def entries_of(proof: Proof) -> dict[int, dict[str, Any]]:
    """The replay's entries by their number there; see Story.replayed, since players here neither propose nor vote."""
    return {line["seq"]: line for line in proof.lines if "seq" in line}


def lost_acknowledgements(proof: Proof, story: Story) -> Iterator[Difference]:
    """Actions that were acknowledged and do not stand in the replay where they should."""
    entries = entries_of(proof)
    for sequence, action in story.acknowledged.items():
        entry = entries.get(story.replayed(sequence), {})
        stored = entry.get("seat"), entry.get("action"), entry.get("auto", "")
        promised = story.seat, action_to_json(decode_action(action)), ""
        yield from _differs(sequence, "the replay has", stored, "but what was acknowledged is", promised)


def view_differences(proof: Proof, story: Story, sequences: Sequence[int]) -> Iterator[Difference]:
    """Where a seat saw something else than the rules, played again here, would have shown it."""
    for sequence in sequences:
        seen, state = story.seen[sequence], proof.states[story.replayed(sequence) - 1]
        if seen.view != encode_view(state.view(story.seat)):
            yield Difference(sequence, "the view is not the one that the rules give for the replay")
        if seen.legal_actions != encode_legal(state.legal_actions(story.seat)):
            yield Difference(sequence, "the legal actions are not those that the rules give for the replay")


def result_differences(proof: Proof, story: Story) -> Iterator[Difference]:
    """Where the replay's rounds and result are not those that the stream told."""
    assert proof.summary is not None
    last = story.last_sequence
    ranking = [list(group) for group in proof.summary.ranking]
    yield from _differs(last, "the replay's ranking", ranking, "the stream's", story.ranking)
    yield from _differs(last, "the replay's totals", list(proof.summary.totals), "the stream's", story.totals)
    replayed = [(line["round"], line["scores"], line["totals"]) for line in proof.lines if "round" in line]
    told = [_round(one) for one in story.rounds]
    # Rounds that ended before this stream began are not in its story.
    yield from _differs(last, "the replay's rounds", replayed[len(replayed) - len(told) :], "the stream's", told)


def sheet_differences(sheet: scoring_pb2.GetScoreSheetResponse, proof: Proof, story: Story) -> Iterator[Difference]:
    """Where scoring's sheet is not what the stream told and the replay proves."""
    last, result = story.last_sequence, sheet.result
    ranking = [list(group.seats) for group in result.ranking]
    yield from _differs(last, "scoring's ranking", ranking, "the stream's", story.ranking)
    yield from _differs(last, "scoring's totals", list(result.totals), "the stream's", story.totals)
    seated = [seat.player_id for seat in result.seats]
    yield from _differs(last, "scoring's players", seated, "the table's", [who.player_id for who in story.info.seats])
    replayed = [(line["round"], line["scores"], line["totals"]) for line in proof.lines if "round" in line]
    yield from _differs(last, "scoring's rounds", [_round(one) for one in sheet.rounds], "the replay's", replayed)
    told, entered = [_said(one) for one in story.rounds], [_said(one) for one in sheet.rounds]
    yield from _differs(last, "what scoring says of rounds", entered[len(entered) - len(told) :], "the stream's", told)


def _said(one: table_pb2.RoundEnded | scoring_pb2.SheetRound) -> tuple[Any, ...]:
    counts = [(count.name, count.seat, count.amount) for count in one.counts]
    return one.round, list(one.notes), one.headline, dict(one.details), counts


def _round(one: table_pb2.RoundEnded | scoring_pb2.SheetRound) -> tuple[int, list[int], list[int]]:
    return one.round, list(one.points), list(one.totals)


def _differs(sequence: int, what: str, it: object, other: str, expected: object) -> Iterator[Difference]:
    if it != expected:
        yield Difference(sequence, f"{what} is {it}, {other} {expected}")
