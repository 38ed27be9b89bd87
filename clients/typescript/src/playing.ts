// Opening a table, and playing it: what is legal comes with every update, so no rule of any game is needed.
import { type MessageInitShape, create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";

import { Suit } from "./generated/croupier_api/v1/cards_pb";
import { TableState } from "./generated/croupier_api/v1/lobby_pb";
import { type Action, ActionSchema, type CardChoice, CardChoiceVerb } from "./generated/croupier_api/v1/table_pb";
import { type House, about } from "./house";
import { isUnanswered, pause, reopened } from "./patience";
import type { Table } from "./table";

/** So long an answer is asked for; a door or an engine that ended is there again within seconds. */
const PATIENCE_MILLISECONDS = 60_000;
const PAUSE_MILLISECONDS = 300;
const WAIT_MILLISECONDS = 600_000;

/** Gives a number from 0 up to, but not including, 1; Math.random fits. */
export type Random = () => number;

/** Open a table with some seats for computer players, and get ready; gives its id. */
export async function openTable(
  house: House,
  game: string,
  seats: number,
  bots: number,
  botDelayMilliseconds = 1,
): Promise<string> {
  const { table } = await house.lobby.createTable({ game, seats, clock: { botDelayMilliseconds } });
  if (table === undefined) throw new Error("the lobby opened no table");
  const { tableId } = table;
  for (let bot = 0; bot < bots; bot++) await house.lobby.addBot({ tableId }, about(tableId));
  await house.lobby.setReady({ tableId, ready: true }, about(tableId));
  return tableId;
}

/** Wait until everybody at a table is ready and the cards are dealt; raises an error where that does not come about. */
export async function untilDealt(house: House, tableId: string): Promise<void> {
  const enough = new AbortController();
  const timer = setTimeout(() => enough.abort(), WAIT_MILLISECONDS);
  const options = { ...about(tableId), signal: enough.signal, timeoutMs: 0 };
  const watch = () => house.lobby.watchTables({ tableId }, options);
  try {
    for await (const { table } of reopened(watch, () => enough.signal.aborted)) {
      if (table?.state === TableState.PLAYING || table?.state === TableState.FINISHED) return;
      if (table?.state === TableState.CLOSED) throw new Error("the table was closed");
    }
    throw new Error("the others did not come");
  } finally {
    clearTimeout(timer);
    enough.abort();
  }
}

/** Act once. Where no answer comes it is asked again under the same name, so it counts once. */
export async function act(house: House, table: Table, action: Action): Promise<void> {
  const name = crypto.randomUUID();
  const request = { tableId: table.id, requestId: name, action, ...expected(table) };
  const giveUpAt = Date.now() + PATIENCE_MILLISECONDS;
  for (;;) {
    try {
      await house.engine.submitAction(request, about(table.id));
      return;
    } catch (error) {
      const { code } = ConnectError.from(error);
      // Others were faster: the stream says what may be done now.
      if (code === Code.Aborted) return;
      if (code === Code.FailedPrecondition && (await isOver(house, table))) return;
      if (!isUnanswered(error) || Date.now() > giveUpAt) throw error;
      await pause(PAUSE_MILLISECONDS);
    }
  }
}

function expected(table: Table): { expectedSequence?: bigint } {
  return table.sequence === undefined ? {} : { expectedSequence: table.sequence };
}

async function isOver(house: House, table: Table): Promise<boolean> {
  const { snapshot } = await house.engine.getView({ tableId: table.id }, about(table.id));
  return (snapshot?.view?.ranking.length ?? 0) > 0;
}

/** A legal action by chance, or nothing where the player is not to act. */
export function randomLegal(table: Table, random: Random): Action | undefined {
  const ways = [...(table.legal?.actions ?? []), ...(table.legal?.choices ?? [])];
  if (ways.length === 0) return undefined;
  const way = oneOf(ways, random);
  return way.$typeName === "croupier_api.v1.Action" ? way : chosen(way, random);
}

/** An action that fits a choice: so many of its cards, and one of its suits. */
function chosen(choice: CardChoice, random: Random): Action {
  const left = [...choice.cards];
  const count = choice.minCards + below(choice.maxCards - choice.minCards + 1, random);
  const cards = Array.from({ length: count }, () => left.splice(below(left.length, random), 1)).flat();
  if (choice.verb === CardChoiceVerb.SWAP) return action({ case: "swap", value: { cards } });
  const trump = choice.suits.length === 0 ? Suit.UNSPECIFIED : oneOf(choice.suits, random);
  if (choice.verb === CardChoiceVerb.KEEP) return action({ case: "keep", value: { cards, trump } });
  throw new Error(`a choice with verb ${choice.verb} is newer than this client`);
}

function action(verb: NonNullable<MessageInitShape<typeof ActionSchema>["verb"]>): Action {
  return create(ActionSchema, { verb });
}

function oneOf<T>(values: readonly T[], random: Random): T {
  return values[below(values.length, random)] as T;
}

function below(end: number, random: Random): number {
  return Math.floor(random() * end);
}
