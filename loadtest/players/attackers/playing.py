"""Attackers who play games without end."""

import asyncio
import uuid
from collections.abc import Collection

from croupier_api.v1 import actions_pb2, engine_pb2, lobby_pb2, tables_pb2
from croupier_client import complete_choice
from croupier_client.methods import encode_options
from loadtest.monitor.counters import key
from loadtest.players.attackers.attacker import Attacker
from loadtest.players.attackers.client import OK, AttackClient
from loadtest.players.attackers.hoarding import open_table
from loadtest.players.counting import count_refused_action

GAME = "one_oh_one"
DRAW = actions_pb2.Action(draw=actions_pb2.DrawAction())
ACTIONS_AT_ONCE = 2
"""With several, an action of the next player is waiting when one is accepted."""
LIMITS = ("player_calls", "network_calls", "table_changes")
"""Limits whose refusals the services do not count as refused actions."""
TABLE = lobby_pb2.CreateTableRequest(
    game=GAME,
    seat_count=2,
    options=encode_options({"may_draw_instead": True, "max_rounds": 1}),
    # On the leaderboard it would be a table that the judge does not know.
    access=tables_pb2.TableAccess(visibility=tables_pb2.VISIBILITY_SEATED),
)


async def endless_games(attacker: Attacker) -> None:
    """Play a round without end, in which both players draw instead of playing, as fast as possible."""
    clients = [*await attacker.sign_in(2)]
    while len(clients) == 2:
        await attacker.pause()
        table_id = await open_table(attacker, clients, TABLE)
        if table_id:
            await asyncio.gather(*(_play(attacker, client, table_id) for client in clients))


async def _play(attacker: Attacker, client: AttackClient, table_id: str) -> None:
    """Draw all the time, and look at the table only when that is illegal, until the game is over."""
    outcomes: Collection[str] = ()
    while "TABLE_FINISHED" not in outcomes:
        await attacker.pause()
        action = DRAW
        if "ILLEGAL_ACTION" in outcomes:
            view = await attacker.call(client, engine_pb2.GetViewRequest(table_id=table_id))
            legal = view.message.snapshot.legal_actions if view.message is not None else actions_pb2.LegalActions()
            if legal.actions:
                action = legal.actions[0]
            elif legal.choices:
                choice = legal.choices[0]
                cards = choice.cards.cards[: choice.cards.min_cards]
                action = complete_choice(choice, cards=cards, suit=choice.suits[0])
        outcomes = await asyncio.gather(*(_act(attacker, client, table_id, action) for _ in range(ACTIONS_AT_ONCE)))


async def _act(attacker: Attacker, client: AttackClient, table_id: str, action: actions_pb2.Action) -> str:
    """Send an action; returns the outcome."""
    request = engine_pb2.SubmitActionRequest(table_id=table_id, request_id=uuid.uuid4().hex, action=action)
    outcome = ""
    try:
        outcome = (await attacker.call(client, request)).outcome
    finally:
        if outcome == OK:
            attacker.measures.count(key("actions accepted", GAME))
        elif not outcome:
            attacker.measures.count(key("unanswered actions", GAME))
        elif outcome not in LIMITS:
            count_refused_action(attacker.measures, outcome)
    return outcome
