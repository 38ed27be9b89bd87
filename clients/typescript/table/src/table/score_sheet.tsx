// The score sheet: the points of each round, with its remarks.
import { useEffect, useState } from "preact/hooks";

import { type Table, type Words, shownRound } from "@croupier/client";
import type { RoundScore } from "@croupier/client/contract";

import { useShared } from "../connection.js";
import { Sheet } from "../dialogs.js";
import { refusalText } from "../errors.js";
import { useSay } from "../texts/page_texts.js";

interface ScoreSheetProps {
  readonly table: Table;
  readonly words: Words;
  readonly close: () => void;
}

export function ScoreSheet({ table, words, close }: ScoreSheetProps) {
  const { connection } = useShared();
  const say = useSay();
  const [rounds, setRounds] = useState<readonly RoundScore[]>([]);
  const [fault, setFault] = useState("");
  useEffect(() => {
    connection.scoring.getScoreSheet({ tableId: table.id }).then(
      (sheet) => setRounds(sheet.rounds),
      // Before the first round has ended there is no sheet.
      (error: unknown) => setFault(table.view.round > 1 ? refusalText(error, words, say) : ""),
    );
  }, [table]);
  return (
    <Sheet title={say("scoreSheet")} close={close}>
      {fault !== "" && <p role="alert">{fault}</p>}
      <div class="wide">
        <table class="scores">
          <thead><tr><th scope="col">{words.round(0).replace(/ 0$/, "")}</th>{table.seats.map((_, seat) => <th key={seat} scope="col">{words.seat(seat)}</th>)}</tr></thead>
          <tbody>
            {rounds.map((score) => (
              <tr key={score.round}>
                <th scope="row">{score.round}</th>
                {table.seats.map((_, seat) => <td key={seat}>{score.points[seat]}</td>)}
              </tr>
            ))}
          </tbody>
          <tfoot><tr><th scope="row">Σ</th>{table.view.seats.map(({ score }, seat) => <td key={seat}>{score}</td>)}</tr></tfoot>
        </table>
      </div>
      <ul class="round-notes">
        {rounds.map((score) => {
          const { key, text, more } = shownRound(score, words);
          return <li key={key}>{text}{more.length > 0 && <ul>{more.map((line) => <li key={line}>{line}</li>)}</ul>}</li>;
        })}
      </ul>
    </Sheet>
  );
}
