// The languages of the client: each has every sentence, with the same values.
import assert from "node:assert/strict";
import { test } from "vitest";

import { TEXTS, fill, languageOf } from "./languages.js";
import { en } from "./texts/en.js";

test("the first known language is chosen, and English if none is known", () => {
  assert.equal(languageOf(["de-DE", "nb-NO", "en"]), "nb");
  assert.equal(languageOf(["no"]), "nb");
  assert.equal(languageOf(["nn-NO", "en"]), "nb");
  assert.equal(languageOf(["RU_ru.UTF-8"]), "ru");
  assert.equal(languageOf(["tlh", "constructor"]), "en");
  assert.equal(languageOf([]), "en");
});

test("sentences of all languages have the same placeholders, and no word of programs", () => {
  for (const [language, texts] of Object.entries(TEXTS)) {
    for (const [key, english] of Object.entries(en)) {
      const text = Object.entries(texts).find(([name]) => name === key)?.[1] ?? "";
      assert.deepEqual(placeholders(text), placeholders(english), `${key} in ${language}`);
      assert.equal(text.trim(), text, `${key} in ${language}`);
      assert.notEqual(text, "", `${key} in ${language}`);
      assert.doesNotMatch(text, /_/, `${key} in ${language}`);
    }
  }
});

test("Russian sentences have no Latin letters but in placeholders", () => {
  for (const text of Object.values(TEXTS.ru)) assert.doesNotMatch(text.replace(/\{\w+\}/g, ""), /[a-z]/i);
});

test("a placeholder without a value stays", () => {
  assert.equal(fill("{one} and {other}", new Map([["one", 1]])), "1 and {other}");
});

function placeholders(text: string): string[] {
  return [...text.matchAll(/\{\w+\}/g)].map(([placeholder]) => placeholder).sort();
}
