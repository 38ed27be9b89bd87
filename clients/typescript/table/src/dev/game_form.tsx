// The game of the panel's table.
import type { JsonObject } from "@bufbuild/protobuf";
import { useState } from "preact/hooks";

import { Words } from "@croupier/client";
import type { GameDescription } from "@croupier/client/contract";

import { OptionFields } from "../lobby/option_fields.js";

interface GameFormProps {
  readonly games: readonly GameDescription[];
  readonly deal: (game: GameDescription, options: JsonObject) => void;
}

export function GameForm({ games, deal }: GameFormProps) {
  const [name, setName] = useState(games[0]?.game);
  const [options, setOptions] = useState<JsonObject>({});
  const game = games.find((each) => each.game === name);
  if (game === undefined) return null;
  const choose = (chosen: string) => {
    setName(chosen);
    setOptions({});
  };
  return (
    <form onSubmit={(event) => {
      event.preventDefault();
      deal(game, options);
    }}>
      <div class="dev-row">
        <select aria-label="Game" value={name} onChange={({ currentTarget }) => choose(currentTarget.value)}>
          {games.map((each) => <option key={each.game} value={each.game}>{each.name}</option>)}
        </select>
        <button type="submit">New table</button>
      </div>
      {game.options.length > 0 && (
        <details>
          <summary>Options</summary>
          <OptionFields game={game} words={new Words(game, "en")} options={options} change={setOptions} />
        </details>
      )}
    </form>
  );
}
