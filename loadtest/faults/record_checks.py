"""Whether scoring has each round and result exactly once, and whether the replay tells what the log does."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence

from croupier.engine.replay import ReplayFault, verify_replay
from croupier.games.facts import Fact, GameEnded, RoundEnded
from loadtest.faults.findings import Finding, Kind, LedgerLines, StoredLog

_DECIDED_BY = {1: "timeout", 2: "bot"}


def ledger_differences(
    log: StoredLog, facts: Sequence[Fact], totals: Sequence[int], ledger: LedgerLines
) -> Iterator[Finding]:
    """The ledger has exactly the rounds and the result of a finished table, and counted each once."""
    rounds = [fact for fact in facts if isinstance(fact, RoundEnded)]
    ended = [fact for fact in facts if isinstance(fact, GameEnded)]
    counts: Counter[tuple[int, str]] = Counter()
    for count in (count for fact in rounds for count in fact.counts):
        counts[count.seat, count.name] += count.amount
    expected = {
        "rounds": [(fact.round_number, list(fact.points), list(fact.totals)) for fact in rounds],
        "results": [([list(group) for group in fact.ranking], list(totals)) for fact in ended],
        "players": sorted(_places(log, ended)),
        "counts": sorted((seat, name, amount) for (seat, name), amount in counts.items()),
    }
    for name, wanted in expected.items():
        held = sorted(getattr(ledger, name))
        if held != wanted:
            yield Finding(Kind.SCORING, log.table_id, 0, f"the ledger's {name} are {held}, not {wanted}")


def _places(log: StoredLog, ended: Sequence[GameEnded]) -> Iterator[tuple[str, int]]:
    seats = json.loads(log.config)["seats"]
    for fact in ended:
        place = 1
        for group in fact.ranking:
            yield from ((seats[seat][0], place) for seat in group if not seats[seat][2])
            place += len(group)


def replay_differences(log: StoredLog, replay: str) -> Iterator[Finding]:
    """The replay verifies, and tells the actions of the log: nothing more, nothing less, in its order."""
    try:
        verify_replay(replay)
    except ReplayFault as fault:
        yield Finding(Kind.REPLAY, log.table_id, 0, f"it does not verify: {fault}")
    acted = [line for line in map(json.loads, replay.splitlines()) if "action" in line]
    told = [(line["seat"], line["action"], line.get("auto")) for line in acted]
    stored = [
        (line.body["seat"], line.body["action"], _DECIDED_BY.get(line.body.get("by", 0)))
        for line in log.lines
        if "action" in line.body
    ]
    if told != stored:
        yield Finding(
            Kind.REPLAY, log.table_id, 0, f"it tells {len(told)} actions that are not the log's {len(stored)}"
        )
