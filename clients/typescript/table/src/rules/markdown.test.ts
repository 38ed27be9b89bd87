// The rules page as blocks.
import assert from "node:assert/strict";
import { test } from "vitest";

import { blocksOf, spansOf } from "./markdown.js";

test("a heading, a paragraph, a list with anchors and a table", () => {
  const page = [
    "# Thulla",
    "",
    '<a id="THU-1"></a> The **first** lead',
    "wraps.",
    "",
    '- <a id="THU-2"></a>one',
    "  more",
    "- two",
    "",
    "| Card | Points |",
    "|---|---:|",
    "| A | 1 |",
  ].join("\n");
  assert.deepEqual(blocksOf(page), [
    { kind: "heading", level: 1, text: "Thulla", anchors: [] },
    { kind: "paragraph", text: "The **first** lead wraps.", anchors: ["THU-1"] },
    { kind: "list", items: [{ text: "one more", anchors: ["THU-2"] }, { text: "two", anchors: [] }] },
    { kind: "table", head: ["Card", "Points"], rows: [["A", "1"]] },
  ]);
});

test("emphasis and code are pieces of a line, and markup stays a text", () => {
  assert.deepEqual(spansOf("a **b** `c*` <img src=x>"), [
    { kind: "plain", text: "a " },
    { kind: "strong", text: "b" },
    { kind: "plain", text: " " },
    { kind: "code", text: "c*" },
    { kind: "plain", text: " <img src=x>" },
  ]);
});
