// All texts that a page shows for facts and for views, as values for a program that checks them.
import { type Fact, type TableView, WordKind } from "../contract.js";
import { type Expandable, type Words, callText, factText, shownPiles, shownRound, texts } from "../index.js";

/** The texts of facts: a line for each, and the scores of the rounds that ended. */
export interface ShownFacts {
  readonly facts: readonly string[];
  readonly rounds: readonly Shown[];
}

/** The texts of a view. */
export interface ShownView {
  readonly round: string;
  readonly piles: readonly Shown[];
  readonly contract: string;
  readonly calls: readonly string[];
  readonly marks: readonly string[];
}

/** A line, and what is shown on demand. */
type Shown = Omit<Expandable, "key">;

/** Return the texts of facts as the page lists them. */
export function shownFacts(facts: readonly Fact[], words: Words): ShownFacts {
  const scores = facts.flatMap(({ fact }) => (fact.case === "roundEnded" ? (fact.value.score ?? []) : []));
  return {
    facts: facts.map((fact) => factText(fact, words)),
    rounds: scores.map((score) => withoutKey(shownRound(score, words))),
  };
}

/** Return the texts of a view about what is no hand. */
export function shownView(view: TableView, words: Words): ShownView {
  const { round, phase, piles, contract, calls, marks } = view;
  return {
    round: texts(words.round(round), words.word(WordKind.PHASE, phase)),
    piles: shownPiles(piles, words).map(withoutKey),
    contract: contract === undefined ? "" : words.contract(contract),
    calls: calls.map((call) => callText(call, words)),
    marks: marks.map((mark) => words.mark(mark)),
  };
}

function withoutKey({ text, more }: Expandable): Shown {
  return { text, more };
}
