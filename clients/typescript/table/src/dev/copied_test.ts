// A recorded table as a test in Python.
import type { JsonValue } from "@bufbuild/protobuf";

export interface RecordedTable {
  /** The address of the gateway. */
  readonly address: URL;
  readonly game: string;
  readonly seatCount: number;
  readonly options: JsonValue;
  /** The kinds of the bots on the seats after the first player's. */
  readonly bots: readonly string[];
  /** The actions with their seats, in the order of the table. */
  readonly actions: readonly { readonly seat: number; readonly action: JsonValue }[];
}

/** Return the test: needs pytest and croupier_client, and services at the address. */
export function copiedTest({ address, game, seatCount, options, bots, actions }: RecordedTable): string {
  const isTls = address.protocol === "https:";
  const port = address.port || (isTls ? "443" : "80");
  const tls = isTls ? ", Tls(AUTHORITY.read_bytes())" : "";
  return `"""Plays a table as it was recorded in a browser.

The cards are dealt anew, so another seat may be to act, and an action may not be legal: then a legal one takes its
place, of the same verb if there is one.
"""

import secrets
from contextlib import ExitStack
from pathlib import Path
from random import Random

from google.protobuf.json_format import ParseDict

from croupier_api.v1.actions_pb2 import Action
from croupier_client import BlockingClient, BlockingTable, Endpoints, Tls, choose_random_action

# Where \`croupier up\` runs; with --tls the authority is in its data folder.
AUTHORITY = Path.home() / ".local/share/croupier/keys/gateway.authority.pem"


def endpoints() -> Endpoints:
    return Endpoints.single(${literal(`${address.hostname}:${port}`)}${tls})


GAME = ${literal(game)}
SEATS = ${seatCount}
BOTS = ${literal(bots)}
OPTIONS = ${literal(options)}
ACTIONS = [
${actions.map(({ seat, action }) => `    (${seat}, ${literal(action)}),\n`).join("")}]
WAIT_SECONDS = 30.0


def test_the_recorded_table() -> None:
    with ExitStack() as stack:
        players = [
            stack.enter_context(BlockingClient(endpoints(), secrets.token_urlsafe(), f"Player {number}"))
            for number in range(1, SEATS - len(BOTS) + 1)
        ]
        host, *guests = players
        table = host.create_table(game=GAME, seat_count=SEATS, options=OPTIONS, bots=BOTS).table
        for guest in guests:
            guest.join_table(invite_code=table.invite_code)
        for player in players:
            player.set_ready(table_id=table.table_id)
        seats = [0, *range(1 + len(BOTS), SEATS)]
        tables = {
            seat: stack.enter_context(player.play_table(table.table_id))
            for seat, player in zip(seats, players, strict=True)
        }
        sequence = 0
        for seat, recorded in ACTIONS:
            to_act = wait_for_seats(tables, sequence)
            if not to_act:
                break
            acting = tables[seat if seat in to_act else to_act[0]]
            assert acting.wait_for_turn(timeout_seconds=WAIT_SECONDS)
            sequence = acting.submit_action(choose(acting, ParseDict(recorded, Action())))
        for each in tables.values():
            while each.sequence < sequence:
                each.wait_for_change(timeout_seconds=WAIT_SECONDS)


def wait_for_seats(tables: dict[int, BlockingTable], sequence: int) -> list[int]:
    """Return the players' seats that are to act after an entry of the table; none once the game is over."""
    watched = tables[0]
    while True:
        seen = watched.sequence
        to_act = [seat for seat in watched.view.seats_to_act if seat in tables]
        if watched.is_finished or (seen >= sequence and to_act):
            return to_act
        watched.wait_for_change(after=seen, timeout_seconds=WAIT_SECONDS)


def choose(table: BlockingTable, recorded: Action) -> Action:
    """Return the recorded action if it is listed as legal, else a legal one, of the same verb if there is one."""
    legal = [*table.legal_actions.actions, *(choose_random_action(table, Random(seed)) for seed in range(20))]
    alike = [action for action in legal if action.WhichOneof("verb") == recorded.WhichOneof("verb")]
    return recorded if recorded in legal else (alike or legal)[0]
`;
}

/** Return a value as an expression of Python. The texts of JSON are those of Python too. */
function literal(value: JsonValue | readonly string[]): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return JSON.stringify(value);
  if (value instanceof Array) return `[${value.map(literal).join(", ")}]`;
  return `{${Object.entries(value).map(([name, each]) => `${literal(name)}: ${literal(each)}`).join(", ")}}`;
}
