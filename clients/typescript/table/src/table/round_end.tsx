// What a round brought each seat, on the felt until the next scene.
import type { Words } from "@croupier/client";
import type { RoundScore } from "@croupier/client/contract";

/** Nothing for a game that says no more of a round than its points. The log of the table says the same to readers. */
export function RoundEnd({ score: { headline, points, notes }, words }: { readonly score: RoundScore; readonly words: Words }) {
  const remarks = notes.map(({ phrases }) => words.phrases(phrases));
  const heading = words.phrases(headline);
  if (heading === "" && !remarks.some(Boolean)) return null;
  return (
    <div class="round-end" aria-hidden="true" lang={words.language}>
      {heading !== "" && <p>{heading}</p>}
      <ul>
        {points.map((number, seat) => <li key={seat}><strong>{words.seat(seat)} {number}</strong> {remarks[seat]}</li>)}
      </ul>
    </div>
  );
}
