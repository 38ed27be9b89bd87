// Plays a game against bots from Node: node dist/programs/play.js https://localhost:7700 [game] [seats] [seed] [--websocket]
import { parseArgs } from "node:util";

import { Table, connect, openTable, randomLegal, throwUnlessOvertaken, waitForDeal } from "../index.js";

/** The limit of the whole game: nobody watches this program, so it does not wait for ever. */
const GAME_MILLISECONDS = 1_800_000;

const { positionals, values } = parseArgs({ allowPositionals: true, options: { websocket: { type: "boolean" } } });
const [address = "http://127.0.0.1:7700", game = "thulla", seats = "3", seed = `${Date.now()}`] = positionals;
const transport = values.websocket ? "websocket" : "grpc-web";

/** A seeded random source (mulberry32), which is good enough for play only. */
function seeded(state: number): () => number {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

async function play(): Promise<void> {
  const random = seeded(Number(seed));
  const signal = AbortSignal.timeout(GAME_MILLISECONDS);
  const client = await connect(address, { name: "Typed", transport });
  const id = await openTable(client, { game, seats: Number(seats), bots: Number(seats) - 1 });
  await waitForDeal(client, id, signal);
  const table = new Table(client, id);
  let [actions, snapshots] = [0, 0];
  for await (const { eventKind } of table.follow(signal)) {
    if (eventKind.case === "snapshot") snapshots += 1;
    const action = randomLegal(table.legal, random);
    if (action === undefined) continue;
    await table.act(action, { signal }).catch(throwUnlessOvertaken);
    actions += 1;
  }
  const ranking = table.ranking.map((group) => group.seats);
  const names = table.seats.map(({ name }) => name);
  const scores = table.view.seats.map(({ score }) => score);
  const { sequence, streams } = table;
  const counts = { sequence: Number(sequence), actions, streams, snapshots };
  console.log(JSON.stringify({ table: id, names, scores, ranking, ...counts, seed }));
}

/** Return an error with its causes in one line. */
function messageOf(fault: unknown): string {
  if (!(fault instanceof Error)) return String(fault);
  return fault.cause === undefined ? fault.message : `${fault.message}: ${messageOf(fault.cause)}`;
}

play().catch((fault) => {
  console.error(`no game at ${address}: ${messageOf(fault)}`);
  process.exitCode = 1;
});
