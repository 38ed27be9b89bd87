// The part of the page that shows the rules of a game.
import { type CroupierClient, type Language } from "@croupier/client";
import { element, make } from "./dom.js";

/** Before each rule of a page: the id is that of the rule. */
const ANCHOR = /<a id="([A-Za-z0-9-]+)"><\/a>/;

/** Show the rules page of a game as it is written, from a rule on. */
export async function showRules(
  { engine }: CroupierClient,
  request: { readonly game: string; readonly rulesVersion: number; readonly language: Language },
  rule: string,
): Promise<void> {
  const { markdown, language } = await engine.getRules(request);
  // The parts by turns are text and the id of an anchor.
  const parts = markdown.split(ANCHOR).map((part, at) => (at % 2 === 0 ? part : make("span", { id: part })));
  const page = element("rules-text");
  page.lang = language;
  page.replaceChildren(...parts);
  element("rules").hidden = false;
  element("close-rules").onclick = () => void (element("rules").hidden = true);
  (document.getElementById(rule) ?? page).scrollIntoView();
}
