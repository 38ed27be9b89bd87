// The deals of recorded replays are proved, and each kind of tampering is found in its own way.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "vitest";

import { ReplayFault } from "./replay_file.js";
import { type Proof, verifyReplay } from "./verify.js";

/** A replay that Python wrote, with the cards of its shuffles before them, in the order of the file. */
interface Written {
  readonly text: string;
  readonly commitment: string;
  readonly deals: readonly { readonly round: number; readonly shuffle: number; readonly cards: readonly string[] }[];
}

/** The replays of all versions of the server, which its own verification accepts too. */
const RECORDED = new URL("../../../../tests/engine/recorded/", import.meta.url);
/** A file with a JSON array of Written, which tests/web writes. */
const WRITTEN = process.env["CROUPIER_WRITTEN_REPLAYS"];
const NAMES = readdirSync(RECORDED).filter((name) => name.endsWith(".jsonl"));

function recorded(name: string): string {
  return readFileSync(new URL(name, RECORDED), "utf8");
}

/** Return a replay file with other lines. */
function changed(text: string, change: (lines: string[]) => void): string {
  const lines = text.trimEnd().split("\n");
  change(lines);
  return `${lines.join("\n")}\n`;
}

/** Return a replay file with another value in a line, from 1, in place of a text that is there once. */
function replaced(text: string, line: number, old: string, value: string): string {
  return changed(text, (lines) => {
    const before = lines[line - 1] ?? "";
    assert.equal(before.split(old).length, 2, `line ${line} has ${old} once`);
    lines[line - 1] = before.replace(old, value);
  });
}

/** Return the rounds of the deals that are not proved. */
function unproved({ deals }: Proof): readonly number[] {
  return deals.filter(({ isProved }) => !isProved).map(({ round }) => round);
}

function faultOf(text: string): readonly [number, string] {
  try {
    verifyReplay(text);
  } catch (error) {
    assert.ok(error instanceof ReplayFault, String(error));
    return [error.line, error.fault];
  }
  return assert.fail("the replay is readable");
}

test.each(NAMES)("the deals of %s are proved, with the commitment that was shown", (name) => {
  const text = recorded(name);
  const header = JSON.parse(text.split("\n", 1)[0] ?? "");
  const proof = verifyReplay(text, header.commitment);
  const shuffles = text.split("\n").filter((line) => /"type":"(deal|reshuffle)"/.test(line));
  assert.equal(proof.deals.length, shuffles.length);
  assert.deepEqual([proof.isProved, proof.isCommitted, proof.isAsShown, unproved(proof)], [true, true, true, []]);
  assert.deepEqual([proof.seed, proof.commitment, proof.game], [header.seed, header.commitment, header.game]);
  assert.equal(verifyReplay(text).isAsShown, undefined);
});

test.skipIf(WRITTEN === undefined)("the deals of replays of all games are proved, with the cards before each shuffle", () => {
  const replays: readonly Written[] = JSON.parse(readFileSync(WRITTEN ?? "", "utf8"));
  assert.ok(replays.length > 0);
  for (const { text, commitment, deals } of replays) {
    const proof = verifyReplay(text, commitment);
    assert.deepEqual(proof.deals.map(({ round, shuffle, cards }) => ({ round, shuffle, cards })), deals);
    assert.ok(proof.isProved, text.slice(0, 1_000));
  }
});

test("two cards that change places anywhere in a deal are found there", () => {
  for (const name of NAMES) {
    const text = recorded(name);
    const lines = text.trimEnd().split("\n");
    lines.forEach((line, index) => {
      if (!line.includes('"type":"deal"')) return;
      const cards = [...line.matchAll(/"([2-9TJQKA][CDHS]|JK)"/g)];
      const [first, last] = [cards[0]?.[0] ?? "", cards.at(-1)?.[0] ?? ""];
      const swapped = line.replace(first, "X").replace(last, first).replace("X", last);
      const round = 1 + lines.slice(0, index).filter((other) => other.startsWith('{"round"')).length;
      const proof = verifyReplay(changed(text, (all) => void (all[index] = swapped)));
      assert.deepEqual([proof.isProved, proof.isCommitted, unproved(proof)], [false, true, [round]], `${name}:${index + 1}`);
    });
  }
});

test("another seed, commitment or client seed is found", () => {
  const text = recorded("thulla-1.jsonl");
  const { seed, commitment } = verifyReplay(text);
  const other = "f".repeat(64);
  const reseeded = verifyReplay(replaced(text, 1, seed, other));
  assert.deepEqual([reseeded.isProved, reseeded.isCommitted, unproved(reseeded)], [false, false, [1, 2, 3]]);
  const recommitted = verifyReplay(replaced(text, 1, commitment, other), commitment);
  assert.deepEqual([recommitted.isCommitted, recommitted.isAsShown, unproved(recommitted)], [false, false, []]);
  assert.equal(recommitted.isProved, false);
  assert.equal(verifyReplay(replaced(text, 1, commitment, other)).isProved, false);
  const added = verifyReplay(replaced(text, 1, '"client_seeds":{}', '"client_seeds":{"2":"00ff"}'));
  assert.deepEqual([added.isProved, added.isCommitted, unproved(added)], [false, true, [1, 2, 3]]);
  assert.deepEqual(added.clientSeeds, ["", "", "00ff", "", "", ""]);
});

