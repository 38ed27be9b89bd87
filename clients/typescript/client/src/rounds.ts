// The scores of rounds as lines of text for people.
import type { Expandable } from "./expandable.js";
import type { RoundScore } from "./generated/croupier_api/v1/facts_pb.js";
import type { Words } from "./words.js";

/** Return the score of a round as a line. */
export function scoreText({ round, headline, points, notes }: RoundScore, words: Words): string {
  const about = words.phrases(headline);
  const remarks = notes.map(({ phrases }) => words.phrases(phrases));
  const heading = about === "" ? words.round(round) : `${words.round(round)}: ${about}`;
  return `${heading}; ${words.points(points, remarks)}`;
}

/** Return the score of a round with its details. */
export function shownRound(score: RoundScore, words: Words): Expandable {
  return { key: `${score.round}`, text: scoreText(score, words), more: score.details.map((detail) => words.mark(detail)) };
}
