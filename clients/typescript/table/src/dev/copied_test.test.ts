// A recorded table as Python.
import assert from "node:assert/strict";
import { test } from "vitest";

import { copiedTest } from "./copied_test.js";

const TABLE = { address: new URL("https://localhost:7700"), game: "thulla", seatCount: 3, options: {}, bots: [""], actions: [] };

test("values are those of Python, and no text leaves its quotes", () => {
  const options = { a: true, b: null, c: 5, d: "\"\"\"\nimport os\\" };
  const text = copiedTest({ ...TABLE, options, actions: [{ seat: 2, action: { passTurn: {} } }] });
  assert.ok(text.includes(String.raw`OPTIONS = {"a": True, "b": None, "c": 5, "d": "\"\"\"\nimport os\\"}`));
  assert.ok(text.includes(`    (2, {"passTurn": {}}),\n`));
});

test("only an address with TLS has an authority", () => {
  assert.ok(copiedTest(TABLE).includes(`Endpoints.single("localhost:7700", Tls(AUTHORITY.read_bytes()))`));
  assert.ok(copiedTest({ ...TABLE, address: new URL("http://127.0.0.1:7700") }).includes(`Endpoints.single("127.0.0.1:7700")`));
});
