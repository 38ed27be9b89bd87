// One error model: refusals inside streams are those of unary calls.
import assert from "node:assert/strict";
import test from "node:test";

import { create } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";

import { ErrorReason } from "./generated/croupier_api/v1/errors_pb";
import { ErrorInfoSchema, RetryInfoSchema } from "./generated/google/rpc/error_details_pb";
import { StatusSchema } from "./generated/google/rpc/status_pb";
import { errorOf, reasonOf, retryDelay } from "./errors";

test("a refusal in a stream has code, reason and delay", () => {
  const details = [
    anyPack(ErrorInfoSchema, create(ErrorInfoSchema, { reason: "TABLE_BUSY", domain: "croupier" })),
    anyPack(RetryInfoSchema, create(RetryInfoSchema, { retryDelay: { nanos: 100_000_000 } })),
  ];
  const error = errorOf(create(StatusSchema, { code: Code.Unavailable, message: "busy", details }));
  assert.deepEqual([error.code, error.rawMessage], [Code.Unavailable, "busy"]);
  assert.deepEqual([reasonOf(error), retryDelay(error)], [ErrorReason.TABLE_BUSY, 100]);
});

test("a reason that is newer than this client is a refusal all the same", () => {
  const details = [anyPack(ErrorInfoSchema, create(ErrorInfoSchema, { reason: "NEWER" }))];
  assert.equal(reasonOf(errorOf(create(StatusSchema, { code: Code.Internal, details }))), ErrorReason.UNSPECIFIED);
  assert.equal(reasonOf(new Error("the connection is lost")), undefined);
});
