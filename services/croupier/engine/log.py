"""A table's log: what is fixed when the table opens, and its entries, as values and as JSON."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from croupier.engine.shuffles import commitment
from croupier.games.actions import Action, action_from_json, action_to_json
from croupier.games.cards import cards, notation
from croupier.games.facts import Seat
from croupier.games.interface import CardsShuffled, Event, OptionValue, ProposalAgreed, SeatActed


class ActedBy(IntEnum):
    """Who decided on an action; the numbers are those of the contract."""

    PLAYER = 0
    TIMEOUT = 1
    BOT = 2


@dataclass(frozen=True, slots=True)
class SeatConfig:
    """Who sits on a seat: a player, or a computer player if `bot` names its kind."""

    player_id: str
    name: str
    bot: str = ""


@dataclass(frozen=True, slots=True)
class ClockConfig:
    """How much time there is: for each action, beyond that for the whole game, and before a computer player acts."""

    action_milliseconds: int
    reserve_milliseconds: int
    bot_delay_milliseconds: int


@dataclass(frozen=True, slots=True)
class TableConfig:
    """What is fixed about a table. A prepared table has no seats yet, only their number."""

    table_id: str
    game: str
    rules_version: int
    seat_count: int
    options: Mapping[str, OptionValue]
    clock: ClockConfig
    seed: bytes
    seats: tuple[SeatConfig, ...] = ()
    client_seeds: tuple[bytes, ...] = ()

    @property
    def commitment(self) -> str:
        """SHA-256 of the secret seed, in hexadecimal."""
        return commitment(self.seed)


class Proposed(NamedTuple):
    """A seat proposed something, named as in Game.proposals; it goes at `expires_at`, milliseconds since 1970 UTC."""

    seat: Seat
    proposal: str
    expires_at: int


class Voted(NamedTuple):
    """A seat agreed with the proposal that the entry `proposal_sequence` made, or refused it."""

    seat: Seat
    proposal_sequence: int
    agree: bool


class TimeCredited(NamedTuple):
    """The seats to act get back so many milliseconds, in which no engine served them before this entry."""

    milliseconds: int


Said: TypeAlias = Proposed | Voted
"""What seats say about proposals."""
Aside: TypeAlias = Said | TimeCredited
"""What the game knows nothing of, and replays leave out."""
LoggedEvent: TypeAlias = Event | Aside
"""What entries hold."""


class Entry(NamedTuple):
    """One line of a log: times in milliseconds since 1970 UTC; `deadline` is 0 when nobody is to act after it."""

    sequence: int
    at: int
    deadline: int
    event: LoggedEvent
    acted_by: ActedBy = ActedBy.PLAYER
    request_id: str = ""


def config_to_json(config: TableConfig) -> str:
    """What the database keeps of a config, besides its own columns."""
    clock = config.clock
    return json.dumps(
        {
            "seat_count": config.seat_count,
            "options": dict(config.options),
            "clock": [clock.action_milliseconds, clock.reserve_milliseconds, clock.bot_delay_milliseconds],
            "seats": [[seat.player_id, seat.name, seat.bot] for seat in config.seats],
            "client_seeds": [seed.hex() for seed in config.client_seeds],
        }
    )


def config_from_json(table_id: str, game: str, rules_version: int, seed: bytes, text: str) -> TableConfig:
    """The config that config_to_json wrote, with its columns."""
    value = json.loads(text)
    return TableConfig(
        table_id=table_id,
        game=game,
        rules_version=rules_version,
        seat_count=value["seat_count"],
        options=value["options"],
        clock=ClockConfig(*value["clock"]),
        seed=seed,
        seats=tuple(SeatConfig(*seat) for seat in value["seats"]),
        client_seeds=tuple(bytes.fromhex(text) for text in value["client_seeds"]),
    )


def body_to_json(entry: Entry) -> str:
    """The event of an entry, who decided and the request, as one line."""
    match entry.event:
        case SeatActed(seat, action):
            by = f',"by":{int(entry.acted_by)}' if entry.acted_by else ""
            return f'{{"seat":{seat},"action":{_action_text(action)}{by}{_request_text(entry)}}}'
        case CardsShuffled(shuffled, drawn):
            return json.dumps({"cards": " ".join(notation(shuffled)), "drawn": list(drawn)})
        case ProposalAgreed(proposal):
            return json.dumps({"agreed": proposal})
        case Proposed(seat, proposal, expires_at):
            body = f'"seat":{seat},"proposed":{json.dumps(proposal)},"expires":{expires_at}'
            return f"{{{body}{_request_text(entry)}}}"
        case Voted(seat, sequence, agree):
            return f'{{"seat":{seat},"proposal":{sequence},"agree":{json.dumps(agree)}{_request_text(entry)}}}'
        case TimeCredited(milliseconds):
            return json.dumps({"credited": milliseconds})


def _request_text(entry: Entry) -> str:
    return f',"request":{json.dumps(entry.request_id)}' if entry.request_id else ""


@lru_cache(maxsize=4096)
def _action_text(action: Action) -> str:
    return json.dumps(action_to_json(action))


def entry_from_row(sequence: int, at: int, deadline: int, text: str) -> Entry:
    """The entry that a row of the database holds."""
    body = json.loads(text)
    by, request_id = ActedBy(body.get("by", 0)), body.get("request", "")
    return Entry(sequence, at, deadline, _event_of(body), by, request_id)


def _event_of(body: Mapping[str, Any]) -> LoggedEvent:
    """The kinds of bodies are told apart by the keys that only one of them has."""
    if "action" in body:
        return SeatActed(body["seat"], action_from_json(body["action"]))
    if "cards" in body:
        return CardsShuffled(cards(body["cards"]), tuple(body["drawn"]))
    if "agreed" in body:
        return ProposalAgreed(body["agreed"])
    if "credited" in body:
        return TimeCredited(body["credited"])
    if "proposed" in body:
        return Proposed(body["seat"], body["proposed"], body["expires"])
    return Voted(body["seat"], body["proposal"], body["agree"])
