// Plays a game against computer players from Node: node dist/main.mjs https://localhost:7700 [game] [seats] [seed]
import { enter } from "./house";
import { act, openTable, randomLegal } from "./playing";
import { Table } from "./table";

const [address = "http://127.0.0.1:7700", game = "thulla", seats = "3", seed = `${Date.now()}`] = process.argv.slice(2);

/** Numbers that a seed repeats (mulberry32); chance of this quality is good for play, and for nothing else. */
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
  const house = await enter(address, crypto.randomUUID(), "Typed");
  const table = new Table(house, await openTable(house, game, Number(seats), Number(seats) - 1));
  let [actions, snapshots] = [0, 0];
  for await (const { event } of table.follow()) {
    if (event.case === "snapshot") snapshots += 1;
    const action = randomLegal(table, random);
    if (action === undefined) continue;
    await act(house, table, action);
    actions += 1;
  }
  const ranking = table.ranking.map((group) => group.seats);
  const { id, names, scores, sequence, streams } = table;
  const counts = { sequence: Number(sequence), actions, streams, snapshots };
  console.log(JSON.stringify({ table: id, names, scores, ranking, ...counts, seed }));
}

/** What went wrong, with what was behind it, in one line. */
function why(fault: unknown): string {
  if (!(fault instanceof Error)) return String(fault);
  return fault.cause === undefined ? fault.message : `${fault.message}: ${why(fault.cause)}`;
}

play().catch((fault) => {
  console.error(`no game at ${address}: ${why(fault)}`);
  process.exitCode = 1;
});
