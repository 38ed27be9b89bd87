// The page's texts: none is left over.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";

import { en } from "./en.js";

const SOURCES = join(import.meta.dirname, "..");

test("every text is shown somewhere", () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter((file) => /(?<!\.test)\.tsx?$/.test(file) && !file.startsWith("texts"));
  const code = files.map((file) => readFileSync(join(SOURCES, file), "utf8")).join("\n");
  assert.deepEqual(Object.keys(en).filter((key) => !code.includes(`"${key}"`)), []);
});
