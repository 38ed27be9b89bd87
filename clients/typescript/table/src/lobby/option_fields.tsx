// Fields for the options of a game, by their descriptions.
import { type JsonObject, type JsonValue, toJson } from "@bufbuild/protobuf";
import { type Value, ValueSchema } from "@bufbuild/protobuf/wkt";

import type { Words } from "@croupier/client";
import { type GameDescription, type OptionDescription, WordKind } from "@croupier/client/contract";

interface OptionFieldsProps {
  readonly game: GameDescription;
  readonly words: Words;
  /** The options that differ from the defaults. */
  readonly options: JsonObject;
  readonly change: (options: JsonObject) => void;
}

export function OptionFields({ game, words, options, change }: OptionFieldsProps) {
  const groups = [...new Set(game.options.map(({ group }) => group))];
  const set = (option: OptionDescription, value: JsonValue) => {
    const { [option.name]: _, ...others } = options;
    change(value === defaultOf(option) ? others : { ...others, [option.name]: value });
  };
  return (
    <>
      {groups.map((group) => (
        <fieldset key={group}>
          {group !== "" && <legend>{words.word(WordKind.OPTION_GROUP, group)}</legend>}
          {game.options.filter((option) => option.group === group).map((option) => (
            <OptionField
              key={option.name}
              option={option}
              words={words}
              value={valueOf(option, options)}
              isDisabled={!makesDifference(option, game, options)}
              set={(value) => set(option, value)}
            />
          ))}
        </fieldset>
      ))}
    </>
  );
}

interface OptionFieldProps {
  readonly option: OptionDescription;
  readonly words: Words;
  readonly value: JsonValue;
  readonly isDisabled: boolean;
  readonly set: (value: JsonValue) => void;
}

function OptionField({ option, words, value, isDisabled, set }: OptionFieldProps) {
  const { name, meaning, unit, values } = option;
  const label = unit === "" ? words.word(WordKind.OPTION, name) : `${words.word(WordKind.OPTION, name)} (${words.word(WordKind.UNIT, unit)})`;
  const id = `option-${name}`;
  return (
    <div class="option" data-disabled={isDisabled}>
      <label for={id}>{label}<small>{meaning}</small></label>
      {values.case === "flag" && <input id={id} type="checkbox" checked={value === true} disabled={isDisabled} onChange={({ currentTarget }) => set(currentTarget.checked)} />}
      {values.case === "integerRange" && (
        <input id={id} type="number" inputMode="numeric" min={values.value.minValue} max={values.value.maxValue} value={Number(value)} disabled={isDisabled} onChange={({ currentTarget }) => set(currentTarget.valueAsNumber)} />
      )}
      {values.case === "choice" && <ChoiceField id={id} name={name} choices={values.value.values} words={words} value={value} isDisabled={isDisabled} set={set} />}
    </div>
  );
}

type ChoiceFieldProps = Pick<OptionFieldProps, "words" | "value" | "isDisabled" | "set"> & { readonly id: string; readonly name: string; readonly choices: readonly Value[] };

function ChoiceField({ id, name, choices, words, value, isDisabled, set }: ChoiceFieldProps) {
  const allowed = choices.map(jsonOf);
  return (
    <select id={id} value={allowed.indexOf(value)} disabled={isDisabled} onChange={({ currentTarget }) => set(allowed[currentTarget.selectedIndex] ?? null)}>
      {allowed.map((each, index) => <option key={index} value={index}>{words.optionValue(name, each)}</option>)}
    </select>
  );
}

/** Return whether an option makes a difference with the values of the others. */
function makesDifference({ condition }: OptionDescription, game: GameDescription, options: JsonObject): boolean {
  const other = game.options.find(({ name }) => name === condition?.option);
  return condition === undefined || other === undefined || condition.values.some((value) => jsonOf(value) === valueOf(other, options));
}

function valueOf(option: OptionDescription, options: JsonObject): JsonValue {
  return options[option.name] ?? defaultOf(option);
}

function defaultOf({ values }: OptionDescription): JsonValue {
  if (values.case === "choice") return values.value.defaultValue === undefined ? null : jsonOf(values.value.defaultValue);
  return values.value?.defaultValue ?? null;
}

function jsonOf(value: Value): JsonValue {
  return toJson(ValueSchema, value);
}
