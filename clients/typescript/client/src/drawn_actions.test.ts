// Which taps on drawn actions count.
import assert from "node:assert/strict";
import { test } from "vitest";

import { create } from "@bufbuild/protobuf";

import { ActionSchema, LegalActionsSchema } from "./generated/croupier_api/v1/actions_pb.js";
import { DrawnActions } from "./drawn_actions.js";

const PASS = create(ActionSchema, { verb: { case: "passTurn", value: {} } });

/** Actions that were drawn now; those that are taken are listed with their sequence, and wait for their answers. */
function drawn() {
  const time = { now: 1_000 };
  const acted: bigint[] = [];
  const answers: { accept(): void; refuse(): void }[] = [];
  const decision = { sequence: 3n, expectedSequence: 3n, legal: create(LegalActionsSchema) };
  const act = (_: unknown, { sequence }: { sequence: bigint }) =>
    new Promise<void>((accept, refuse) => {
      acted.push(sequence);
      answers.push({ accept, refuse: () => refuse(new Error("refused")) });
    });
  return { actions: new DrawnActions(act, decision, () => time.now), acted, answers, time };
}

test("a tap that was meant for what was there before does nothing", async () => {
  const { actions, acted, time } = drawn();
  time.now += 299;
  await actions.take(PASS);
  assert.deepEqual([acted, actions.isReady], [[], false]);
  time.now += 1;
  assert.equal(actions.isReady, true);
  void actions.take(PASS);
  assert.deepEqual(acted, [3n]);
});

test("the action of another changes nothing for a person who sees the same actions", () => {
  const { actions, acted, time } = drawn();
  time.now += 300;
  assert.equal(actions.update({ ...actions.decision, sequence: 4n }), true);
  assert.deepEqual([actions.isReady, actions.decision.sequence], [true, 4n]);
  assert.equal(actions.update({ ...actions.decision, sequence: 5n, legal: create(LegalActionsSchema, { actions: [PASS] }) }), false);
  void actions.take(PASS);
  assert.equal(actions.update({ ...actions.decision, sequence: 5n }), false);
  assert.deepEqual(acted, [4n]);
});

test("one action is taken, as it was drawn", async () => {
  const { actions, acted, answers, time } = drawn();
  time.now += 300;
  const taking = actions.take(PASS);
  await actions.take(PASS);
  answers[0]?.accept();
  await taking;
  await actions.take(PASS);
  assert.deepEqual(acted, [3n]);
});

test("after a refusal the person chooses again", async () => {
  const { actions, acted, answers, time } = drawn();
  time.now += 300;
  const taking = actions.take(PASS);
  answers[0]?.refuse();
  await assert.rejects(taking, /refused/);
  void actions.take(PASS);
  assert.deepEqual(acted, [3n, 3n]);
});
