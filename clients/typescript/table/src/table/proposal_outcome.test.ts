// A proposal is agreed with, declined by a seat, or lapses.
import assert from "node:assert/strict";
import { test } from "vitest";

import { create } from "@bufbuild/protobuf";
import { ProposalSchema, TableUpdateSchema } from "@croupier/client/contract";

import { outcomeOf } from "./proposal_outcome.js";

const PENDING = create(ProposalSchema, { sequence: 7n, agreedSeats: [0, 2] });
const ROUND = [{ fact: { case: "roundStarted" as const, value: { round: 2 } } }];

test("a vote keeps a proposal, and without one nothing ends", () => {
  const vote = create(TableUpdateSchema, { seat: 1, proposal: { sequence: 7n, agreedSeats: [0, 1, 2] } });
  assert.equal(outcomeOf(PENDING, vote, 3), undefined);
  assert.equal(outcomeOf(undefined, create(TableUpdateSchema, { seat: 1 }), 3), undefined);
});

test("a vote that ends it declines, and the last vote agrees", () => {
  assert.deepEqual(outcomeOf(PENDING, create(TableUpdateSchema, { seat: 1 }), 3), { kind: "declined", seat: 1 });
  const all = create(ProposalSchema, { sequence: 7n, agreedSeats: [0, 1, 2] });
  assert.deepEqual(outcomeOf(all, create(TableUpdateSchema, { facts: ROUND }), 3), { kind: "agreed" });
});

test("a proposal lapses with what the game does, with a seat that leaves, and with the next proposal", () => {
  for (const ending of [{ seat: 1, facts: ROUND }, { seat: 1, isAway: true }, { seat: 1, proposal: { sequence: 8n } }]) {
    assert.deepEqual(outcomeOf(PENDING, create(TableUpdateSchema, ending), 3), { kind: "lapsed" });
  }
});
