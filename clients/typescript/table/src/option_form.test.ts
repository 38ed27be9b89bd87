// The options of a game in a form, with a page in memory.
import assert from "node:assert/strict";
import { test } from "vitest";

import { create } from "@bufbuild/protobuf";

import { GameDescriptionSchema, WordKind } from "@croupier/client/contract";
import { fakePage } from "./fake_page.js";
import { showOptions } from "./option_form.js";

const text = (value: string) => ({ kind: { case: "stringValue" as const, value } });
const choice = { case: "choice" as const, value: { values: [text("none"), text("per_card")], defaultValue: text("none") } };
const GAME = create(GameDescriptionSchema, {
  options: [
    { name: "hook", meaning: "the hook", values: { case: "flag", value: { defaultValue: true } } },
    { name: "scoring", group: "score", values: choice },
    {
      name: "last_trick",
      group: "score",
      unit: "tricks",
      condition: { option: "scoring", values: [text("per_card")] },
      values: { case: "flag", value: { defaultValue: false } },
    },
    { name: "newer_than_this_client" },
  ],
  words: [
    { kind: WordKind.OPTION, word: "last_trick", text: "Last trick" },
    { kind: WordKind.OPTION_GROUP, word: "score", text: "Score sheet" },
    { kind: WordKind.OPTION_CHOICE, word: "scoring.per_card", text: "by cards" },
    { kind: WordKind.UNIT, word: "tricks", text: "stikk" },
  ],
});

function form() {
  const find = fakePage();
  const changed = showOptions(GAME, "nb");
  const options = find("options");
  const [scoring, lastTrick] = [options.all("select")[0], options.all("input")[1]];
  return { changed, lastTrick: lastTrick ?? assert.fail(), options, scoring: scoring ?? assert.fail() };
}

test("options of a group are in a fieldset, with the texts of names, values and units", () => {
  const { options } = form();
  assert.deepEqual(options.all("fieldset").map((group) => group.textContent), ["Score sheetscoring noneby cardsLast trick  stikk"]);
  assert.equal(options.all("label")[0]?.textContent, "hook ");
  assert.equal(options.all("label").length, 3);
});

test("an option is disabled and keeps its default while its condition does not hold", () => {
  const { changed, lastTrick, options, scoring } = form();
  Object.assign(lastTrick, { checked: true });
  assert.deepEqual([lastTrick.disabled, changed()], [true, {}]);
  scoring.selectedIndex = 1;
  options.onchange?.();
  assert.deepEqual([lastTrick.disabled, changed()], [false, { scoring: "per_card", last_trick: true }]);
});
