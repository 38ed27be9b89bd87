// The part of the page that offers games, and reads the table to open from its fields.
import type { JsonObject } from "@bufbuild/protobuf";

import type { GameDescription } from "@croupier/client/contract";
import { element, make } from "./dom.js";
import { type Language, type TableSpec, sentence } from "@croupier/client";
import { showOptions } from "./option_form.js";

/** Offer games, and return a function that reads the chosen game and the table to open. */
export function offerGames(games: readonly GameDescription[], language: Language): () => [GameDescription, TableSpec] {
  const [select, seats, bots] = [element("game") as HTMLSelectElement, inputOf("seats"), inputOf("bots")];
  select.replaceChildren(...games.map(({ game, name }) => make("option", { value: game }, name || game)));
  const chosen = () => games[select.selectedIndex] as GameDescription;
  let changedOptions = (): JsonObject => ({});
  select.onchange = () => {
    const { minSeats, maxSeats, summary, recommendedSeats } = chosen();
    element("summary").textContent = summary;
    const recommended = recommendedSeats.length > 0;
    element("recommended").textContent = recommended ? sentence(language, "recommendedSeats", { counts: recommendedSeats.join(", ") }) : "";
    Object.assign(seats, { min: `${minSeats}`, max: `${maxSeats}`, value: `${minSeats}` });
    Object.assign(bots, { max: `${maxSeats - 1}`, value: `${minSeats - 1}` });
    changedOptions = showOptions(chosen(), language);
  };
  select.dispatchEvent(new Event("change"));
  return () => {
    const description = chosen();
    const [seatCount, botCount] = [seats.valueAsNumber, bots.valueAsNumber];
    return [description, { game: description.game, seats: seatCount, bots: botCount, options: changedOptions() }];
  };
}

function inputOf(id: string): HTMLInputElement {
  return element(id) as HTMLInputElement;
}
