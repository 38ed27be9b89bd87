// Refusals as sentences: a table whose rules are missing or have failed waits, and the sentence names their package.
import assert from "node:assert/strict";
import { test } from "vitest";

import { Code, ConnectError } from "@connectrpc/connect";

import { type Language, type TableStatus } from "@croupier/client";
import { ErrorInfoSchema } from "@croupier/client/contract";

import { refusalText, standstillOf } from "./errors.js";
import { sayIn } from "./texts/page_texts.js";

const SAY = sayIn("en");
const HEARTS = "croupier-hearts 1.2.0";
const LOST = new ConnectError("the connection is lost", Code.Unavailable);
const SENTENCES: Readonly<Record<Language, readonly [missing: string, failed: string]>> = {
  en: [`The table waits: the rules of its game are not installed (${HEARTS}).`, `The table waits: the rules of its game have failed (${HEARTS}).`],
  nb: [`Bordet venter: reglene til spillet er ikke installert (${HEARTS}).`, `Bordet venter: reglene til spillet har feilet (${HEARTS}).`],
  ru: [`Стол ждёт: правила его игры не установлены (${HEARTS}).`, `Стол ждёт: в правилах его игры произошла ошибка (${HEARTS}).`],
};

function refusal(reason: string, metadata: Record<string, string> = {}): ConnectError {
  return new ConnectError("for developers", Code.FailedPrecondition, undefined, [{ desc: ErrorInfoSchema, value: { reason, metadata } }]);
}

test("rules that are missing or have failed are one sentence with their package, in each language", () => {
  for (const [language, sentences] of Object.entries(SENTENCES)) {
    const refusals = ["RULES_MISSING", "RULES_FAILED"].map((reason) => refusal(reason, { game: "hearts", package: HEARTS }));
    assert.deepEqual(refusals.map((error) => refusalText(error, undefined, sayIn(language as Language))), sentences);
  }
});

test("the rules of the five games are of croupier", () => {
  assert.equal(refusalText(refusal("RULES_FAILED", { game: "solo", package: "" }), undefined, SAY), "The table waits: the rules of its game have failed (croupier).");
});

test("a table stands still for its rules, and after a final refusal, but not while the connection is lost", () => {
  const standstill = (status: TableStatus, error: ConnectError | undefined) => standstillOf({ status, error }, undefined, SAY) !== undefined;
  assert.equal(standstill("offline", refusal("RULES_FAILED")), true);
  assert.equal(standstill("catching up", refusal("RULES_MISSING")), true);
  assert.equal(standstill("failed", refusal("SUPERSEDED")), true);
  assert.equal(standstill("offline", LOST), false);
  assert.equal(standstill("live", undefined), false);
  assert.equal(standstill("over", undefined), false);
});
