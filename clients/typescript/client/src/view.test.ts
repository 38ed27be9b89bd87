// The fold yields the engine's view in any game, and follows the contract in rare cases.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "vitest";

import { type MessageInitShape, create, equals, fromBinary, toJson } from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";

import { SnapshotSchema, TableUpdateSchema } from "./generated/croupier_api/v1/engine_pb.js";
import { FactSchema, type TableView, TableViewSchema } from "./generated/croupier_api/v1/facts_pb.js";
import { fold } from "./view.js";

/** One viewer's table as the engine encodes it, in base64: the view in snapshots, the facts of each step in updates. */
interface Recorded {
  readonly game: string;
  readonly viewer: number | "spectator" | "all";
  readonly before: string;
  readonly steps: readonly { readonly update: string; readonly after: string }[];
}

/** Two cards of a game's own deck. */
const [SEVEN, EIGHT]: [number, number] = [64, 65];
/** A file with a JSON array of Recorded, which tests/web writes. */
const RECORDED = process.env["CROUPIER_RECORDED_VIEWS"];

test.skipIf(RECORDED === undefined)("folded facts yield the view of the engine", () => {
  const tables: Recorded[] = JSON.parse(readFileSync(RECORDED ?? "", "utf8"));
  assert.ok(tables.length > 0);
  for (const { game, viewer, before, steps } of tables) {
    let view = viewOf(before);
    steps.forEach(({ update, after }, step) => {
      const { facts } = fromBinary(TableUpdateSchema, base64Decode(update));
      view = fold(view, facts, viewer === "spectator" ? undefined : viewer);
      const expected = viewOf(after);
      if (equals(TableViewSchema, view, expected)) return;
      assert.deepEqual(jsonOf(view), jsonOf(expected), `step ${step} of ${game} for viewer ${viewer}`);
      assert.fail("the views differ in what JSON does not show");
    });
  }
});

function viewOf(snapshot: string): TableView {
  return fromBinary(SnapshotSchema, base64Decode(snapshot)).view ?? create(TableViewSchema);
}

function jsonOf(view: TableView): unknown {
  return toJson(TableViewSchema, view);
}

/** Return the view of seat 0 at a table of two after facts. */
function after(facts: readonly MessageInitShape<typeof FactSchema>["fact"][]): TableView {
  const begun = create(TableViewSchema, { seats: [{ cards: [SEVEN, SEVEN, EIGHT], cardCount: 3 }, { cardCount: 3 }] });
  return fold(begun, facts.map((fact) => create(FactSchema, { fact: fact ?? { case: undefined } })), 0);
}

test("piles of one name belong to different owners, and those of the table come first", () => {
  const lay = (count: number, owner?: number) => ({
    case: "cardsMoved" as const,
    value: {
      source: { place: { case: "hand" as const, value: 1 } },
      target: { place: { case: "pile" as const, value: "melds" }, ...(owner === undefined ? {} : { owner }) },
      cards: Array.from({ length: count }, () => SEVEN),
      count,
      faceDown: owner === 1,
    },
  });
  const { piles } = after([lay(1, 1), lay(1), lay(1, 0)]);
  assert.deepEqual(piles.map(({ owner, count, faceDown }) => [owner, count, faceDown]), [
    [undefined, 1, false],
    [0, 1, false],
    [1, 1, true],
  ]);
  assert.deepEqual(piles.map(({ cards }) => cards.map(({ seat }) => seat)), [[1], [1], [1]]);
});

test("one of two equal cards is played", () => {
  const source = { place: { case: "hand" as const, value: 0 } };
  const { seats } = after([{ case: "cardsMoved", value: { source, target: {}, cards: [SEVEN], count: 1 } }]);
  assert.deepEqual(seats[0]?.cards, [SEVEN, EIGHT]);
});

test("cards that come listed to a hidden hand are known until one leaves unseen", () => {
  const hand = { place: { case: "hand" as const, value: 1 } };
  const moved = (value: { source?: typeof hand; target?: typeof hand; cards: number[]; count: number }) =>
    ({ case: "cardsMoved" as const, value });
  const revealed = { case: "handRevealed" as const, value: { seat: 1, cards: [EIGHT, SEVEN] } };
  const coming = moved({ target: hand, cards: [EIGHT, SEVEN], count: 2 });
  const shown = (...facts: Parameters<typeof after>[0]) => {
    const { cardCount, cards, knownCards } = after(facts).seats[1] ?? {};
    return [cardCount, cards, knownCards];
  };
  assert.deepEqual(shown(coming), [5, [], [SEVEN, EIGHT]]);
  assert.deepEqual(shown(coming, moved({ source: hand, cards: [SEVEN], count: 1 })), [4, [], [EIGHT]]);
  assert.deepEqual(shown(coming, moved({ source: hand, cards: [], count: 1 })), [4, [], []]);
  assert.deepEqual(shown(coming, revealed), [5, [SEVEN, EIGHT], []]);
  assert.deepEqual(shown(revealed, moved({ target: hand, cards: [SEVEN], count: 1 })), [4, [SEVEN, SEVEN, EIGHT], []]);
  assert.deepEqual(shown(revealed, moved({ target: hand, cards: [], count: 1 })), [4, [], [SEVEN, EIGHT]]);
  assert.deepEqual(shown(revealed, moved({ source: hand, cards: [], count: 1 })), [2, [], []]);
});

test("a mark with a value replaces the one before, and one without is removed", () => {
  const mark = (seat: number, number?: number) => {
    const value = number === undefined ? {} : { value: { value: { case: "number" as const, value: number } } };
    return { case: "markChanged" as const, value: { mark: { name: "stall", seat, ...value } } };
  };
  const { marks } = after([mark(1, 3), mark(0, 0), mark(1, 4), mark(2, 5), mark(2)]);
  assert.deepEqual(marks.map(({ seat, value }) => [seat, value?.value.value]), [[0, 0], [1, 4]]);
});

test("a fact that does not fit the view is refused", () => {
  assert.throws(() => after([{ case: "trickTaken", value: { seat: 2 } }]));
  assert.throws(() => after([{ case: "roundEnded", value: { score: { totals: [1] } } }]));
  const source = { place: { case: "pile" as const, value: "none" } };
  assert.throws(() => after([{ case: "cardsMoved", value: { source, count: 1 } }]));
});

test("a kind of fact that is newer than this client changes nothing", () => {
  assert.deepEqual(jsonOf(after([{ case: undefined }])), jsonOf(after([])));
});
