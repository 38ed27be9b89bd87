// The end of a game: places and points, and what can follow.
import { useState } from "preact/hooks";

import { type Table, type Words, playAgain } from "@croupier/client";

import { useShared } from "../connection.js";
import { Sheet } from "../dialogs.js";
import { refusalText } from "../errors.js";
import { useSay } from "../texts/page_texts.js";

export function ResultSheet({ table, words }: { readonly table: Table; readonly words: Words }) {
  const { connection, go } = useShared();
  const say = useSay();
  const { isVoid, seats } = table.view;
  const [isClosed, setClosed] = useState(false);
  const [fault, setFault] = useState("");
  const again = () => {
    playAgain(connection, table.id).then(
      (id) => go({ screen: "table", id, link: "" }),
      (error: unknown) => setFault(refusalText(error, words, say)),
    );
  };
  const watch = () => go({ screen: "replay", id: table.id, link: table.link, step: undefined, eyes: table.seat?.toString() ?? "" });
  if (isClosed) return null;
  return (
    <Sheet title={say("gameOver")} close={() => setClosed(true)}>
      {isVoid && <p>{say("resultIsVoid")}</p>}
      <ol class="ranking">
        {placesOf(table).map(({ place, seat }) => (
          <li key={seat} data-own={seat === table.seat}>
            {!isVoid && <span class="rank" data-first={place === 1}>{place}</span>}
            <span class="ranked">{words.seat(seat)}</span>
            <span class="ranked-score">{seats[seat]?.score}</span>
          </li>
        ))}
      </ol>
      {fault !== "" && <p role="alert">{fault}</p>}
      <div class="sheet-buttons">
        {table.seat !== undefined && <button type="button" class="primary" onClick={again}>{say("playAgain")}</button>}
        <button type="button" onClick={watch}>{say("watchReplay")}</button>
        <button type="button" onClick={() => go({ screen: "home" })}>{say("home")}</button>
      </div>
    </Sheet>
  );
}

/** Return the seats with their places, best first; seats of a group share a place. */
function placesOf({ ranking }: Table): { readonly place: number; readonly seat: number }[] {
  let place = 1;
  return ranking.flatMap(({ seats }) => {
    const group = seats.map((seat) => ({ place, seat }));
    place += seats.length;
    return group;
  });
}
