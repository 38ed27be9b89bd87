// The page: a person, or chance in his place, at a table in a browser.
import { toJson } from "@bufbuild/protobuf";

import { type Action, ActionSchema, type Fact, FactSchema } from "./generated/croupier_api/v1/table_pb";
import { type House, enter } from "./house";
import { act, openTable, randomLegal, untilDealt } from "./playing";
import { Table } from "./table";

const MOST_LINES = 40;
const COMFORTABLE_MILLISECONDS = 700;
const SECRET = "croupier device secret";

const wish = document.querySelector("form") as HTMLFormElement;
const chance = element("chance") as HTMLInputElement;

const opening = wish.querySelector("button") as HTMLButtonElement;

wish.addEventListener("submit", (submitted) => {
  submitted.preventDefault();
  opening.disabled = true;
  play()
    .catch((error) => tell("failed", String(error)))
    .finally(() => (opening.disabled = false));
});

async function play(): Promise<void> {
  const wanted = (name: string) => String(new FormData(wish).get(name));
  tell("waiting", "signing in");
  const house = await enter(wanted("address"), deviceSecret(), wanted("name"));
  const pace = chance.checked ? 1 : COMFORTABLE_MILLISECONDS;
  const id = await openTable(house, wanted("game"), Number(wanted("seats")), Number(wanted("bots")), pace);
  element("table").textContent = id;
  tell("waiting", "waiting for the others: they join the table by its number");
  await untilDealt(house, id);
  const table = new Table(house, id);
  for await (const { event } of table.follow()) {
    if (event.case === "update") event.value.facts.forEach(log);
    show(house, table);
    if (chance.checked) await actByChance(house, table);
  }
  const groups = table.ranking.map((group) => group.seats.map((seat) => nameOf(table, seat)).join(" and "));
  tell("over", `the game is over: ${groups.join(", then ")}`);
}

/** What this device is known by; it stays in the browser. */
function deviceSecret(): string {
  const secret = localStorage.getItem(SECRET) ?? crypto.randomUUID();
  localStorage.setItem(SECRET, secret);
  return secret;
}

function show(house: House, table: Table): void {
  const seats = table.names.map((_, seat) => {
    const line = document.createElement("li");
    line.textContent = `${nameOf(table, seat)}: ${table.scores[seat] ?? 0}`;
    line.ariaCurrent = `${table.seatsToAct.includes(seat)}`;
    return line;
  });
  element("scores").replaceChildren(...seats);
  offer(buttons(house, table));
  tell("playing", randomLegal(table, Math.random) === undefined ? "the others think" : "your turn");
}

/** Put the buttons there; who plays by keyboard keeps his place among them. */
function offer(made: HTMLButtonElement[]): void {
  const actions = element("actions");
  const isThere = actions.contains(document.activeElement);
  actions.replaceChildren(...made);
  if (isThere) (made[0] ?? actions).focus();
}

/** One for each action; where cards are to be chosen of many, one that chooses them by chance. */
function buttons(house: House, table: Table): HTMLButtonElement[] {
  const { actions = [], choices = [] } = table.legal ?? {};
  const listed = actions.map((action) => button(spoken(JSON.stringify(toJson(ActionSchema, action))), () => action));
  const byChance = choices.slice(0, 1).map(() => button("by chance", () => randomLegal(table, Math.random)));
  return [...listed, ...byChance];

  function button(words: string, decide: () => Action | undefined): HTMLButtonElement {
    const made = document.createElement("button");
    made.textContent = words;
    made.addEventListener("click", () => {
      const action = decide();
      if (action !== undefined) act(house, table, action).catch((error) => tell("playing", String(error)));
    });
    return made;
  }
}

async function actByChance(house: House, table: Table): Promise<void> {
  const action = randomLegal(table, Math.random);
  if (action !== undefined) await act(house, table, action);
}

function log(fact: Fact): void {
  const line = document.createElement("li");
  line.textContent = spoken(JSON.stringify(toJson(FactSchema, fact)));
  const lines = element("log");
  lines.prepend(line);
  while (lines.children.length > MOST_LINES) lines.lastChild?.remove();
}

/** JSON as a person can read it: without its marks. */
function spoken(json: string): string {
  return json.replace(/CARD_|SUIT_|MOVE_REASON_|["{}]/g, "").replace(/([:,])/g, "$1 ");
}

function nameOf(table: Table, seat: number): string {
  return table.names[seat] || `seat ${seat}`;
}

/** Say how far things are: to people, and as `data-state` to programs. */
function tell(state: string, words: string): void {
  element("says").textContent = words;
  document.body.dataset["state"] = state;
}

function element(id: string): HTMLElement {
  return document.getElementById(id) as HTMLElement;
}
