// The fold passes the golden vectors, which tests of clients in all languages share.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "vitest";

import { type JsonValue, create, equals, fromJson, toJson } from "@bufbuild/protobuf";

import { FactSchema, TableViewSchema } from "./generated/croupier_api/v1/facts_pb.js";
import { type Viewer, fold } from "./view.js";

/** A line of a file, as its README says. */
interface Line {
  readonly viewer?: number | "spectator" | "all";
  readonly facts?: readonly JsonValue[];
  readonly view?: JsonValue;
}

const VECTORS = new URL("../../../vectors/", import.meta.url);
const NAMES = readdirSync(VECTORS).filter((name) => name.endsWith(".jsonl"));

test.each(NAMES)("the facts of %s fold to its views", (name) => {
  let [view, viewer, checked]: [ReturnType<typeof fold>, Viewer, number] = [create(TableViewSchema), undefined, 0];
  const lines = readFileSync(new URL(name, VECTORS), "utf8").trimEnd().split("\n");
  lines.forEach((text, index) => {
    const line: Line = JSON.parse(text);
    const expected = line.view === undefined ? undefined : fromJson(TableViewSchema, line.view);
    if (line.viewer !== undefined) {
      viewer = line.viewer === "spectator" ? undefined : line.viewer;
      view = expected ?? view;
      return;
    }
    view = fold(view, (line.facts ?? []).map((fact) => fromJson(FactSchema, fact)), viewer);
    if (expected === undefined) return;
    checked += 1;
    if (equals(TableViewSchema, view, expected)) return;
    assert.deepEqual(toJson(TableViewSchema, view), toJson(TableViewSchema, expected), `line ${index + 1}`);
    assert.fail("the views differ in what JSON does not show");
  });
  assert.ok(checked > 0);
});
