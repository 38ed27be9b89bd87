// The part of the page that offers games, and reads the table to open from its fields.
import { type JsonObject, type JsonValue, toJson } from "@bufbuild/protobuf";
import { type Value, ValueSchema } from "@bufbuild/protobuf/wkt";

import type { GameDescription, OptionDescription } from "./generated/croupier_api/v1/games_pb";
import { element, make, makeSelect } from "./dom";
import type { TableSpec } from "./game";
import { Words } from "./words";

/** A field for an option, and a function that returns its value. */
interface Control {
  readonly field: HTMLElement;
  readonly value: () => JsonValue;
}

/** Offer games, and return a function that reads the chosen game and the table to open. */
export function offerGames(games: readonly GameDescription[]): () => [GameDescription, TableSpec] {
  const [select, seats, bots] = [element("game") as HTMLSelectElement, inputOf("seats"), inputOf("bots")];
  select.replaceChildren(...games.map(({ game, name }) => make("option", { value: game }, name || game)));
  const chosen = () => games[select.selectedIndex] as GameDescription;
  let changedOptions = (): JsonObject => ({});
  select.onchange = () => {
    const { minSeats, maxSeats, summary } = chosen();
    element("summary").textContent = summary;
    Object.assign(seats, { min: `${minSeats}`, max: `${maxSeats}`, value: `${minSeats}` });
    Object.assign(bots, { max: `${maxSeats - 1}`, value: `${minSeats - 1}` });
    changedOptions = showOptions(chosen());
  };
  select.dispatchEvent(new Event("change"));
  return () => {
    const description = chosen();
    const [seatCount, botCount] = [seats.valueAsNumber, bots.valueAsNumber];
    return [description, { game: description.game, seats: seatCount, bots: botCount, options: changedOptions() }];
  };
}

/** Show the options of a game, and return a function that reads those that a person has changed. */
function showOptions(game: GameDescription): () => JsonObject {
  const words = new Words(game);
  const options = game.options.flatMap((option) => {
    const control = controlOf(option, words);
    return control === undefined ? [] : [{ ...control, option, initial: control.value() }];
  });
  const labels = options.map(({ option, field }) => make("label", { title: option.meaning }, words.word(option.name), " ", field));
  element("options").replaceChildren(make("legend", {}, "Options"), ...labels);
  element("options").hidden = options.length === 0;
  return () => {
    const changed = options.filter(({ value, initial }) => value() !== initial);
    return Object.fromEntries(changed.map(({ option, value }) => [option.name, value()]));
  };
}

/** Return a field for an option, which has its default; undefined for a kind of option newer than this client. */
function controlOf({ values }: OptionDescription, words: Words): Control | undefined {
  switch (values.case) {
    case "flag": {
      const field = make("input", { type: "checkbox", checked: values.value.defaultValue });
      return { field, value: () => field.checked };
    }
    case "integerRange": {
      const [min, max] = [`${values.value.minValue}`, `${values.value.maxValue}`];
      const field = make("input", { type: "number", min, max, value: `${values.value.defaultValue}` });
      return { field, value: () => field.valueAsNumber };
    }
    case "choice": {
      const allowed = values.value.values.map(jsonOf);
      const initial = values.value.defaultValue && jsonOf(values.value.defaultValue);
      const field = makeSelect(allowed.map((value) => words.word(`${value}`)), allowed.indexOf(initial ?? null));
      return { field, value: () => allowed[field.selectedIndex] ?? null };
    }
    default:
      return undefined;
  }
}

function jsonOf(value: Value): JsonValue {
  return toJson(ValueSchema, value);
}

function inputOf(id: string): HTMLInputElement {
  return element(id) as HTMLInputElement;
}
