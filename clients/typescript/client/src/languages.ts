// The languages of the client, and its sentences in them.
import { en } from "./texts/en.js";
import type { Texts } from "./texts/en.js";
import { nb } from "./texts/nb.js";
import { ru } from "./texts/ru.js";

/** A language of the client, which those of the services are too. */
export type Language = "en" | "nb" | "ru";

export const TEXTS: Readonly<Record<Language, Texts>> = { en, nb, ru };

/** Norwegian without further name, and nynorsk, whose readers read bokmål. */
const SIMILAR: ReadonlyMap<string, Language> = new Map([["no", "nb"], ["nn", "nb"]]);

type Placeholder<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Placeholder<Rest> : never;
type Names<Key extends keyof Texts> = Placeholder<(typeof en)[Key]>;
/** The values of a sentence by the names of its placeholders; nothing for a sentence without any. */
export type Values<Key extends keyof Texts> = [Names<Key>] extends [never] ? [] : [Readonly<Record<Names<Key>, string | number>>];

/** Return the first known language of some tags such as "nb-NO", as a browser lists them; English if none is known. */
export function languageOf(tags: readonly string[]): Language {
  const firsts = tags.map((tag) => tag.split(/[-_]/)[0]?.toLowerCase() ?? "");
  const known = firsts.map((first) => SIMILAR.get(first) ?? first);
  return known.find((language): language is Language => Object.hasOwn(TEXTS, language)) ?? "en";
}

/** Return a sentence of a language with values in place of its placeholders. */
export function sentence<Key extends keyof Texts>(language: Language, key: Key, ...[values]: Values<Key>): string {
  return fill(TEXTS[language][key], new Map(Object.entries(values ?? {})));
}

/** Return a text with values in place of its placeholders, such as {bid}; one without a value stays as it is. */
export function fill(text: string, values: ReadonlyMap<string, string | number>): string {
  return text.replace(/\{(\w+)\}/g, (placeholder, name: string) => `${values.get(name) ?? placeholder}`);
}
