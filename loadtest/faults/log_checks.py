"""Whether a log holds all that was promised, and whether nobody's time ran out early: told from its rows alone."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from croupier_api.v1 import table_pb2
from croupier_client.cards import card_text
from loadtest.faults.findings import Finding, Kind, Line, StoredLog
from loadtest.faults.records import Acknowledged, TableRecord

AWAY_MILLISECONDS = 3_000
HEARD_MILLISECONDS = 2_500
"""How much later than others one entry may be heard of; less than the clocks of engines differ in a run."""
BY_TIME_OUT = 1
BURST_SECONDS = 0.5
"""Entries that come so close together were sent after a reconnect: when they would have come otherwise is not known."""
SUITS = "?CDHS"


def gaps(log: StoredLog) -> Iterator[Finding]:
    """The entries of a log count 1, 2, 3, ..., and time does not run backwards."""
    at = 0
    for expected, line in enumerate(log.lines, start=1):
        if line.sequence != expected:
            yield Finding(Kind.GAP, log.table_id, line.sequence, f"the log should go on with {expected}")
            return
        if line.at < at:
            yield Finding(Kind.GAP, log.table_id, line.sequence, f"stored at {line.at}, before the entry before it")
        at = line.at


def broken_promises(log: StoredLog, acknowledged: Sequence[Acknowledged]) -> Iterator[Finding]:
    """Every acknowledged action is in the log exactly once, where and as it was acknowledged."""
    lines = {line.sequence: line for line in log.lines}
    named = Counter((line.body["seat"], line.body["request"]) for line in log.lines if "request" in line.body)
    for (seat, request_id), count in named.items():
        if count > 1:
            yield Finding(Kind.DOUBLED, log.table_id, 0, f"request {request_id} of seat {seat} is there {count} times")
    promised: dict[tuple[int, str], int] = {}
    for one in acknowledged:
        first = promised.setdefault((one.seat, one.request_id), one.sequence)
        if first != one.sequence:
            detail = f"request {one.request_id} of seat {one.seat} was acknowledged as {first} and as {one.sequence}"
            yield Finding(Kind.DOUBLED, log.table_id, one.sequence, detail)
            continue
        if not named[one.seat, one.request_id]:
            detail = f"request {one.request_id} of seat {one.seat} was acknowledged and is not in the log"
            yield Finding(Kind.LOST, log.table_id, one.sequence, detail)
            continue
        yield from _altered(log.table_id, one, lines.get(one.sequence))


def _altered(table_id: str, one: Acknowledged, line: Line | None) -> Iterator[Finding]:
    action = told(table_pb2.Action.FromString(one.action))
    promised = {"seat": one.seat, "action": action, "request": one.request_id}
    if line is None or line.body != promised:
        there = "nothing" if line is None else json.dumps(dict(line.body))
        yield Finding(
            Kind.ALTERED, table_id, one.sequence, f"acknowledged was {json.dumps(promised)}, there is {there}"
        )


def told(action: table_pb2.Action) -> dict[str, Any]:
    """An action as logs and replays tell it."""
    match action.WhichOneof("verb"):
        case "bid":
            bid = action.bid
            return {"type": "bid"} | ({"bid": bid.contract} if bid.HasField("contract") else {"amount": bid.amount})
        case "keep" if action.keep.trump:
            return {"type": "keep", "cards": [*map(card_text, action.keep.cards)], "trump": SUITS[action.keep.trump]}
        case "swap":
            return {"type": "swap", "cards": [*map(card_text, action.swap.cards)]}
        case "play":
            ordered = {"suit": SUITS[action.play.suit]} if action.play.suit else {}
            return {"type": "play", "card": card_text(action.play.card)} | ordered
        case "call":
            return {"type": "call", "card": card_text(action.call.card) if action.call.card else "unknown"}
        case "name_trump":
            return {"type": "name_trump", "trump": SUITS[action.name_trump.trump], "do": action.name_trump.do}
        case verb:
            return {"type": verb}


class SeatClocks:
    """The time that each seat has, counted from the entries of a log and who is to act after each of them.

    It is also held against the harness's own clock: `heard` says when the first client heard of each entry, in seconds.
    """

    def __init__(
        self, log: StoredLog, heard: Mapping[int, float], interruptions: Sequence[tuple[int, int]] = ()
    ) -> None:
        self._heard = heard
        self._interruptions = sorted(interruptions)
        self._asked: dict[int, Line] = {}
        self._credited_at = 0
        config = json.loads(log.config)
        self._table_id = log.table_id
        self._action, reserve, _ = config["clock"]
        self._reserves = [reserve] * config["seat_count"]
        self._since: dict[int, int] = {}
        self._away: set[int] = set()

    def pass_entry(self, line: Line, to_act: Iterable[int]) -> Iterator[Finding]:
        """Go on by an entry, after which these seats are to act."""
        body = line.body
        actor = body["seat"] if "action" in body else None
        if "credited" in body:
            yield from self._credit(line)
        if actor is not None:
            yield from self._act(line, actor)
        if actor is not None or "cards" in body or "agreed" in body:
            is_new = {seat: seat == actor or seat not in self._since or "agreed" in body for seat in to_act}
            self._since = {seat: line.at if is_new[seat] else self._since[seat] for seat in to_act}
            self._asked = {seat: line if is_new[seat] else self._asked[seat] for seat in to_act}

    def _credit(self, line: Line) -> Iterator[Finding]:
        credited = line.body["credited"]
        asked_at = min((asked.at for asked in self._asked.values()), default=line.at)
        unserved = self._unserved(max(asked_at, self._credited_at), line.at)
        self._credited_at = line.at
        if not 0 < credited <= unserved:
            detail = f"{credited} ms were given back, of which engines were missing for {unserved} ms"
            yield Finding(Kind.CREDIT, self._table_id, line.sequence, detail)
        self._since = {seat: since + credited for seat, since in self._since.items()}

    def _unserved(self, since: int, until: int) -> int:
        """How many milliseconds of a time some engine was missing."""
        total, counted_until = 0, since
        for began, ended in self._interruptions:
            total += max(0, min(ended, until) - max(began, counted_until))
            counted_until = max(counted_until, min(ended, until))
        return total

    def _act(self, line: Line, actor: int) -> Iterator[Finding]:
        waited, is_time_out = line.at - self._since.get(actor, line.at), line.body.get("by") == BY_TIME_OUT
        if is_time_out and waited < self._allowed(actor):
            detail = f"the engine acted for seat {actor} after {waited} of {self._allowed(actor)} ms"
            yield Finding(Kind.EARLY_TIME_OUT, self._table_id, line.sequence, detail)
        if is_time_out:
            yield from self._too_early_for_people(line, actor)
        if actor not in self._away:
            self._reserves[actor] = max(0, self._reserves[actor] - max(0, waited - self._action))
        (self._away.add if is_time_out else self._away.discard)(actor)

    def _too_early_for_people(self, line: Line, actor: int) -> Iterator[Finding]:
        asked, acted = (self._heard.get(it.sequence) for it in (self._asked.get(actor, line), line))
        if asked is None or acted is None or acted - asked < BURST_SECONDS or actor in self._away:
            return
        if (acted - asked) * 1000 < self._allowed(actor) - HEARD_MILLISECONDS:
            detail = f"clients saw the engine act for seat {actor} {acted - asked:.1f} s after the seat came on turn"
            yield Finding(Kind.EARLY_TIME_OUT, self._table_id, line.sequence, detail)

    def _allowed(self, seat: int) -> int:
        if seat in self._away:
            return int(min(AWAY_MILLISECONDS, self._action))
        return int(self._action + self._reserves[seat])


def unexcused_time_outs(log: StoredLog, record: TableRecord) -> Iterator[Finding]:
    """Nobody's time ran out whose client was ready to act, and whom only services kept from it."""
    excused = {stream.seat for stream in record.streams if stream.hampered}
    for line in log.lines:
        if line.body.get("by") == BY_TIME_OUT and line.body["seat"] not in excused:
            seat = line.body["seat"]
            told = [stream.time_outs.get(line.sequence) for stream in record.streams if stream.seat == seat]
            detail = f"the time of seat {seat} ran out though its player was there ({told[0] if told else 'unseen'})"
            yield Finding(Kind.UNEXCUSED_TIME_OUT, log.table_id, line.sequence, detail)
