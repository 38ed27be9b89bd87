// The part of the form for a new table that offers the options of a game.
import { type JsonObject, type JsonValue, toJson } from "@bufbuild/protobuf";
import { type Value, ValueSchema } from "@bufbuild/protobuf/wkt";

import { type GameDescription, type OptionDescription, WordKind } from "@croupier/client/contract";
import { element, make, makeSelect } from "./dom.js";
import { type Language, Words } from "@croupier/client";

/** A field for an option, and a function that returns its value. */
interface Control {
  readonly field: HTMLInputElement | HTMLSelectElement;
  readonly value: () => JsonValue;
}

/** An option in the form. */
interface Offered extends Control {
  readonly option: OptionDescription;
  readonly initial: JsonValue;
}

/**
 * Show the options of a game by groups, and return a function that reads those that a person has changed.
 *
 * An option is disabled, and keeps its default, while it makes no difference.
 */
export function showOptions(game: GameDescription, language: Language): () => JsonObject {
  const words = new Words(game, language);
  const offered = game.options.flatMap((option): Offered[] => {
    const control = controlOf(option, words);
    return control === undefined ? [] : [{ ...control, option, initial: control.value() }];
  });
  const options = element("options");
  options.replaceChildren(make("legend", {}, "Options"), ...grouped(offered, words));
  options.hidden = offered.length === 0;
  const disable = () => {
    for (const { option, field } of offered) field.disabled = !makesDifference(option, offered);
  };
  options.onchange = disable;
  disable();
  return () => {
    const changed = offered.filter(({ field, value, initial }) => !field.disabled && value() !== initial);
    return Object.fromEntries(changed.map(({ option, value }) => [option.name, value()]));
  };
}

/** Return the labelled fields; those of a group, which follow each other, in a fieldset. */
function grouped(offered: readonly Offered[], words: Words): HTMLElement[] {
  const groups = [...new Set(offered.map(({ option }) => option.group))];
  return groups.flatMap((group) => {
    const labels = offered.filter(({ option }) => option.group === group).map((option) => labelOf(option, words));
    if (group === "") return labels;
    return [make("fieldset", {}, make("legend", {}, words.word(WordKind.OPTION_GROUP, group)), ...labels)];
  });
}

function labelOf({ option, field }: Offered, words: Words): HTMLElement {
  const unit = option.unit === "" ? [] : [" ", words.word(WordKind.UNIT, option.unit)];
  return make("label", { title: option.meaning }, words.word(WordKind.OPTION, option.name), " ", field, ...unit);
}

function makesDifference({ condition }: OptionDescription, offered: readonly Offered[]): boolean {
  const other = offered.find(({ option }) => option.name === condition?.option);
  return condition === undefined || other === undefined || condition.values.some((value) => jsonOf(value) === other.value());
}

/** Return a field for an option, which has its default; undefined for a kind of option newer than this client. */
function controlOf({ name, values }: OptionDescription, words: Words): Control | undefined {
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
      const field = makeSelect(allowed.map((value) => words.optionValue(name, value)), allowed.indexOf(initial ?? null));
      return { field, value: () => allowed[field.selectedIndex] ?? null };
    }
    default:
      return undefined;
  }
}

function jsonOf(value: Value): JsonValue {
  return toJson(ValueSchema, value);
}
