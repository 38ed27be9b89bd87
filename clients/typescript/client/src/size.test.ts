// What the client adds to a page.
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { test } from "vitest";

import { build } from "vite";

const MAX_BYTES = 45_000;
const SOURCES = fileURLToPath(new URL(".", import.meta.url));
const INDEX = `${SOURCES}index.ts`;

/** Return the size of a module that is bundled for a page, in bytes after gzip, and the modules whose code it has. */
async function bundled(code: string): Promise<{ bytes: number; modules: string[] }> {
  const entry = {
    name: "entry",
    resolveId: (id: string) => (id === "entry" ? id : undefined),
    load: (id: string) => (id === "entry" ? code : undefined),
  };
  const rolldownOptions = { input: "entry", preserveEntrySignatures: "strict" as const };
  const result = await build({ configFile: false, logLevel: "silent", plugins: [entry], build: { write: false, rolldownOptions } });
  assert.ok("output" in result);
  const [chunk] = result.output;
  const modules = Object.entries(chunk.modules).flatMap(([id, { renderedLength }]) => (renderedLength > 0 ? id : []));
  return { bytes: gzipSync(chunk.code, { level: 9 }).length, modules };
}

test("the whole client adds less than 45 KB to a page", async () => {
  const { bytes, modules } = await bundled(`export * from ${JSON.stringify(INDEX)};`);
  assert.ok(modules.some((id) => id.includes("@connectrpc")));
  assert.ok(bytes > 20_000, "less would not be the whole client");
  assert.ok(bytes < MAX_BYTES, `${bytes} bytes`);
});

test("a page that only folds facts has no code of connections, texts and tables", async () => {
  const { bytes, modules } = await bundled(`export { fold } from ${JSON.stringify(INDEX)};`);
  assert.deepEqual(modules.filter((id) => id.includes("@connectrpc")), []);
  const own = modules.filter((id) => id.startsWith(SOURCES)).map((id) => id.slice(SOURCES.length));
  assert.deepEqual(own.filter((id) => !id.startsWith("generated/")), ["descriptors.ts", "view.ts"]);
  assert.ok(bytes < 20_000, `${bytes} bytes`);
});
