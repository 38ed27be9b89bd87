// Plays at several tables at once in one page, for tests.
import {
  Table,
  type TableTransport,
  connect,
  memoryStore,
  openTable,
  randomLegal,
  throwUnlessOvertaken,
} from "@croupier/client";

/**
 * Open tables against a bot, follow all of them at once, and play at each until it has so many updates; returns the
 * number of updates of each table. Nobody plays before all tables are shown.
 */
export async function playTables(address: string, count: number, updates: number, transport: TableTransport): Promise<number[]> {
  const client = await connect(address, { name: "Many", store: memoryStore(), transport });
  const tables: Table[] = [];
  while (tables.length < count) tables.push(new Table(client, await openTable(client, { game: "thulla", seats: 2, bots: 1 })));
  let hidden = count;
  let begin: () => void = () => {};
  const allShown = new Promise<void>((resolve) => (begin = resolve));
  const shown = () => {
    hidden -= 1;
    if (hidden === 0) begin();
    return allShown;
  };
  return Promise.all(tables.map((table) => play(table, updates, shown)));
}

async function play(table: Table, updates: number, shown: () => Promise<void>): Promise<number> {
  let seen = 0;
  for await (const { eventKind } of table.follow()) {
    if (eventKind.case === "snapshot") await shown();
    if (eventKind.case === "update") seen += 1;
    if (seen === updates) break;
    const action = randomLegal(table.legal, Math.random);
    if (action !== undefined) await table.act(action).catch(throwUnlessOvertaken);
  }
  return seen;
}
