// The page's own texts in the language that it is shown in.
import { createContext } from "preact";
import { useContext } from "preact/hooks";

import { type Language, fill } from "@croupier/client";

import { type PageTexts, en } from "./en.js";
import { nb } from "./nb.js";
import { ru } from "./ru.js";

export const PAGE_TEXTS: Readonly<Record<Language, PageTexts>> = { en, nb, ru };

/** Returns a text with values in place of its placeholders. */
export type Say = (key: keyof PageTexts, values?: Readonly<Record<string, string | number>>) => string;

/** Return the texts of a language. */
export function sayIn(language: Language): Say {
  return (key, values = {}) => fill(PAGE_TEXTS[language][key], new Map(Object.entries(values)));
}

export const SayContext = createContext<Say>(sayIn("en"));

/** Return the texts in the language of the page. */
export function useSay(): Say {
  return useContext(SayContext);
}
