// Writes the pages of all exports, and fails for one without documentation: npm run docs, after the build.
import { OptionDefaults } from "typedoc";

import * as contract from "./dist/contract.js";

/** The parts of the contract's types that have no comments, since those of their methods and fields say it all. */
const uncommented = Object.entries(contract).flatMap(([name, described]) => {
  const type = `contract.${name.replace(/Schema$/, "")}.__type`;
  const parts = ({ localName }, names) => names.map((part) => `${type}.${localName}.__type.${part}`);
  if (described.kind === "service") return described.methods.flatMap((it) => parts(it, ["methodKind", "input", "output"]));
  return described.kind === "message" ? described.oneofs.flatMap((it) => parts(it, ["case", "value"])) : [];
});

export default {
  // A link to a source needs a remote repository, which a copy of the project may lack.
  disableSources: true,
  entryPoints: ["src/index.ts", "src/contract.ts", "src/replays.ts"],
  tsconfig: "tsconfig.build.json",
  out: "docs",
  validation: { notExported: true, invalidLink: true, notDocumented: true },
  intentionallyNotDocumented: uncommented,
  // What the types of placeholders are made of.
  intentionallyNotExported: ["src/texts/en.ts:en", "src/languages.ts:Names"],
  treatWarningsAsErrors: true,
  excludePrivate: true,
  excludeProtected: true,
  readme: "README.md",
  // The code generator names the declaration of the contract in this tag.
  blockTags: [...OptionDefaults.blockTags, "@generated"],
  excludeTags: [...OptionDefaults.excludeTags, "@generated"],
};
