// The marks of a seat that are short enough to stand at its name: numbers, words and suits.
import type { Words } from "@croupier/client";
import { type TableView, type Value, WordKind } from "@croupier/client/contract";

/** Return the marks of a seat as texts. */
export function seatMarks({ marks }: Pick<TableView, "marks">, seat: number, words: Words): string[] {
  return marks.flatMap(({ name, seat: owner, value }) => {
    if (owner !== seat || value === undefined || !isShort(value)) return [];
    const [label, text] = [words.word(WordKind.MARK, name), words.value(value)];
    // A word may say no more than the name of its mark does.
    return [label === text ? text : `${label}: ${text}`];
  });
}

function isShort({ value }: Value): boolean {
  return value.case === "number" || value.case === "word" || value.case === "suit";
}
