// Shows recorded tables from Node: node dist/programs/shown.js <lines.jsonl. The first line is {"description", "names",
// "language"}, each further one {"facts"} or {"view"} in the JSON of the contract; the texts come line by line.
import { createInterface } from "node:readline";

import { type JsonValue, fromJson } from "@bufbuild/protobuf";

import { FactSchema, GameDescriptionSchema, TableViewSchema } from "../contract.js";
import { Words, languageOf } from "../index.js";
import { shownFacts, shownView } from "./shown_view.js";

interface Table {
  readonly description: JsonValue;
  readonly names: readonly string[];
  readonly language: string;
}

interface Line {
  readonly facts?: readonly JsonValue[];
  readonly view?: JsonValue;
}

/** Return the texts of what a line has. */
function shown({ facts, view }: Line, words: Words): object {
  return {
    ...(facts && shownFacts(facts.map((fact) => fromJson(FactSchema, fact)), words)),
    ...(view !== undefined && shownView(fromJson(TableViewSchema, view), words)),
  };
}

let words: Words | undefined;
for await (const line of createInterface({ input: process.stdin })) {
  const read: unknown = JSON.parse(line);
  if (words === undefined) {
    const { description, names, language } = read as Table;
    words = new Words(fromJson(GameDescriptionSchema, description), languageOf([language]), names);
  } else console.log(JSON.stringify(shown(read as Line, words)));
}
