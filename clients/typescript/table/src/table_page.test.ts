// What a person's taps on the page do, with a page and a time in memory.
import assert from "node:assert/strict";
import { test } from "vitest";

import { type MessageInitShape, create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";

import {
  type Action,
  Card,
  GameDescriptionSchema,
  LegalActionsSchema,
  PileDisplay,
  RoundScoreSchema,
  TableViewSchema,
  WordKind,
  ErrorInfoSchema,
} from "@croupier/client/contract";
import { type CroupierClient, Table, Words } from "@croupier/client";
import { fakePage } from "./fake_page.js";
import { TablePage } from "./table_page.js";

const STALE = new ConnectError("moved on", Code.Aborted, undefined, [
  { desc: ErrorInfoSchema, value: { reason: "STALE_SEQUENCE" } },
]);
const BROKEN_RULE = new ConnectError("for developers", Code.FailedPrecondition, undefined, [
  { desc: ErrorInfoSchema, value: { reason: "ILLEGAL_ACTION", metadata: { rule: "THU-PLAY-3" } } },
]);
const GAME = {
  words: [
    { kind: WordKind.RULE, word: "THU-PLAY-3", text: "Follow suit if you can." },
    { kind: WordKind.MARK, word: "order", text: "finishing order" },
  ],
  piles: [{ name: "waste", display: PileDisplay.COUNT }],
};
const LEGAL = { [Card.TWO_OF_CLUBS]: legalOf(Card.TWO_OF_CLUBS), [Card.SIX_OF_HEARTS]: legalOf(Card.SIX_OF_HEARTS) };

function legalOf(card: Card) {
  return create(LegalActionsSchema, { actions: [{ verb: { case: "play", value: { card } } }] });
}

/** A page at a table, whose acts are recorded and get these answers, then none. */
function pageOf(answers: readonly ConnectError[] = []) {
  const find = fakePage();
  const time = { now: 1_000 };
  const acted: [action: Action, expected: bigint | undefined][] = [];
  const act = async (action: Action, expected: bigint | undefined): Promise<void> => {
    const answer = answers[acted.push([action, expected]) - 1];
    if (answer !== undefined) throw answer;
  };
  const table = new Table({} as CroupierClient, "t");
  table.seat = 0;
  const shownRules: string[] = [];
  const [leave, back] = [() => assert.fail("nobody leaves"), () => assert.fail("nobody returns")];
  const controls = { act, leave, return: back, showRule: (rule: string) => void shownRules.push(rule) };
  const page = new TablePage(table, controls, () => time.now);
  const words = new Words(create(GameDescriptionSchema, GAME), "en", ["Ada", "Bo"]);
  /** Show the table at a sequence; with a new view unless the entry has no facts. */
  const show = (sequence: bigint, card: Card.TWO_OF_CLUBS | Card.SIX_OF_HEARTS, seatsToAct = [0], hasFacts = true) => {
    if (hasFacts) table.view = create(TableViewSchema, { seats: [{}, {}], seatsToAct });
    [table.sequence, table.legal] = [sequence, LEGAL[card]];
    page.show(words, undefined);
  };
  const tap = () => find("actions").children[0]?.tap();
  const button = () => find("actions").children[0];
  const status = () => find("status").textContent;
  const lines = (id: string) => find(id).children.map(({ textContent }) => textContent);
  return { acted, button, find, lines, page, show, shownRules, status, table, tap, time, words };
}

/** Return the cards that were played, with the sequences that the actions expected. */
function played(acted: readonly [Action, bigint | undefined][]): unknown[] {
  return acted.map(([{ verb }, expected]) => [verb.case === "play" && verb.value.card, expected]);
}

test("cards that are known of a hidden hand are shown with its number of cards", () => {
  const { lines, page, table, words } = pageOf();
  table.view = create(TableViewSchema, { seats: [{}, { cardCount: 3, knownCards: [Card.SIX_OF_HEARTS] }] });
  page.show(words, undefined);
  assert.equal(lines("scores")[1], "Bo: 0, cards: 3, known: 6♥");
});

test("a refusal by a rule shows its text and a link to the rule, until the next action", async () => {
  const { find, show, shownRules, status, tap, time } = pageOf([BROKEN_RULE]);
  show(3n, Card.TWO_OF_CLUBS);
  assert.ok(find("rule").hidden);
  time.now += 300;
  tap();
  await new Promise(setImmediate);
  assert.equal(status(), "Follow suit if you can.");
  assert.deepEqual([find("rule").hidden, find("rule").textContent], [false, "rule THU-PLAY-3"]);
  find("rule").onclick?.();
  assert.deepEqual(shownRules, ["THU-PLAY-3"]);
  tap();
  assert.ok(find("rule").hidden);
});

test("rounds are listed in order, each once, with details that stay open", () => {
  const { find, lines, page, show } = pageOf();
  const score = (round: number, more: MessageInitShape<typeof RoundScoreSchema> = {}) =>
    create(RoundScoreSchema, { round, points: [1, -1], ...more });
  show(3n, Card.TWO_OF_CLUBS);
  page.addRounds([score(2)]);
  const details = [{ name: "order", value: { value: { case: "seats" as const, value: { seats: [1, 0] } } } }];
  page.addRounds([score(1, { details }), score(2)]);
  assert.deepEqual(lines("rounds"), ["round 1; Ada 1, Bo -1finishing order: Bo and Ada", "round 2; Ada 1, Bo -1"]);
  const isOpen = () => Reflect.get(find("rounds").all("details")[0] ?? {}, "open");
  assert.equal(isOpen(), false);
  const [opened] = find("rounds").all("details");
  Object.assign(opened ?? {}, { open: true });
  opened?.ontoggle?.();
  page.addRounds([score(3)]);
  assert.equal(isOpen(), true);
});

test("the cards of a pile that is shown by their number can be opened", () => {
  const { find, page, table, words } = pageOf();
  const cards = [{ card: Card.SIX_OF_HEARTS, seat: 1 }];
  table.view = create(TableViewSchema, { seats: [{}, {}], piles: [{ name: "waste", count: 1, cards }] });
  page.show(words, undefined);
  assert.deepEqual(find("piles").all("summary").map(({ textContent }) => textContent), ["waste, cards: 1"]);
  assert.deepEqual(find("piles").all("ul").map(({ textContent }) => textContent), ["6♥ (Bo)"]);
});

test("a reaction is among the events", () => {
  const { lines, page, show } = pageOf();
  show(3n, Card.TWO_OF_CLUBS);
  page.showReaction(1, "👍");
  assert.deepEqual(lines("log"), ["Bo: 👍"]);
});

test("a button does not react for 300 ms after it changed", () => {
  const { acted, show, tap, time } = pageOf();
  show(3n, Card.TWO_OF_CLUBS);
  time.now += 5_000;
  show(9n, Card.SIX_OF_HEARTS);
  tap();
  time.now += 299;
  tap();
  assert.deepEqual(acted, []);
  time.now += 1;
  tap();
  assert.deepEqual(played(acted), [[Card.SIX_OF_HEARTS, 9n]]);
});

test("a tap expects the sequence at which its button was drawn", () => {
  const { acted, button, show, time } = pageOf();
  show(3n, Card.TWO_OF_CLUBS);
  const early = button();
  show(9n, Card.TWO_OF_CLUBS);
  time.now += 300;
  early?.tap();
  button()?.tap();
  assert.deepEqual(played(acted), [[Card.TWO_OF_CLUBS, 3n], [Card.TWO_OF_CLUBS, 9n]]);
});

test("buttons stay through entries that leave the game as it was, and expect them", () => {
  const { acted, button, show, tap, time } = pageOf();
  show(3n, Card.TWO_OF_CLUBS);
  const before = button();
  time.now += 300;
  show(4n, Card.TWO_OF_CLUBS, [0], false);
  assert.equal(button(), before);
  tap();
  assert.deepEqual(played(acted), [[Card.TWO_OF_CLUBS, 4n]]);
});

test("buttons stay while others act at the same time", () => {
  const { acted, button, show, tap, time } = pageOf();
  show(3n, Card.TWO_OF_CLUBS, [0, 1]);
  const before = button();
  time.now += 300;
  show(4n, Card.TWO_OF_CLUBS, [0]);
  assert.equal(button(), before);
  tap();
  assert.deepEqual(played(acted), [[Card.TWO_OF_CLUBS, undefined]]);
});

test("a tap that came too late is shown as such for a while, and nothing else is played", async () => {
  const { acted, page, show, status, tap, time, words } = pageOf([STALE]);
  show(3n, Card.TWO_OF_CLUBS);
  time.now += 300;
  tap();
  await new Promise(setImmediate);
  show(9n, Card.SIX_OF_HEARTS);
  assert.match(status() ?? "", /^too late: .*, your turn$/);
  assert.deepEqual(played(acted), [[Card.TWO_OF_CLUBS, 3n]]);
  time.now += 5_000;
  page.showTurn(words);
  assert.equal(status(), "your turn");
  tap();
  assert.deepEqual(played(acted).slice(1), [[Card.SIX_OF_HEARTS, 9n]]);
});

test("a second tap waits for the answer to the first, and is possible after a refusal", async () => {
  const { acted, show, tap, time } = pageOf([new ConnectError("refused", Code.FailedPrecondition)]);
  show(3n, Card.TWO_OF_CLUBS);
  time.now += 300;
  tap();
  tap();
  assert.equal(acted.length, 1);
  await new Promise(setImmediate);
  tap();
  assert.equal(acted.length, 2);
  await new Promise(setImmediate);
  tap();
  assert.equal(acted.length, 2);
});
