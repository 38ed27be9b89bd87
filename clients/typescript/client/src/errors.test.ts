// Refusals: their reasons, and the delays that they ask for.
import assert from "node:assert/strict";
import { test } from "vitest";

import { Code, ConnectError } from "@connectrpc/connect";

import { ErrorReason } from "./generated/croupier_api/v1/errors_pb.js";
import { ErrorInfoSchema, RetryInfoSchema } from "./generated/google/rpc/error_details_pb.js";
import { faultOf, reasonOf, retryDelay, ruleOf } from "./errors.js";

test("a refusal has a reason and a delay", () => {
  const error = new ConnectError("busy", Code.Unavailable, undefined, [
    { desc: ErrorInfoSchema, value: { reason: "TABLE_BUSY", domain: "croupier" } },
    { desc: RetryInfoSchema, value: { retryDelay: { nanos: 100_000_000 } } },
  ]);
  assert.deepEqual([reasonOf(error), retryDelay(error)], [ErrorReason.TABLE_BUSY, 100]);
});

test("a reason that is newer than this client is a refusal all the same", () => {
  const error = new ConnectError("no", Code.Internal, undefined, [{ desc: ErrorInfoSchema, value: { reason: "NEWER" } }]);
  assert.equal(reasonOf(error), ErrorReason.UNSPECIFIED);
  assert.equal(reasonOf(new Error("the connection is lost")), undefined);
  assert.equal(faultOf(error), error);
});

test("a refusal by a rule has its id", () => {
  const value = { reason: "ILLEGAL_ACTION", metadata: { rule: "THU-PLAY-3" } };
  const refusal = new ConnectError("no", Code.FailedPrecondition, undefined, [{ desc: ErrorInfoSchema, value }]);
  assert.deepEqual([ruleOf(refusal), ruleOf(new Error("lost"))], ["THU-PLAY-3", undefined]);
});

test("a call that ends as internal, unknown or canceled without a reason has lost its connection", () => {
  for (const code of [Code.Internal, Code.Unknown, Code.Canceled]) {
    assert.equal(faultOf(new ConnectError("missing trailer", code)).code, Code.Unavailable);
  }
  const refusal = new ConnectError("no", Code.NotFound);
  assert.equal(faultOf(refusal), refusal);
});