test("a whole replay of another seed is not the one that was committed to", () => {
  const proof = verifyReplay(recorded("thulla-1.jsonl"), "0".repeat(64));
  assert.deepEqual([proof.isProved, proof.isCommitted, proof.isAsShown, unproved(proof)], [false, true, false, []]);
});

test("numbers that were drawn with a shuffle are no cards", () => {
  const text = recorded("thulla-1.jsonl");
  assert.ok(verifyReplay(replaced(text, 2, '"hands":[', '"drawn":[1,0],"hands":[')).isProved);
});

test("the deals of two rounds that change places are both found", () => {
  const text = recorded("jossing-1.jsonl");
  const lines = text.split("\n");
  const [first, second] = lines.flatMap((line, index) => (line.includes('"type":"deal"') ? [index] : []));
  const [one, other] = [first, second].map((index) => /"event":.*$/.exec(lines[index ?? 0] ?? "")?.[0] ?? "");
  const swapped = replaced(replaced(text, (first ?? 0) + 1, one ?? "", other ?? ""), (second ?? 0) + 1, other ?? "", one ?? "");
  assert.deepEqual(unproved(verifyReplay(swapped)), [1, 2]);
});

test("cards that stay in the box are among those of a shuffle", () => {
  const cardsOf = (name: string) => verifyReplay(recorded(name)).deals.map(({ cards }) => cards.length);
  assert.deepEqual(new Set(cardsOf("jossing-1.jsonl")), new Set([52]));
  assert.deepEqual(cardsOf("thulla-1.jsonl"), [48, 48, 48]);
});

test("the seat that was served first is reported", () => {
  // Seat 0 has dealt round 1.
  assert.deepEqual(verifyReplay(recorded("thulla-1.jsonl")).deals.map(({ firstSeat }) => firstSeat), [1, 2, 3]);
  assert.equal(verifyReplay(recorded("solo-1.jsonl")).deals[0]?.firstSeat, undefined);
});

test("a malformed file is refused with its line and fault", () => {
  const text = recorded("thulla-1.jsonl");
  const count = text.trimEnd().split("\n").length;
  const without = (line: number) => changed(text, (lines) => void lines.splice(line - 1, 1));
  const cases: readonly (readonly [string, number, string])[] = [
    ["", 1, "expected a JSON object"],
    [text.slice(0, 400), 1, "expected a JSON object"],
    [replaced(text, 1, '"replay":1', '"replay":2'), 1, "expected the header of a replay of version 1"],
    [replaced(text, 1, '"client_seeds":{}', '"client_seeds":{"6":"00"}'), 1, "expected client_seeds of 1 to 64 bytes by seat"],
    [replaced(text, 1, '"client_seeds":{}', '"client_seeds":{"0":"0"}'), 1, "expected client_seeds of 1 to 64 bytes by seat"],
    [replaced(text, 1, '"seed":"', '"seed":"00'), 1, "expected a seed of 64 hexadecimal digits"],
    [replaced(text, 1, '"seats":6', '"seats":1e9'), 1, "expected 1 to 16 seats"],
    [replaced(text, 1, '"options":{', '"options":{"decks":9,'), 1, "expected 1 to 8 decks"],
    [replaced(text, 2, '"7S"', '"1S"'), 2, 'invalid card "1S": expected rank and suit such as 5H, or JK'],
    [replaced(text, 2, '"hands":[', '"hands":[7,'), 2, "expected a list of cards"],
    [replaced(text, 2, '"hands":[', `"hands":[${"[],".repeat(20)}`), 2, "expected hands by seat"],
    [replaced(text, 2, '"event":{"type":"deal",', '"event":{"kind":"deal",'), 2, "expected an event with a type"],
    [without(2), 2, "expected entry 1"],
    [replaced(text, 3, '"seat":', '"place":'), 3, "expected an event, or an action of a seat"],
    [replaced(text, 3, '"at":"2026', '"at":"2025'), 3, "the time is missing, or before that of the entry above"],
    [without(5), 5, "expected entry 4"],
    [without(count), count - 1, "expected the result as the last line"],
    [`${text}{}\n`, count, `expected entry ${count - 4}`],
    [`${text}\n`, count + 1, "expected a JSON object"],
    [changed(text, (lines) => void (lines[2] = " ".repeat(65_537))), 3, "expected at most 65536 characters"],
  ];
  for (const [malformed, line, fault] of cases) assert.deepEqual(faultOf(malformed), [line, fault]);
  const rounds = changed(text, (lines) => void lines.splice(lines.findIndex((line) => line.startsWith('{"round":1')), 1));
  assert.match(faultOf(rounds)[1], /expected the points of round 1/);
  const actionFirst = changed(text, (lines) => void (lines[1] = '{"seq":1,"at":"2026","seat":0,"action":{"type":"pass"}}'));
  assert.deepEqual(faultOf(actionFirst), [2, "expected a shuffle as the first entry"]);
});
